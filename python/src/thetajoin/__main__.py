"""`thetajoin doctor [--remote sc://host:port]`, or the same as `python -m thetajoin`."""

from __future__ import annotations

import argparse
import sys

from thetajoin import __version__
from thetajoin._doctor import doctor


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="thetajoin")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("doctor", help="check that joins are accelerated here")
    check.add_argument(
        "--remote", metavar="URL", help="check the Spark Connect server at sc://host:port"
    )
    return doctor(parser.parse_args(arguments).remote)


if __name__ == "__main__":
    sys.exit(main())
