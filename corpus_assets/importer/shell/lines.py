"""Logical lines of shell text: in code blocks if there are any, with continuations joined and comments removed."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from resources.errors import ConfigError

_FENCE = re.compile(r"^ {0,3}(```+|~~~+)\s*([\w+-]*)")
_PROMPT = re.compile(r"^\s*\$\s+")
_SHELL = ("bash", "sh", "shell", "console", "zsh", "shell-session")
_NOT_SHELL = ("json", "yaml", "yml", "python", "py", "text", "plain-text", "txt", "toml", "bibtex", "html", "markdown")
_CONTINUED = re.compile(r"\\[ \t]*(#[^\n]*)?\n")


class Line(NamedTuple):
    """A logical line, by the number of its first line in the file."""

    number: int
    text: str
    is_shell: bool
    """False in a code block of no stated language, which may hold anything."""


def logical_lines(text: str, file: str) -> Iterator[Line]:
    """Yields the lines of a script, or of the code blocks of a page that are of no other language.

    A backslash at the end of a line continues it, also before a comment, as pages write it. `ConfigError` if a quote
    has no end.
    """
    for number, block, is_shell in _blocks(text.replace("\r\n", "\n")):
        yield from _of_block(block, number, file, is_shell=is_shell)


def _blocks(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yields blocks of text with the number of their first line, and whether they are shell text.

    Without code blocks all is one block.
    """
    fence, first, found, is_shell = "", 0, False, False
    kept: list[str] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        match = _FENCE.match(line)
        if fence and match and match[1].startswith(fence) and not match[2]:
            if kept:
                yield first, "\n".join(kept), is_shell
            fence = ""
        elif fence and kept is not None:
            kept.append(line)
        elif not fence and match:
            fence, first, found = match[1], number + 1, True
            is_shell = match[2].lower() in _SHELL
            kept = None if match[2].lower() in _NOT_SHELL else []
    if not found:
        yield 1, text, True


def _of_block(block: str, number: int, file: str, *, is_shell: bool) -> Iterator[Line]:
    start, here, quote, place = number, number, "", 0
    parts: list[str] = []
    while place < len(block):
        mark = block[place]
        if not quote and (match := _CONTINUED.match(block, place)):
            parts.append(" ")
            here += 1
            place = match.end()
            continue
        if mark == "\\" and quote != "'" and place + 1 < len(block):
            parts.append(block[place : place + 2])
            here += block[place + 1] == "\n"
            place += 2
            continue
        if not quote and mark == "#" and (not parts or parts[-1][-1:].isspace()):
            place = len(block) if (end := block.find("\n", place)) < 0 else end
            continue
        if mark == "\n" and not quote:
            yield from _line(start, parts, is_shell=is_shell)
            start, parts = here + 1, []
        else:
            parts.append(mark)
        here += mark == "\n"
        if mark in "'\"" and quote in ("", mark):
            quote = "" if quote else mark
        place += 1
    if quote and is_shell:
        raise ConfigError(f"{file}: line {start}: a {quote} has no end")
    if not quote:
        yield from _line(start, parts, is_shell=is_shell)


def _line(number: int, parts: list[str], *, is_shell: bool) -> Iterator[Line]:
    if text := _PROMPT.sub("", "".join(parts)).strip():
        yield Line(number, text, is_shell)
