"""Calls of the programs of a tool in shell files; commands of anything else are named as left out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from corpus_assets.importer.draft import Draft
from corpus_assets.importer.given import Given
from corpus_assets.importer.reading import read_text
from corpus_assets.importer.shell.commands import Command, read_commands
from corpus_assets.importer.shell.options import Options, read_options

_BEFORE = 4
"""Words that may stand before a program: `python -u -m`."""
_PROGRAM = re.compile(r"[./~$]*[A-Za-z][\w./-]*", re.ASCII)
"""What a program can be called; blocks of pages also hold lists of files and what programs print."""
_LONGEST = 80
"""Characters of a command that are shown."""
_SILENT = ("cd", "ls", "echo", "set", "mkdir", "source", "activate", "pwd", "exit", "sleep", "wait", "cat")


class Call(NamedTuple):
    """A call of a program."""

    program: str
    given: Given


def calls(draft: Draft, files: Sequence[Path], programs: Mapping[str, Options], tool: str) -> Iterator[Call]:
    """Yields the calls of known programs in shell files, in order; other commands become reasons.

    programs: what each accepts, by the name of its file without `.py`.
    """
    for file in files:
        label = f"{file.name}, " if len(files) > 1 else ""
        for command in read_commands(read_text(file), str(file)):
            where = f"{label}line {command.line}: "
            if (found := _program(command, programs)) is None:
                if command.is_shell and _PROGRAM.fullmatch(command.words[0]) and command.words[0] not in _SILENT:
                    draft.leave(f"{where}{_in_short(command.words)}", f"no command of {tool}")
                continue
            name, rest = found
            yield Call(name, Given(draft, read_options(rest, programs[name]), f"{where}{name} "))


def _in_short(words: Sequence[str]) -> str:
    """Returns a command in one line, shortened."""
    line = " ".join(" ".join(words).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def _program(command: Command, programs: Mapping[str, Options]) -> tuple[str, tuple[str, ...]] | None:
    for place, word in enumerate(command.words[: _BEFORE + 1]):
        name = PurePath(word).name.removesuffix(".py")
        name = name if name in programs else name.rpartition(".")[2]
        if name in programs:
            return name, command.words[place + 1 :]
    return None
