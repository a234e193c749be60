"""Which types the columns and constants of a condition can have.

A plan prints no types but BIGINT's ``L``. Spark made all its casts explicit before it printed the
condition, so that the sides of a comparison have one type. Expressions that must have one type
form a class. A class whose type the plan does not tell is tried with common types in turn.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from thetajoin._advisor.tree import Apply, Cast, Column, Constant, Interval, Tree

MOST_TRIES = 100
INTERVAL = "interval"

_COMPARED = {"=", "<=>", "<", "<=", ">", ">="}
_LOGICAL = {"AND", "OR", "NOT"}
_OF_TEXTS = {"LIKE", "RLIKE", "ILIKE", "ESCAPE", "rlike", "contains", "startswith", "endswith"}
_ONE_TYPE = {
    "+", "*", "/", "%", "div", "&", "|", "^", "abs", "negative", "coalesce", "greatest", "least",
}  # fmt: skip
RESULTS = {
    **dict.fromkeys((*_COMPARED, *_LOGICAL, *_OF_TEXTS), "boolean"),
    **dict.fromkeys(("IN", "isnull", "isnotnull", "array_contains", "arrays_overlap"), "boolean"),
    **dict.fromkeys(("concat", "upper", "lower", "trim", "substring", "replace"), "string"),
    **dict.fromkeys(("length", "size", "hash", "year", "month", "datediff", "levenshtein"), "int"),
    **dict.fromkeys(("timestamp_seconds", "timestamp_millis", "gettimestamp"), "timestamp"),
    **dict.fromkeys(("date_add", "date_sub", "add_months", "last_day", "make_date"), "date"),
    **dict.fromkeys(("sqrt", "pow", "power", "hypot", "sin", "cos", "radians"), "double"),
    "split": "array<string>",
}
_OF_ARRAYS = {"arrays_overlap", "array_intersect", "array_except", "array_union"}
_TEXT_ARGUMENTS = {"upper", "lower", "trim", "substring", "replace", "split", "length", "concat"}

_COLUMNS = ("int", "timestamp", "string", "double", "date", "decimal(18,2)", "boolean", "binary")
_ARRAYS = ("array<string>", "array<int>", "array<bigint>")
_TIMES = ("timestamp", "date", "timestamp_ntz")
_SHAPES = {
    r"-?\d+": ("int", "bigint", "string", "smallint", "tinyint", "decimal(18,0)"),
    r"-?\d+\.\d+(E-?\d+)?": ("double", "decimal", "float", "string"),
    r"\d{4}-\d\d-\d\d": ("date", "string"),
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?": ("timestamp", "timestamp_ntz", "string"),
    r"true|false": ("boolean", "string"),
    r"null": (*_COLUMNS, "bigint", *_ARRAYS),
}

Key = Hashable


def key(tree: Tree) -> Key:
    """What names an expression's type: the same column has one, other expressions their own."""
    return tree.number if isinstance(tree, Column) else (id(tree),)


