"""The tab of joins in Spark's web UI, as a browser shows it: of a program that runs, and in the history server."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest
import thetajoin
from servers import SPARK_HOME, environment, free_port, running, submit

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
HISTORY = "org.apache.spark.deploy.history.HistoryServer"
HEADS = (
    "Query", "Join", "Accelerated by", "Index rows", "Index size", "Time to build", "Probe rows", "Candidates",
    "Candidates a probe row", "Matches", "Matches a probe row", "Time to probe", "Output rows", "Blocks", "Spilled",
)  # fmt: skip

# Waits to be looked at until there is a file `seen`. The last query ends right before the application does.
PROGRAM = """
import os
import time
from pyspark.sql import SparkSession
spark = SparkSession.builder.appName("joins").getOrCreate()

def run(name, sql):
    spark.sparkContext.setJobDescription(name)
    return spark.sql(sql).collect()

run("points <in> intervals", "SELECT * FROM range(2000) AS a JOIN (SELECT id * 10 AS lo, id * 10 + 4 AS hi FROM range(50)) AS b ON a.id BETWEEN lo AND hi")
run("with a residual", "SELECT * FROM range(2000) AS a JOIN range(30) AS b ON a.id < b.id AND (a.id + b.id) % 7 = 3 AND 'x' <> concat('<b>', a.id, b.id)")
run("left to Spark", "SELECT /*+ NO_THETA_JOIN */ a.id FROM range(9) AS a JOIN range(9) AS b ON a.id < b.id")
spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "1b")
spark.conf.set("spark.thetajoin.broadcast.maxBytes", "1b")
spark.conf.set("spark.thetajoin.shuffle.maxPartitionBytes", "2k")
run("in blocks", "SELECT * FROM range(900) AS a JOIN range(700) AS b ON a.id = b.id * 2 OR a.id + 1 = b.id * 3")
spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
print(spark.sparkContext.applicationId, flush=True)
while not os.path.exists("seen"):
    time.sleep(0.1)
run("the last", "SELECT * FROM range(5) AS a JOIN range(5) AS b ON a.id > b.id")
spark.stop()
"""


@pytest.fixture(scope="module")
def browser() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium")
    return found


class Tables(HTMLParser):
    """The cells of the table of joins, what they are sorted by, and their links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.links: list[str] = []
        self._inside = self._cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        self._inside = self._inside or (tag == "table" and named.get("id") == "joins")
        if not self._inside:
            return
        if tag == "tr":
            self.rows.append([])
        self._cell = self._cell or tag in ("td", "th")
        if tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "a":
            self.links.append(named["href"] or "")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "table"
        self._cell = self._cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._inside and self._cell:
            self.rows[-1][-1] += data


class Page:
    """A page after its scripts have run."""

    def __init__(self, browser: str, url: str, folder: Path, *options: str) -> None:
        self.browser, self.url = browser, url
        profile = f"--user-data-dir={folder / 'profile'}"
        command = [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            profile,
            "--virtual-time-budget=5000",
        ]
        done = subprocess.run(
            [*command, *options, "--dump-dom", url], capture_output=True, text=True, timeout=120, check=True
        )  # fmt: skip
        self.html = done.stdout
        tables = Tables(self.html)
        self.links = tables.links
        self.heads = (
            [head.strip(" \u25b4\u25be\u00a0") for head in tables.rows[0]] if tables.rows else []
        )
        self.rows = [dict(zip(self.heads, row, strict=True)) for row in tables.rows[1:]]

    def sorted_by(self, head: str, folder: Path) -> list[str]:
        """The numbers of a column after a click on its head: in a copy of the page, with the scripts of Spark."""
        click = f"document.querySelectorAll('#joins th')[{self.heads.index(head)}].click()"
        copy = folder / "clicked.html"
        copy.write_text(
            self.html.replace("<head>", f'<head><base href="{self.url}">', 1)
            + f"<script>addEventListener('load', () => {click})</script>"
        )
        return [row[head] for row in Page(self.browser, copy.as_uri(), folder).rows]

    def row(self, query: str) -> dict[str, str]:
        (found,) = (row for row in self.rows if row["Query"].endswith(query))
        return found


@contextmanager
def program(folder: Path, port: int) -> Iterator[str]:
    """Run the queries; the id of the application, which is there until the block ends."""
    (folder / "program.py").write_text(PROGRAM)
    (folder / "events").mkdir()
    conf = {
        "spark.ui.enabled": "true",
        "spark.ui.port": str(port),
        "spark.ui.showConsoleProgress": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "events").as_uri(),
    }
    env = environment("classic", folder) | {"PYSPARK_PYTHON": sys.executable}
    with (folder / "program.log").open("w") as log:
        process = subprocess.Popen(
            submit(conf, "program.py"), cwd=folder, env=env, stdout=subprocess.PIPE, stderr=log, text=True
        )  # fmt: skip
    with process:
        assert process.stdout
        try:
            application = process.stdout.readline().strip()
            assert application, (folder / "program.log").read_text()
            yield application
        finally:
            (folder / "seen").touch()
            try:
                assert process.wait(120) == 0
            finally:
                process.kill()


