"""The questions. Spark compares all pairs of rows in each join, or all that an equal key leaves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A question in words and in SQL.

    A short answer is compared row by row and its first rows are shown; of a long one, the row count
    and two hashes over all columns, which do not depend on the order of rows, are compared. With
    thetajoin off, Spark is asked the workaround instead, if there is one: SQL of the same answer.
    """

    name: str
    join_type: str
    accelerator: str
    words: str
    sql: str
    short: bool = False
    workaround: str = ""


NEAREST_CITY = Question(
    "nearest city",
    "inner",
    "boxes",
    "Which large city is the nearest to each airport, in degrees?",
    """
    SELECT airport, lon, lat, city, city_lon, city_lat
    FROM airports JOIN cities EXACT NEAREST 1 BY DISTANCE hypot(lon - city_lon, lat - city_lat)
    """,
)
QUESTIONS = (
    Question(
        "overtaken",
        "inner",
        "interval",
        "Which flights to Chicago O'Hare left before another one and landed after it?",
        """
        SELECT slow.id AS slow, fast.id AS fast, slow.departed, slow.landed - fast.landed AS later
        FROM flights slow JOIN flights fast
          ON slow.departed < fast.departed AND slow.landed > fast.landed
        WHERE slow.dest = 'ORD' AND fast.dest = 'ORD'
        """,
        short=True,
    ),
    Question(
        "ten hours longer",
        "inner",
        "piecewise",
        "Which flights of January and February were ten hours longer in the air than another one?",
        """
        SELECT long.id AS long, short.id AS short, long.air_time - short.air_time AS minutes
        FROM flights long JOIN flights short ON long.air_time > short.air_time + 600
        WHERE month(long.scheduled) <= 2 AND month(short.scheduled) <= 2
        """,
    ),
    Question(
        "in the air together",
        "inner",
        "boxes",
        "Which flights from the same airport were in the air at the same time in July, and for how "
        "long?",
        """
        SELECT a.origin, a.id AS a, b.id AS b,
          least(a.landed, b.landed) - greatest(a.departed, b.departed) AS together
        FROM flights a JOIN flights b
          ON a.origin = b.origin AND a.departed < b.landed AND b.departed < a.landed AND a.id < b.id
        WHERE month(a.scheduled) = 7 AND month(b.scheduled) = 7
        """,
    ),
    Question(
        "windy hours",
        "left outer",
        "interval",
        "In which hours of a wind of ten miles an hour or more at its airport was each flight of "
        "the year in the air?",
        """
        SELECT f.id, w.observed, w.wind_speed
        FROM flights f LEFT JOIN (SELECT * FROM weather WHERE wind_speed >= 10) w
          ON w.origin = f.origin AND w.observed >= f.departed AND w.observed < f.landed
        """,
    ),
    Question(
        "low visibility",
        "full outer",
        "interval",
        "Which flights from LaGuardia were in the air in an hour of low visibility there, which "
        "never, and in which of these hours was none in the air?",
        """
        SELECT f.id, f.dest, w.observed, w.visib
        FROM (SELECT * FROM flights WHERE origin = 'LGA') f
        FULL JOIN (SELECT * FROM weather WHERE origin = 'LGA' AND visib < 5) w
          ON w.observed >= f.departed AND w.observed < f.landed
        """,
    ),
    Question(
        "unobserved",
        "anti",
        "existence",
        "Which flights of the first three months have no weather observation at their airport "
        "while they were in the air?",
        """
        SELECT f.id, f.origin, f.dest, f.departed, f.landed
        FROM flights f
        WHERE month(f.scheduled) <= 3 AND f.landed IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM weather w
          WHERE w.origin = f.origin AND w.observed BETWEEN f.departed AND f.landed)
        """,
        short=True,
    ),
    Question(
        "unbeaten",
        "anti",
        "interval",
        "Which flights of the year were never beaten: none flew as far in less time?",
        """
        SELECT f.id, f.carrier, f.dest, f.distance, f.air_time
        FROM flights f
        WHERE f.air_time IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM flights g
          WHERE g.distance >= f.distance AND g.air_time < f.air_time)
        """,
        short=True,
    ),
    Question(
        "eight hours late",
        "semi",
        "interval",
        "Which flights of a July week left after a flight that was due eight hours later?",
        """
        SELECT late.id, late.carrier, late.dest, late.scheduled, late.departed
        FROM flights late
        WHERE date(late.scheduled) BETWEEN '2013-07-07' AND '2013-07-13' AND EXISTS (
          SELECT 1 FROM flights due
          WHERE date(due.scheduled) BETWEEN '2013-07-07' AND '2013-07-13'
            AND due.scheduled >= late.scheduled + INTERVAL 8 HOURS
            AND due.departed < late.departed)
        """,
        short=True,
    ),
    Question(
        "overtaken by carrier",
        "mark",
        "interval",
        "How many of each carrier's flights to Los Angeles did a later one overtake?",
        """
        SELECT carrier, count(*) AS flights, count_if(overtaken) AS overtaken
        FROM (
          SELECT slow.carrier, EXISTS (
            SELECT 1 FROM flights fast
            WHERE fast.dest = 'LAX'
              AND fast.departed > slow.departed AND fast.landed < slow.landed) AS overtaken
          FROM flights slow
          WHERE slow.dest = 'LAX')
        GROUP BY carrier
        ORDER BY overtaken / flights DESC
        """,
        short=True,
    ),
    Question(
        "last report",
        "left outer",
        "nearest",
        "What did the last weather report at its airport say before each flight of a July week "
        "left?",
        """
        SELECT id, origin, departed, observed, wind_speed, visib
        FROM (
          SELECT *, row_number() OVER (PARTITION BY id ORDER BY observed DESC) AS reports_ago
          FROM (SELECT * FROM flights WHERE date(scheduled) BETWEEN '2013-07-07' AND '2013-07-13') f
          LEFT JOIN (SELECT origin AS station, observed, wind_speed, visib FROM weather) w
            ON w.station = f.origin AND w.observed <= f.departed)
        WHERE reports_ago = 1
        """,
    ),
    Question(
        "countries",
        "left outer",
        "interval",
        "Which countries do the first 2,000 visits come from?",
        """
        SELECT r.country, count(*) AS visits
        FROM visits v LEFT JOIN ranges r ON v.address BETWEEN r.first AND r.last
        WHERE v.id <= 2000
        GROUP BY r.country
        ORDER BY visits DESC
        """,
        short=True,
    ),
    Question(
        "all countries",
        "left outer",
        "interval",
        "Which countries do all visits come from? Without thetajoin the same join would take 500 "
        "times as long as for 2,000 visits. So Spark gets the usual workaround: an equal key made "
        "by hand, the upper half of the address, with a row for each of them that a range has.",
        """
        SELECT r.country, count(*) AS visits
        FROM visits v LEFT JOIN ranges r ON v.address BETWEEN r.first AND r.last
        GROUP BY r.country
        ORDER BY visits DESC
        """,
        short=True,
        workaround="""
        -- the workaround, while thetajoin is off
        SELECT r.country, count(*) AS visits
        FROM visits v
        LEFT JOIN (SELECT *, explode(sequence(first >> 16, last >> 16)) AS half FROM ranges) r
          ON v.address >> 16 = r.half AND v.address BETWEEN r.first AND r.last
        GROUP BY r.country
        ORDER BY visits DESC
        """,
    ),
    Question(
        "time zones",
        "inner",
        "boxes",
        "Which time zones of a map, drawn with few corners, are airports in that have another one "
        "in their record?",
        """
        SELECT on_map, zone, count(*) AS airports
        FROM airports JOIN zones ON st_contains(outline, st_point(lon, lat))
        WHERE on_map <> zone
        GROUP BY on_map, zone
        ORDER BY airports DESC, on_map, zone
        """,
        short=True,
    ),
    Question(
        "cities around",
        "left outer",
        "boxes",
        "How many people live in large cities within two degrees of each airport?",
        """
        SELECT airport, count(city) AS cities, sum(people) AS people
        FROM airports LEFT JOIN cities
          ON st_dwithin(st_point(lon, lat), st_point(city_lon, city_lat), 2)
        GROUP BY airport
        """,
    ),
    Question(
        "named after",
        "left outer",
        "patterns",
        "Which airports have the name of a city in their own, and which have none?",
        """
        SELECT airport, name, named_city
        FROM airports LEFT JOIN names ON name LIKE concat('%', named_city, '%')
        """,
    ),
    NEAREST_CITY,
)
