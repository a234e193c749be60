"""Expressions that were read from the text of a plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column: ``at#1``, or ``id#2L`` if it is a BIGINT."""

    name: str
    number: int
    is_bigint: bool


@dataclass(frozen=True)
class Constant:
    """A constant as it is printed: a number, a date, or a string without quotes."""

    text: str


@dataclass(frozen=True)
class Interval:
    """``INTERVAL '05' MINUTE``."""

    text: str


@dataclass(frozen=True)
class Cast:
    """A cast to a type; the function is ``cast`` or ``try_cast``."""

    function: str
    child: Tree
    type: str


@dataclass(frozen=True)
class Apply:
    """An operator or a function of other expressions."""

    name: str
    children: tuple[Tree, ...]


Tree = Column | Constant | Interval | Cast | Apply

BINARY = (
    "<=>", "<=", ">=", "<<", ">>>", ">>", "<", ">", "=", "AND", "OR",
    "+", "-", "*", "/", "%", "div", "&", "|", "^",
)  # fmt: skip


def columns(tree: Tree) -> Iterator[Column]:
    """All columns of an expression, repeated ones too."""
    if isinstance(tree, Column):
        yield tree
    elif isinstance(tree, Cast):
        yield from columns(tree.child)
    elif isinstance(tree, Apply):
        for child in tree.children:
            yield from columns(child)


def conjuncts(tree: Tree) -> list[Tree]:
    """The parts that AND combines."""
    if isinstance(tree, Apply) and tree.name == "AND":
        return [part for child in tree.children for part in conjuncts(child)]
    return [tree]