def history(folder: Path, port: int) -> list[str]:
    options = {
        "spark.history.fs.logDirectory": (folder / "events").as_uri(),
        "spark.history.ui.port": port,
        "spark.history.store.path": folder / "store",
        "spark.ui.enabled": "true",
    }
    (folder / "store").mkdir()
    opened = [f"-D{key}={value}" for key, value in options.items()]
    set_up = [
        f"SPARK_DAEMON_CLASSPATH={thetajoin.jar_path()}",
        f"SPARK_HISTORY_OPTS={' '.join(opened)}",
    ]
    return ["env", *set_up, str(SPARK_HOME / "bin" / "spark-class"), HISTORY]


def add_broken_events(folder: Path) -> None:
    """Of other versions, and of a class that there is not."""
    (log,) = (
        file
        for file in (folder / "events").rglob("*")
        if file.is_file() and "appstatus" not in file.name
    )
    first, *others = log.read_text().splitlines()
    assert any('"Event":"thetajoin.ui.JoinsEvent"' in line for line in others)
    name = "thetajoin.ui.JoinsEvent"
    broken = [
        f'{{"Event":"{name}","executionId":90}}',
        f'{{"Event":"{name}","executionId":91,"joins":[{{"number":1,"later":2}}]}}',
        '{"Event":"thetajoin.ui.Gone","executionId":92}',
    ]
    log.write_text("\n".join([first, *others[:-1], *broken, others[-1]]) + "\n")


def assert_shown(page: Page, root: str) -> None:
    """The numbers of the program's queries, but for its last."""
    assert tuple(page.heads) == HEADS
    points = page.row("points <in> intervals")
    assert points["Accelerated by"] == "intervalBroadcastThetaJoin, BuildRight"
    assert (points["Index rows"], points["Probe rows"]) == ("50", "2,000")
    assert (points["Candidates"], points["Candidates a probe row"]) == ("250", "0.13")
    assert (points["Matches"], points["Matches a probe row"]) == ("250", "0.13")
    assert points["Output rows"] == "250"
    assert re.fullmatch(r"[\d.]+ [KM]?i?B", points["Index size"]), points
    assert re.fullmatch(r"[\d.]+ (ms|s)", points["Time to build"]), points
    assert re.fullmatch(r"[\d.]+ (ms|s)", points["Time to probe"]), points

    tested = page.row("with a residual")
    candidates = sum(1 for a in range(2000) for b in range(30) if a < b)
    matches = sum(1 for a in range(2000) for b in range(30) if a < b and (a + b) % 7 == 3)
    assert (int(tested["Candidates"]), int(tested["Matches"])) == (candidates, matches)
    assert "concat('<b>'" in tested["Join"], "the condition is shown as it is written"

    left = page.row("left to Spark")
    assert left["Accelerated by"].startswith("HINTED"), left
    assert "Remove the hint." in left["Accelerated by"]
    assert (left["Output rows"], left["Candidates"], left["Index size"]) == ("36", "", "")

    blocks = page.row("in blocks")
    assert "BlockThetaJoin" in blocks["Accelerated by"]
    assert int(blocks["Blocks"]) > 1
    assert int(blocks["Matches"]) == sum(
        1 for a in range(900) for b in range(700) if a == b * 2 or a + 1 == b * 3
    )

    # The points of the plot are joins that ran on an index.
    shown = [row for row in page.rows if row["Candidates"]]
    assert page.html.count("<circle") == len(shown) >= 3
    assert f"{candidates} candidates, {matches} matches</title>" in page.html
    assert len(page.links) == len(page.rows)
    assert all(link.startswith(f"{root}/SQL/execution/?id=") for link in page.links)


def test_the_tab_shows_what_joins_did(browser: str, tmp_path: Path) -> None:
    port = free_port()
    live = f"http://127.0.0.1:{port}"
    with program(tmp_path, port) as application:
        page = Page(browser, f"{live}/thetajoins/", tmp_path)
        assert_shown(page, "")
        assert len(page.rows) == 4
        assert "BroadcastThetaJoin" in Page(browser, live + page.links[-1], tmp_path).html
        found = Page(browser, f"{live}/thetajoins/?search={quote('INTERVAL <in>')}", tmp_path)
        assert [row["Query"].split(" ", 1)[1] for row in found.rows] == ["points <in> intervals"]
        assert "1 of 4 joins" in found.html
        numbers = [int(row["Candidates"].replace(",", "") or -1) for row in page.rows]
        clicked = [
            int(text.replace(",", "") or -1) for text in page.sorted_by("Candidates", tmp_path)
        ]
        assert clicked == sorted(numbers) != numbers
    add_broken_events(tmp_path)

    server = tmp_path / "history"
    server.mkdir()
    port = free_port()
    shutil.move(tmp_path / "events", server / "events")
    root = f"/history/{application}"
    with running(history(server, port), port, "classic", server):
        url = f"http://127.0.0.1:{port}{root}/thetajoins/"
        end = time.monotonic() + 60
        page = Page(browser, url, tmp_path)
        while not page.rows and time.monotonic() < end:
            page = Page(browser, url, tmp_path)
        assert_shown(page, root)
        assert len(page.rows) == 5, "the last query is in the log, and no broken event is"
        assert page.row("the last")["Matches"] == "10"
        assert page.rows[0]["Query"].endswith("the last")