@dataclass
class Classes:
    """The classes of a condition's expressions, and what is known of their types."""

    tree: Tree
    columns: dict[int, str] = field(default_factory=dict)
    """Types by the numbers of columns, as far as the plan tells."""
    _parents: dict[Key, Key] = field(default_factory=dict)
    _members: dict[Key, list[Tree]] = field(default_factory=dict)
    _known: dict[Key, str] = field(default_factory=dict)
    _elements: list[tuple[Key, Key]] = field(default_factory=list)
    _arrays: set[Key] = field(default_factory=set)
    _times: set[Key] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._visit(self.tree)
        for array, element in self._elements:
            held, inner = self._known.get(self._root(array)), self._known.get(self._root(element))
            if held is not None and held.startswith("array<"):
                self._know(element, held[len("array<") : -1])
            elif inner is not None:
                self._know(array, f"array<{inner}>")

    def assignments(self) -> Iterator[dict[Key, str]]:
        """Types by `key`, the likely ones first; at most `MOST_TRIES`."""
        derived = {self._root(array) for array, _ in self._elements} - self._known.keys()
        roots = [root for root in self._members if root not in derived]
        choices = [self._candidates(root) for root in roots]
        for chosen in itertools.islice(itertools.product(*choices), MOST_TRIES):
            types = dict(zip(roots, chosen, strict=True))
            for array, element in self._elements:
                inner = types.get(self._root(element), "string")
                types.setdefault(self._root(array), f"array<{inner}>")
            yield {
                key(member): types[root]
                for root, members in self._members.items()
                for member in members
            }

    def _candidates(self, root: Key) -> tuple[str, ...]:
        if root in self._known:
            return (self._known[root],)
        members = self._members[root]
        shapes = [_shapes(m.text) for m in members if isinstance(m, Constant)]
        if self._has(root, self._arrays):
            found: tuple[str, ...] = _ARRAYS
        elif self._has(root, self._times):
            found = _TIMES
        elif shapes:
            found = tuple(t for t in shapes[0] if all(t in others for others in shapes))
        elif any(isinstance(m, Column) for m in members) or self._is_element(root):
            found = _COLUMNS
        else:
            return ("",)  # nothing of it is written into the query
        if any(isinstance(m, Column) and not m.is_bigint for m in members):
            found = tuple(t for t in found if t != "bigint")
        return found or ("string",)

    def _visit(self, tree: Tree) -> None:
        self._members.setdefault(self._root(key(tree)), []).append(tree)
        match tree:
            case Column():
                told = "bigint" if tree.is_bigint else self.columns.get(tree.number)
                if told is not None:
                    self._know(key(tree), told)
            case Interval():
                self._know(key(tree), INTERVAL)
            case Cast():
                self._visit(tree.child)
                self._know(key(tree), tree.type)
            case Apply():
                for child in tree.children:
                    self._visit(child)
                self._constrain(tree)
            case _:
                pass

    def _constrain(self, tree: Apply) -> None:
        name, children = tree.name, tree.children
        if name in RESULTS:
            self._know(key(tree), RESULTS[name])
        intervals = [child for child in children if isinstance(child, Interval)]
        if name in ("+", "-") and intervals:
            self._join(tree, children[0])
            self._times.add(key(tree))
        elif name in _COMPARED or name in ("IN", "-") or name in _OF_ARRAYS:
            self._join(*children)
        elif name in _ONE_TYPE:
            self._join(tree, *children)
        elif name in _LOGICAL:
            for child in children:
                self._know(key(child), "boolean")
        elif name in _OF_TEXTS or name in _TEXT_ARGUMENTS:
            for child in children[: None if name == "concat" or name in _OF_TEXTS else 1]:
                self._know(key(child), "string")
        elif name == "if":
            self._join(tree, *children[1:])
        elif name == "CASE":
            last = children[-1:] if len(children) % 2 else ()
            self._join(tree, *children[1::2], *last)
        elif name in ("array_contains", "[]") and len(children) == 2:
            element = children[1] if name == "array_contains" else tree
            self._elements.append((key(children[0]), key(element)))
        if name in _OF_ARRAYS or name == "size":
            self._arrays.add(key(children[0]))

    def _root(self, of: Key) -> Key:
        while of in self._parents:
            of = self._parents[of]
        return of

    def _join(self, first: Tree, *others: Tree) -> None:
        for other in others:
            root, joined = self._root(key(first)), self._root(key(other))
            if root == joined:
                continue
            self._parents[joined] = root
            self._members[root] = self._members.get(root, []) + self._members.pop(joined, [])
            if joined in self._known:
                self._known.setdefault(root, self._known.pop(joined))

    def _know(self, of: Key, told: str) -> None:
        self._known.setdefault(self._root(of), told)

    def _has(self, root: Key, keys: set[Key]) -> bool:
        return any(self._root(of) == root for of in keys)

    def _is_element(self, root: Key) -> bool:
        return any(self._root(element) == root for _, element in self._elements)


def _shapes(constant: str) -> tuple[str, ...]:
    for shape, types in _SHAPES.items():
        if re.fullmatch(shape, constant):
            return tuple(_decimal(constant) if t == "decimal" else t for t in types)
    return ("string",)


def _decimal(digits: str) -> str:
    return f"decimal(18,{len(digits.partition('.')[2])})"
