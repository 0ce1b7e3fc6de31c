"""Commands in shell text: words by the rules of a shell, with literal variables and `for` loops written out."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from corpus_assets.importer.shell.lines import Line, logical_lines
from resources.errors import ConfigError

MOST_COMMANDS, MOST_CHARACTERS = 10_000, 65_536
LONGEST_LINE = 20_000
"""Characters of a line with its continuations; time grows with the square of them."""
_ENDS = re.compile(r"[;&|()]+")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$\{(\w+)([+-]\d+)?\}|\$([A-Za-z_]\w*)")
_ARITHMETIC = re.compile(r"\$\(\(\s*\$?(\w+)\s*([+-])\s*(\d+)\s*\)\)")
_SUBSTITUTION = re.compile(r"\$\([^()]*\)|`[^`]*`")
_RANGE = re.compile(r"(.*)\{(\d+)\.\.(\d+)\}(.*)")
_CHOICE = re.compile(r"([^{}]*)\{([^{},]*(?:,[^{},]*)+)\}(.*)")
_REDIRECTION = re.compile(r"(\d*>>?|&>|<)")
_KEYWORDS = ("elif", "if", "while", "fi", "done", "export", "time", "nohup", "sudo", "exec")


class Command(NamedTuple):
    """A command: its words, and the line on which it begins."""

    line: int
    words: tuple[str, ...]
    is_shell: bool = True
    """False if it may be no command, as in a code block of no stated language."""


def read_commands(text: str, file: str) -> list[Command]:
    """Returns the commands of a script, or of the code blocks of a page, in order; nothing is run.

    `ConfigError` for a quote without an end, for more than `MOST_COMMANDS` commands or words of one after loops and
    braces are written out, and for a value of more than `MOST_CHARACTERS`.
    """
    lines = list(islice(logical_lines(text, file), MOST_COMMANDS + 1))
    if len(lines) > MOST_COMMANDS:
        raise ConfigError(f"{file}: line {lines[-1].number}: more than {MOST_COMMANDS:,} lines of a shell; give fewer")
    parts = [part for line in lines for part in _parts(line, file)]
    try:
        return list(_Run().commands(parts, {}))
    except _TooMuchError as error:
        raise ConfigError(f"{file}: {error}") from None


class _TooMuchError(ValueError):
    """What loops, braces or variables give has no reasonable size."""


def _parts(line: Line, file: str) -> Iterator[Command]:
    """Yields the simple commands of a line, keywords of loops included."""
    if len(line.text) > LONGEST_LINE:
        if not line.is_shell:
            return
        raise ConfigError(f"{file}: line {line.number}: {len(line.text):,} characters; valid: at most {LONGEST_LINE:,}")
    text = _ARITHMETIC.sub(r"${\1\2\3}", line.text)
    text = _SUBSTITUTION.sub("$OUTPUT_OF_A_COMMAND", text)
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|()")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError as error:
        if not line.is_shell:
            return
        raise ConfigError(f"{file}: line {line.number}: cannot be read as a line of a shell: {error}") from None
    part: list[str] = []
    for word in [*_without_redirections(words), ";"]:
        if not part and word in ("do", "then", "else"):
            continue
        if not _ENDS.fullmatch(word):
            part.append(word)
        elif part:
            yield Command(line.number, tuple(part), line.is_shell)
            part = []


def _without_redirections(words: Sequence[str]) -> Iterator[str]:
    rest = iter(words)
    for word in rest:
        if _REDIRECTION.fullmatch(word):
            if next(rest, "") == "&":  # 2>&1 has three words here.
                next(rest, None)
        elif not re.match(r"\d*>>?[^>]|<[^>]*$", word):
            yield word


class _Run:
    """Writes out loops, braces and variables, up to a limit for all together."""

    def __init__(self) -> None:
        self.steps = 0

    def commands(self, parts: Sequence[Command], known: Mapping[str, str]) -> Iterator[Command]:
        """Yields commands with the values of their variables; a loop gives its own once for each of its words."""
        values, place = dict(known), 0
        while place < len(parts):
            line, words, is_shell = parts[place]
            self.steps += 1
            if self.steps > MOST_COMMANDS:
                raise _TooMuchError(f"line {line}: more than {MOST_COMMANDS:,} commands; write out fewer")
            if words[0] == "for" and len(words) > 3 and words[2] == "in":
                end = _end_of_loop(parts, place)
                for word in _all_written_out(words[3:], values, line):
                    yield from self.commands(parts[place + 1 : end], {**values, words[1]: word})
                place = end
            while words and words[0] in _KEYWORDS:
                words = words[1:]
            while words and words[0] != "for" and (match := _ASSIGNED.fullmatch(words[0])):
                values[match[1]] = _filled(match[2], values, line)
                words = words[1:]
            if words and words[0] != "for":
                yield Command(line, tuple(_all_written_out(words, values, line)), is_shell)
            place += 1


def _all_written_out(words: Sequence[str], values: Mapping[str, str], line: int) -> list[str]:
    every = (one for word in words for one in _written_out(_filled(word, values, line)))
    found = list(islice(every, MOST_COMMANDS + 1))
    if len(found) > MOST_COMMANDS:
        raise _TooMuchError(f"line {line}: more than {MOST_COMMANDS:,} words; write out fewer")
    return found


def _end_of_loop(parts: Sequence[Command], start: int) -> int:
    depth = 0
    for place in range(start, len(parts)):
        depth += (parts[place].words[0] == "for") - (parts[place].words[0] == "done")
        if depth == 0:
            return place
    return len(parts)


def _filled(word: str, values: Mapping[str, str], line: int) -> str:
    found = _VARIABLE.sub(lambda match: _value(match, values), word)
    if len(found) > MOST_CHARACTERS:
        raise _TooMuchError(f"line {line}: a value of more than {MOST_CHARACTERS:,} characters")
    return found


def _value(match: re.Match[str], values: Mapping[str, str]) -> str:
    """Returns the value of a variable, with a number added; what was written if it is not known."""
    value = values.get(match[1] or match[3])
    if value is None or not match[2]:
        return match[0] if value is None else value
    return str(int(value) + int(match[2])) if re.fullmatch(r"\d{1,15}", value) else match[0]


def _written_out(word: str) -> Iterator[str]:
    """Yields the words that `{1..3}` and `{a,b}` stand for."""
    if match := _RANGE.fullmatch(word):
        first, last = int(match[2]), int(match[3])
        if abs(last - first) < MOST_COMMANDS:
            yield from (f"{match[1]}{n}{match[4]}" for n in range(first, last + 1))
            return
    if (match := _CHOICE.fullmatch(word)) and "$" not in match[1][-1:]:
        for one in match[2].split(","):
            yield from (f"{match[1]}{one}{rest}" for rest in _written_out(match[3]))
        return
    yield word
