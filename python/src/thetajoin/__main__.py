"""`thetajoin doctor [--remote sc://host:port]`, `thetajoin advise LOG..`, also by `python -m`."""

from __future__ import annotations

import argparse
import sys

from thetajoin import ThetaJoinError, __version__, _advisor
from thetajoin._doctor import doctor


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="thetajoin")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("doctor", help="check that joins are accelerated here")
    check.add_argument(
        "--remote", metavar="URL", help="check the Spark Connect server at sc://host:port"
    )
    advise = commands.add_parser(
        "advise", help="find joins in Spark's event logs that thetajoin would accelerate"
    )
    advise.add_argument(
        "logs", nargs="+", metavar="EVENTLOG", help="a log, a rolled log, or a folder of logs"
    )
    advise.add_argument("--json", action="store_true", help="print JSON in place of text")
    advise.add_argument("--html", metavar="FILE", help="write a page as well")
    given = parser.parse_args(arguments)
    if given.command == "doctor":
        return doctor(given.remote)
    try:
        return _advisor.run(given.logs, as_json=given.json, html=given.html)
    except ThetaJoinError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
