"""Reads the text that Catalyst prints for an expression, such as a join condition of a plan.

    ((at#1 >= started#2) AND name#3 LIKE concat(%, word#4, %))

The text is for people: strings stand without quotes, and a name may hold anything. So reading it
can fail, or find another expression than was meant. `thetajoin._advisor.questions` has Spark
print the expression that was found, and compares.
"""

from __future__ import annotations

import re

from thetajoin._advisor.tree import BINARY, Apply, Cast, Column, Constant, Interval, Tree


class ConditionError(ValueError):
    """The text can't be read; the message says why, without a full stop."""


# Spark wraps operands of its own rules in these; they change no value that SQL can see.
_WRAPPERS = ("knownfloatingpointnormalized", "normalizenanandzero", "knownnotnull")
_UNREADABLE = {
    r"\.\.\. \d+ more fields": "the log has it shortened (see spark.sql.debug.maxToStringFields)",
    r"(?i)subquery": "it holds a subquery",
    r"(?i)\blambda\b|lambdafunction": "it holds a lambda function",
    r"\bUDF\(": "it calls a function that only its application has",
    r"\)#\d+": "it calls a Python function, or names an aggregate that has no alias",
}
_OPERATOR = re.compile(rf" ({'|'.join(map(re.escape, BINARY))}) ")
_COLUMN = re.compile(r"([A-Za-z_][\w$]*)#(\d+)(L?)\b")
_CALL = re.compile(r"([A-Za-z_]\w*)\(")
_CAST = re.compile(r"((?:try_)?cast)\(", re.IGNORECASE)
_TYPE = re.compile(r" as ((?:[^()]|\([\d, ]*\))+)\)")
_INTERVAL = re.compile(r"INTERVAL '[^']*' \w+(?: TO \w+)?")
_MATCH = re.compile(r" (LIKE|RLIKE|ILIKE) ")
_ESCAPE = re.compile(r" ESCAPE '(.)'")
_STEP = re.compile(r" ([+-]) (?=INTERVAL ')")
_FIELD = re.compile(r"\.([A-Za-z_]\w*)")
_END = re.compile(
    rf" (?:{'|'.join(map(re.escape, BINARY))}|LIKE|RLIKE|ILIKE|IN|INSET|WHEN|THEN|ELSE) "
    r"| END\b| as |, |[()\[\]]|$"
)
_END_IN_LIST = re.compile(r",|\)|$")


def read(text: str) -> Tree:
    """The expression that a text shows.

    Raises
    ------
    ConditionError
        If the text is shortened, holds what SQL can't say, or does not follow Catalyst's forms.
    """
    for pattern, why in _UNREADABLE.items():
        if re.search(pattern, text):
            raise ConditionError(why)
    reader = _Reader(text)
    tree = reader.expression()
    if reader.at < len(text):
        raise ConditionError(f"it can't be read from: {text[reader.at :][:40]}")
    return tree


def _of_sql(name: str, arguments: list[Tree]) -> list[Tree]:
    """The arguments that SQL has; after them stand Spark's own, such as the session's time zone."""
    for at, argument in enumerate(arguments):
        optional = isinstance(argument, Apply) and argument.name == "some"
        if optional or argument == Constant("None"):
            return arguments[:at]
    return arguments[:1] if name == "size" else arguments


class _Reader:
    """Reads from the start of a text; ``at`` is the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def expression(self) -> Tree:
        tree = self._operand()
        while True:
            if step := self._take(_STEP):
                tree = Apply(step[1], (tree, self._operand()))
            elif match := self._take(_MATCH):
                tree = Apply(match[1], (tree, self._operand()))
                if escape := self._take(_ESCAPE):
                    tree = Apply("ESCAPE", (tree, Constant(escape[1])))
            elif self._taken(" IN ("):
                tree = Apply("IN", (tree, *self._list(",", _END_IN_LIST)))
                self._expect(")")
            elif self._taken(" INSET "):
                tree = Apply("IN", (tree, *self._list(", ", _END)))
            elif not isinstance(tree, Constant) and (field := self._take(_FIELD)):
                tree = Apply(f".{field[1]}", (tree,))
            elif not isinstance(tree, Constant) and self._taken("["):
                tree = Apply("[]", (tree, self.expression()))
                self._expect("]")
            else:
                return tree

    def _operand(self) -> Tree:
        if self._taken("("):
            return self._in_brackets()
        if self._taken("NOT "):
            return Apply("NOT", (self.expression(),))
        if self._taken("CASE WHEN "):
            return self._case()
        if self._taken("if ("):
            condition = self.expression()
            self._expect(") ")
            chosen = self.expression()
            self._expect(" else ")
            return Apply("if", (condition, chosen, self.expression()))
        if interval := self._take(_INTERVAL):
            return Interval(interval[0])
        if column := self._take(_COLUMN):
            return Column(column[1], int(column[2]), column[3] == "L")
        if cast := self._take(_CAST):
            child = self.expression()
            kind = self._take(_TYPE)
            if kind is None:
                raise ConditionError(f"a cast has no type before: {self.text[self.at :][:40]}")
            return Cast(cast[1].lower(), child, kind[1])
        if call := self._take(_CALL):
            return self._call(call[1])
        if self.text.startswith(("-(", "-cast("), self.at) or (
            self.text.startswith("-", self.at) and _COLUMN.match(self.text, self.at + 1)
        ):
            self.at += 1
            return Apply("negative", (self._operand(),))
        return self._constant(_END)

    def _in_brackets(self) -> Tree:
        left = self.expression()
        operator = self._take(_OPERATOR)
        if operator is not None:
            left = Apply(operator[1], (left, self.expression()))
        self._expect(")")
        return left

    def _case(self) -> Tree:
        parts = []
        while True:
            parts.append(self.expression())
            self._expect(" THEN ")
            parts.append(self.expression())
            if not self._taken(" WHEN "):
                break
        if self._taken(" ELSE "):
            parts.append(self.expression())
        self._expect(" END")
        return Apply("CASE", tuple(parts))

    def _call(self, name: str) -> Tree:
        children = [] if self.text.startswith(")", self.at) else self._list(", ", None)
        self._expect(")")
        name = name.lower()
        if name in _WRAPPERS and len(children) == 1:
            return children[0]
        return Apply(name, tuple(_of_sql(name, children)))

    def _list(self, separator: str, end: re.Pattern[str] | None) -> list[Tree]:
        found = [self._constant(end) if end else self.expression()]
        while self._taken(separator):
            found.append(self._constant(end) if end else self.expression())
        return found

    def _constant(self, end: re.Pattern[str]) -> Constant:
        stop = end.search(self.text, self.at)
        assert stop is not None  # the end of the text matches
        text, self.at = self.text[self.at : stop.start()], stop.start()
        if "#" in text:
            raise ConditionError(f"a name in it can't be read: {text}")
        return Constant(text)

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return match

    def _taken(self, word: str) -> bool:
        if not self.text.startswith(word, self.at):
            return False
        self.at += len(word)
        return True

    def _expect(self, word: str) -> None:
        if not self._taken(word):
            raise ConditionError(f"{word.strip()} is missing before: {self.text[self.at :][:40]}")
