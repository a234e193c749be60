"""Checks, builds and publishes a release: wheel, sdist and Maven artifacts.

    make release ARGS="--repository HOST/OWNER/NAME --namespace GROUP"
    make release DRY_RUN=1

A dry run checks and builds the same, and publishes nothing. It goes on if only the day of the
release or a commit is missing. CONTRIBUTING.md names the accounts and keys that a release needs.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import release_checks as checks

ROOT = Path(__file__).resolve().parents[1]
PACKAGED_JAR = ROOT / "python/src/thetajoin/jars/thetajoin.jar"
TOKEN = "{repository}"
CHECKS = ("api/mimaReportBinaryIssues", "testkit/mimaReportBinaryIssues")
STAGED = ("src", "licenses", "LICENSE", "NOTICE", "README.md", "pyproject.toml")


class ReleaseError(Exception):
    """Why there is no release."""


def run(*command: str | Path) -> None:
    """Run a command in the checkout, and stop if it fails."""
    print("+", *command, flush=True)
    done = subprocess.run(command, cwd=ROOT, check=False)
    if done.returncode != 0:
        raise ReleaseError(f"{command[0]} failed with exit code {done.returncode}")


def stop_if(problems: list[str]) -> None:
    if problems:
        raise ReleaseError("\n  ".join(["", *problems]))


def check(dry_run: bool) -> str:
    """The version, once nothing stops it."""
    stop_if(checks.wrong_versions(ROOT))
    version = checks.versions(ROOT)["build.sbt"]
    stop_if(checks.broken_api(ROOT, version))
    left = [*checks.uncommitted(ROOT), *checks.wrong_changelog(ROOT, version)]
    if not dry_run:
        stop_if(left)
    for problem in left:
        print(f"would stop: {problem}")
    return version


def build_python(folder: Path, repository: str, jar: Path) -> list[Path]:
    """Wheel and sdist with the address of the repository filled in, from a copy of the package."""
    source, dist = folder / "python", folder / "dist"
    source.mkdir(parents=True)
    for name in STAGED:
        path = ROOT / "python" / name
        if path.is_dir():
            shutil.copytree(path, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, source / name)
    shutil.copy(jar, source / "src/thetajoin/jars/thetajoin.jar")
    metadata = source / "pyproject.toml"
    metadata.write_text(metadata.read_text().replace(TOKEN, repository))
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", dist, source)
    files = sorted(dist.iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *files)
    return files


def build_maven(version: str, repository: str, namespace: str, *, signed: bool) -> Path:
    """All artifacts, signed with the default key of gpg; gives the jar with all classes."""
    options = [f"-Dthetajoin.repository={repository}", f"-Dthetajoin.namespace={namespace}"]
    shutil.rmtree(ROOT / "target/sona-staging", ignore_errors=True)
    publish = "publishSigned" if signed else "publish"
    run(ROOT / "tools/sbt", *options, *CHECKS, publish, "sonaBundle")
    group = ROOT / "target/sona-staging" / namespace.replace(".", "/")
    files = [group / name for name in maven_files(version)]
    stop_if([f"not built: {file.name}" for file in files if not file.is_file()])
    return group / f"thetajoin_2.13/{version}/thetajoin_2.13-{version}-all.jar"


def maven_files(version: str) -> list[str]:
    """What a Maven repository is given, below the folder of the group."""
    ends = [".jar", "-sources.jar", "-javadoc.jar", ".pom"]
    more = {"thetajoin": ["-all.jar"]}
    return [
        f"{name}_2.13/{version}/{name}_2.13-{version}{end}"
        for name in ("thetajoin", "thetajoin-api", "thetajoin-testkit")
        for end in ends + more.get(name, [])
    ]


def main(*arguments: str) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repository", metavar="HOST/OWNER/NAME", help="where the sources are")
    parser.add_argument("--namespace", metavar="GROUP", help="the group of the Maven artifacts")
    parser.add_argument("--dry-run", action="store_true", help="publish nothing")
    parser.add_argument(
        "--only-python", action="store_true", help="no Maven artifacts: for a dry run"
    )
    given = parser.parse_args(arguments)
    if not given.dry_run and (given.only_python or not (given.repository and given.namespace)):
        parser.error("a release needs --repository and --namespace, and publishes all artifacts")
    repository = given.repository or "repository.invalid/thetajoin"
    namespace = given.namespace or "thetajoin"
    try:
        version = check(given.dry_run)
        folder = ROOT / "target" / "release"
        shutil.rmtree(folder, ignore_errors=True)
        jar = PACKAGED_JAR
        if not given.only_python:
            jar = build_maven(version, repository, namespace, signed=not given.dry_run)
        stop_if(checks.wrong_jar(jar, version))
        files = build_python(folder, repository, jar)
        publish(version, namespace, files, dry_run=given.dry_run)
    except ReleaseError as e:
        print(f"no release: {e}", file=sys.stderr)
        return 1
    return 0


def publish(version: str, namespace: str, files: list[Path], *, dry_run: bool) -> None:
    """Tag the commit, upload what was built, and then show the tag to others."""
    commands: list[list[str | Path]] = [
        ["git", "tag", "--annotate", f"v{version}", "--message", f"thetajoin {version}"],
        [sys.executable, "-m", "twine", "upload", "--non-interactive", *files],
        [ROOT / "tools/sbt", f"-Dthetajoin.namespace={namespace}", "sonaRelease"],
        ["git", "push", "origin", f"v{version}"],
    ]
    for command in commands:
        if dry_run:
            print("would run:", *command)
        else:
            run(*command)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
