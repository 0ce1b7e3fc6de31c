"""Text of unknown origin as Markdown that is shown literally, never interpreted."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

_LONGEST = 300
_SIGNS = frozenset("\\`*_[]<>|#~")


def code(text: str) -> str:
    """Returns one line as code."""
    return f"`{' '.join(text.split())[:_LONGEST].replace('`', chr(39))}`"


def code_list(lines: Iterable[str]) -> str:
    """Returns a list of lines as code."""
    return "\n".join(f"- {code(line)}" for line in lines)


def fenced(text: str, language: str) -> str:
    """Returns text of many lines as code."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Returns a table, its numbers with thousands apart and at the right."""
    lines = [[_cell(value) for value in row] for row in rows]
    rule = ["---:" if all(_is_number(line[n]) for line in lines) else "---" for n in range(len(heads))]
    return "\n".join(f"| {' | '.join(line)} |" for line in ([_cell(head) for head in heads], rule, *lines))


def _cell(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = "" if value is None else " ".join(str(value).split())[:_LONGEST]
    return "".join(f"\\{sign}" if sign in _SIGNS else sign for sign in text)


def _is_number(cell: str) -> bool:
    return cell[:1].isdigit() or cell in ("", "–")
