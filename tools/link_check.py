"""Does a jar link against Spark?

    python tools/link_check.py thetajoin.jar path/to/pyspark/jars [...]

Compiled against one version, a jar runs on another only if every member it names is there. For
each folder of jars, reports references to classes, methods and fields of Spark and Jackson that are
missing there, and abstract methods of theirs that a class of the jar leaves open. Reads class files
as the JVM specification lays them out (chapter 4); runs nothing.

By hand: Google's Linkage Checker (1.5.15) reads class files of Java 8 at most and names 502 errors
where there are none. Spotify's missinglink does not look for abstract methods.
"""

from __future__ import annotations

import argparse
import struct
import sys
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ABSTRACT, INTERFACE = 0x0400, 0x0200
JUDGED = ("org/apache/spark/", "com/fasterxml/jackson/")
"""Owners whose members are looked up: what else a jar names comes with Java or Scala."""
JARS = ("spark-", "jackson-", "scala-library")
"""How the names of the jars begin that are read."""

OF_OBJECT = {"clone", "equals", "getClass", "hashCode", "notify", "notifyAll", "toString", "wait"}
"""Methods that every class has from java.lang.Object."""

Member = tuple[str, str]
"""Name and descriptor."""


@dataclass(frozen=True)
class ClassFile:
    """What linking needs to know of a class."""

    name: str
    parents: tuple[str, ...]
    flags: int
    members: dict[Member, int]
    named_classes: frozenset[str]
    named_members: frozenset[tuple[str, Member]]


def parse(data: bytes) -> ClassFile:
    """Read a class file."""
    constants, position = _constants(data)

    def text(index: int) -> str:
        value = constants[index]
        assert isinstance(value, str)
        return value

    def pair(index: int) -> tuple[int, int]:
        value = constants[index]
        assert isinstance(value, tuple)
        return value[1], value[2]

    def class_name(index: int) -> str:
        return text(pair(index)[0])

    flags, this, parent, count = struct.unpack_from(">4H", data, position)
    position += 8
    interfaces = struct.unpack_from(f">{count}H", data, position)
    position += 2 * count
    members: dict[Member, int] = {}
    for _ in ("fields", "methods"):
        (count,) = struct.unpack_from(">H", data, position)
        position += 2
        for _ in range(count):
            access, name, descriptor, attributes = struct.unpack_from(">4H", data, position)
            members[text(name), text(descriptor)] = access
            position += 8
            for _ in range(attributes):
                (length,) = struct.unpack_from(">I", data, position + 2)
                position += 6 + length
    tagged = [(i, c[0]) for i, c in enumerate(constants) if isinstance(c, tuple)]
    references = set()
    for index in (i for i, tag in tagged if tag in (9, 10, 11)):
        owner, name_and_type = pair(index)
        name, descriptor = pair(name_and_type)
        references.add((class_name(owner), (text(name), text(descriptor))))
    parents = tuple(class_name(i) for i in (parent, *interfaces) if i)
    named = frozenset(class_name(i) for i, tag in tagged if tag == 7)
    return ClassFile(class_name(this), parents, flags, members, named, frozenset(references))


def _constants(data: bytes) -> tuple[list[str | tuple[int, int, int] | None], int]:
    """The constant pool, strings as such and references as (tag, first index, second index)."""
    (count,) = struct.unpack_from(">H", data, 8)
    constants: list[str | tuple[int, int, int] | None] = [None] * count
    position, index = 10, 1
    while index < count:
        tag = data[position]
        if tag == 1:
            (length,) = struct.unpack_from(">H", data, position + 1)
            constants[index] = data[position + 3 : position + 3 + length].decode("utf-8", "replace")
            position += 3 + length
        elif tag in (7, 8, 16, 19, 20):
            constants[index] = (tag, struct.unpack_from(">H", data, position + 1)[0], 0)
            position += 3
        elif tag in (9, 10, 11, 12, 17, 18):
            constants[index] = (tag, *struct.unpack_from(">HH", data, position + 1))
            position += 5
        else:
            position += {3: 5, 4: 5, 5: 9, 6: 9, 15: 4}[tag]
        # Eight-byte constants take two places.
        index += 2 if tag in (5, 6) else 1
    return constants, position


def classes(jars: Iterable[Path]) -> Iterator[ClassFile]:
    """Every class in some jars."""
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".class") and not name.startswith("META-INF/"):
                    yield parse(archive.read(name))


def problems(ours: Iterable[ClassFile], spark: Iterable[ClassFile]) -> list[str]:
    """What of ours does not link against Spark, a line each."""
    own = {c.name: c for c in ours}
    known = {c.name: c for c in spark} | own

    def ancestry(name: str) -> tuple[list[ClassFile], bool]:
        """The class and its known ancestors, and whether all of them are known."""
        found: dict[str, ClassFile] = {}
        complete, waiting = True, [name]
        while waiting:
            current = waiting.pop()
            if current in found:
                continue
            if current in known:
                found[current] = known[current]
                waiting.extend(known[current].parents)
            elif current != "java/lang/Object":
                complete = False
        return list(found.values()), complete

    lines = set()
    for c in own.values():
        for name in c.named_classes:
            if name.startswith(JUDGED) and name not in known:
                lines.add(f"{c.name}: no class {name}")
        for owner, member in c.named_members:
            if owner.startswith(JUDGED) and owner in known:
                line, complete = ancestry(owner)
                name = member[0]
                found = any(member in a.members for a in line) or name in OF_OBJECT
                # An ancestor from Java may have it, but hardly beside a namesake in Spark.
                namesake = any(name == other for a in line for other, _ in a.members)
                if not found and (complete or namesake):
                    lines.add(f"{c.name}: no member {owner}.{name} {member[1]}")
        if not c.flags & (ABSTRACT | INTERFACE):
            line, _ = ancestry(c.name)
            lines.update(f"{c.name}: abstract {method}" for method in _open_methods(line))
    return sorted(lines)


def _open_methods(ancestry: list[ClassFile]) -> Iterator[str]:
    """Abstract methods of Spark that no class of the ancestry implements."""
    for ancestor in ancestry:
        for member, access in ancestor.members.items():
            judged = access & ABSTRACT and ancestor.name.startswith(JUDGED)
            if judged and all(a.members.get(member, ABSTRACT) & ABSTRACT for a in ancestry):
                yield f"{ancestor.name}.{member[0]} {member[1]}"


def main(*arguments: str) -> int:
    """Check one jar against each folder of Spark's jars; 1 if anything is missing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("jar", type=Path)
    parser.add_argument("folders", type=Path, nargs="+", metavar="folder", help="of Spark's jars")
    given = parser.parse_args(arguments)
    status = 0
    for folder in given.folders:
        spark = [p for p in folder.glob("*.jar") if p.name.startswith(JARS)]
        if not spark:
            print(f"no Spark jars in {folder}", file=sys.stderr)
            return 1
        found = problems(classes([given.jar]), classes(spark))
        version = next(p.stem.rpartition("-")[2] for p in spark if p.name.startswith("spark-sql_"))
        print(f"Spark {version}: {len(found) or 'no'} problems")
        print("".join(f"  {line}\n" for line in found), end="")
        status = 1 if found else status
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
