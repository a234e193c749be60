"""The advice as plain text, and the sentences that the page has too."""

from __future__ import annotations

from thetajoin._advisor.advice import ALL_PAIRS, Advice
from thetajoin._advisor.estimate import shown

_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def report(advice: list[Advice]) -> str:
    """All joins, the longest first."""
    if not advice:
        return "No nested loop, no Cartesian product, and no other join over many pairs of a key."
    blocks = [block(number, one) for number, one in enumerate(advice, start=1)]
    return "\n\n".join([summary(advice), *blocks])


def summary(advice: list[Advice]) -> str:
    """One line on all joins."""
    served = [a for a in advice if a.answer.accelerator not in (None, ALL_PAIRS)]
    whole = sum(a.task_seconds for a in advice)
    line = f"{_count(len(advice), 'join')} to look at, {shown(whole)} of task time"
    saved = sum(a.estimate.saved_seconds for a in advice if a.estimate is not None)
    line += f"; an index would serve {len(served)}"
    return f"{line} and save up to {shown(saved)} of task time." if saved else f"{line}."


def block(number: int, advice: Advice) -> str:
    """One join in some indented lines."""
    rows = [f"[{number}] {heading(advice)}"]
    rows += [f"    {name}: {value}" for name, value in details(advice).items()]
    return "\n".join(rows)


def heading(advice: Advice) -> str:
    """Which join it is, and what it took."""
    runs = "" if len(advice.executions) == 1 else f" in {len(advice.executions)} queries"
    ended = "" if advice.finished else ", did not end well"
    return (
        f"{advice.operator}, {advice.join_type}{runs}: {shown(advice.seconds)}"
        f" ({shown(advice.task_seconds)} of task time){ended}"
    )


def details(advice: Advice) -> dict[str, str]:
    """Names and values of what there is to say of a join."""
    numbers = ", ".join(map(str, advice.executions[:10]))
    more = ", .." if len(advice.executions) > 10 else ""
    stages = ", ".join(map(str, advice.stages)) or "none completed"
    found = {
        "application": f"{advice.application_id} {advice.application}, Spark "
        f"{advice.spark_version}",
        "query": f"{numbers}{more}: {' '.join(advice.description.split())}"[:200],
        "stages": stages,
        "condition": advice.condition or "none",
        "rows": rows(advice),
    }
    if advice.memory_spilled_bytes or advice.disk_spilled_bytes:
        memory, disk = size(advice.memory_spilled_bytes), size(advice.disk_spilled_bytes)
        found["spill of the stages"] = f"{memory} of memory, {disk} on disk"
    return found | served(advice)


def rows(advice: Advice) -> str:
    """Rows in and out."""
    left, right = (
        "unknown" if n is None else f"{n:,}" for n in (advice.left_rows, advice.right_rows)
    )
    pairs = "" if advice.pairs is None else f", {advice.pairs:,} pairs"
    return f"{left} left, {right} right, {advice.output_rows:,} out{pairs}"


def served(advice: Advice) -> dict[str, str]:
    """What would serve the join, or why that is not known, and what it would save."""
    answer = advice.answer
    if answer.why_not:
        return {"advice": f"none: {answer.why_not}"}
    found = {"read as": answer.sql}
    if not answer.confirmed:
        found["caution"] = "Spark prints another condition for it, so it may be read wrongly"
    if answer.types:
        types = ", ".join(f"{name} {kind}" for name, kind in answer.types.items())
        found["assumed types"] = types
    if answer.accelerator is None:
        found["not accelerated"] = f"{answer.reason_code}: {answer.reason}. {answer.remedy}"
        return found
    if answer.accelerator == ALL_PAIRS:
        found["advice"] = "no index serves it; nestedloop compares all pairs in generated code"
        return found
    side = "left" if answer.build_side == "BuildLeft" else "right"
    found["advice"] = f"{answer.accelerator}, on the rows of the {side} side"
    found["index"] = ", ".join(answer.index)
    if answer.residual:
        found["residual"] = ", ".join(answer.residual)
    if advice.estimate is None:
        found["estimate"] = "none: the log lacks rows or times of it"
    else:
        upto = "at most " if advice.estimate.at_most else ""
        saved = shown(advice.saved_seconds) if advice.saved_seconds else "nothing"
        found["estimate"] = f"saves {upto}{saved} of {shown(advice.seconds)}. {advice.estimate.how}"
    return found


def size(count: int) -> str:
    """Bytes in the unit that fits."""
    value, unit = float(count), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:,.0f} {_UNITS[unit]}" if unit == 0 else f"{value:,.1f} {_UNITS[unit]}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
