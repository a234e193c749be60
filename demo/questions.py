"""A question for each pattern. Spark alone compares all pairs, or all that an equal key leaves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A question in words and in SQL, and the accelerator that is to serve it.

    A short answer is compared row by row and its first rows are shown; of a long one, the row count
    and two hashes over all columns, which do not depend on the order of rows, are compared.
    """

    pattern: str
    join_type: str
    accelerator: str
    words: str
    sql: str
    short: bool = False


NEAREST_CITY = Question(
    "the nearest row",
    "inner",
    "boxes",
    "Which large city is the nearest to each airport of Australia, in degrees?",
    """
    SELECT airport, lon, lat, city, city_lon, city_lat
    FROM (SELECT airport, lon, lat FROM airports WHERE country = 'AU')
    JOIN (SELECT city, city_lon, city_lat FROM cities)
      EXACT NEAREST 1 BY DISTANCE hypot(lon - city_lon, lat - city_lat)
    """,
    short=True,
)
QUESTIONS = (
    Question(
        "a point in an interval",
        "left outer",
        "interval",
        "Which countries do three hundred made-up visits come from?",
        """
        SELECT r.country, count(*) AS visits
        FROM visits v LEFT JOIN ranges r ON v.address BETWEEN r.first AND r.last
        GROUP BY r.country
        ORDER BY visits DESC, r.country
        """,
        short=True,
    ),
    Question(
        "a range next to an equal key",
        "left outer",
        "interval",
        "In which hours of a wind of ten miles an hour or more at its airport was each flight of "
        "January in the air?",
        """
        SELECT f.id, w.observed, w.wind_speed
        FROM (SELECT * FROM flights WHERE month(scheduled) = 1) f
        LEFT JOIN (SELECT * FROM weather WHERE wind_speed >= 10) w
          ON w.origin = f.origin AND w.observed >= f.departed AND w.observed < f.landed
        """,
    ),
    Question(
        "one inequality",
        "inner",
        "piecewise",
        "Which flights of the first half of January were ten hours longer in the air than another?",
        """
        SELECT long.id AS long, short.id AS short, long.air_time - short.air_time AS minutes
        FROM flights long JOIN flights short ON long.air_time > short.air_time + 600
        WHERE date(long.scheduled) <= '2013-01-15' AND date(short.scheduled) <= '2013-01-15'
        """,
    ),
    Question(
        "geometries",
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
        "a distance on the globe",
        "inner",
        "boxes",
        "Which airports of Europe are within two kilometres of the middle of a town?",
        """
        SELECT airport, name, town, people
        FROM (SELECT * FROM airports WHERE zone LIKE 'Europe/%') JOIN towns
          ON 2 * 6371 * asin(sqrt(pow(sin(radians(town_lat - lat) / 2), 2)
            + cos(radians(lat)) * cos(radians(town_lat))
              * pow(sin(radians(town_lon - lon) / 2), 2))) <= 2
        """,
        short=True,
    ),
    Question(
        "the last row before another",
        "left outer",
        "nearest",
        "What did the last weather report at its airport say before each flight of a July week "
        "left?",
        """
        SELECT id, origin, departed, observed, wind_speed, visib
        FROM (
          SELECT *, row_number() OVER (PARTITION BY id ORDER BY observed DESC) AS reports_ago
          FROM (SELECT * FROM flights WHERE date(scheduled) BETWEEN '2013-07-08' AND '2013-07-14')
          LEFT JOIN (SELECT origin AS station, observed, wind_speed, visib
            FROM weather WHERE month(observed) = 7)
            ON station = origin AND observed <= departed)
        WHERE reports_ago = 1
        """,
    ),
    NEAREST_CITY,
    Question(
        "a value in an array",
        "inner",
        "containment",
        "Which airports of Asia lie in a place that is another name of a large city?",
        """
        SELECT airport, place, city
        FROM (SELECT * FROM airports WHERE zone LIKE 'Asia/%') JOIN cities
          ON array_contains(other_names, place)
        """,
        short=True,
    ),
    Question(
        "rules with wildcards",
        "left outer",
        "wildcard",
        "Which of the made-up rules apply to each flight of the first week?",
        """
        SELECT f.id, r.rule
        FROM (SELECT * FROM flights WHERE date(scheduled) <= '2013-01-07') f LEFT JOIN rules r
          ON (r.carrier IS NULL OR r.carrier = f.carrier)
          AND (r.flight IS NULL OR r.flight = f.flight)
          AND (r.dest IS NULL OR r.dest = f.dest)
        """,
    ),
    Question(
        "texts that match patterns",
        "left outer",
        "patterns",
        "Which airports of France and Britain have the name of a town in their own, and which "
        "have none?",
        """
        SELECT airport, name, town
        FROM (SELECT * FROM airports WHERE country IN ('FR', 'GB'))
        LEFT JOIN (SELECT DISTINCT town FROM towns WHERE people >= 100000)
          ON name LIKE concat('%', town, '%')
        """,
    ),
    Question(
        "misspelt names",
        "left outer",
        "similar",
        "Which names of large towns are at most two edits away from each made-up entry of a form?",
        """
        SELECT e.entry, e.name AS typed, r.name
        FROM entries e LEFT JOIN register r ON levenshtein(lower(e.name), r.name) <= 2
        """,
        short=True,
    ),
    Question(
        "similar vectors",
        "inner",
        "vector",
        "Which airports of the United States have a name that is spelt nearly like the name of one "
        "abroad?",
        """
        SELECT a.airport, b.airport AS other, a.name, b.name AS other_name
        FROM airports a JOIN airports b ON vector_cosine_similarity(a.spelling, b.spelling) > 0.93
        WHERE a.country = 'US' AND b.country <> 'US'
        """,
        short=True,
    ),
    Question(
        "an OR of keys",
        "full outer",
        "anyof",
        "Which airports of Europe lie in a large town or in a region with its name, which do not, "
        "and which large towns have none?",
        """
        SELECT airport, town, people
        FROM (SELECT * FROM airports WHERE zone LIKE 'Europe/%')
        FULL JOIN (SELECT * FROM towns WHERE people >= 100000) ON place = town OR region = town
        """,
    ),
    Question(
        "existence",
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
)
