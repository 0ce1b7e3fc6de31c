"""Helpers that the commands share: printing, and turning a selection into stages."""

from __future__ import annotations

import ipaddress
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from corpus_assets.corpus.corpus import Corpus
    from corpus_assets.orchestration.freshness.causes import Causes
    from resources.stage.declaration import Stage

FAILED, USAGE, NOT_FRESH, INTERRUPTED = 1, 2, 3, 130
MAX_SHOWN = 20
_FILE_WIDTH = 240


def errors() -> Console:
    """Returns the console for messages and progress: standard error. Text is printed without markup."""
    return _console(stderr=True)


def output() -> Console:
    """Returns a console on standard output; in a file or a pipe its lines are wide, so that nothing is cut off.

    Text is printed without markup, because names of files and tokens may look like markup of rich.
    """
    return _console() if sys.stdout.isatty() else _console(width=_FILE_WIDTH)


def _console(*, stderr: bool = False, width: int | None = None) -> Console:
    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


def print_line(out: Console, text: str, title: str = "") -> None:
    """Prints one line after a red title; only a terminal wraps it."""
    out.print(Text.assemble((title, "red"), " " if title else "", text), soft_wrap=True)


def print_json(value: Any) -> None:
    """Prints one JSON object on a line of its own."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def print_notes(out: Console, notes: Sequence[str], kind: str = "note") -> None:
    """Prints notes, or other lines of one kind, up to a limit."""
    for note in notes[:MAX_SHOWN]:
        print_line(out, f"{kind}: {note}")
    if len(notes) > MAX_SHOWN:
        out.print(f"... and {len(notes) - MAX_SHOWN} more")


def print_causes(out: Console, why: Causes) -> None:
    """Prints each cause of waiting once: closed gates, then present failures, up to a limit."""
    for gate, count in why.gates.items():
        print_line(out, f"{gate}; {count:,} partitions wait for it", "stop")
    for name, words in list(why.failed.items())[:MAX_SHOWN]:
        print_line(out, f"{name} {words}", "failed")
    if len(why.failed) > MAX_SHOWN:
        out.print(f"... and {len(why.failed) - MAX_SHOWN} more")


def warn_of_open_door(host: str, *, runs: bool = True) -> None:
    """Warns that pages have no login if other machines can reach them. runs: whether runs can be started from them."""
    try:
        local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = False
    if not local:
        can = "read the corpus and start runs on this machine" if runs else "read the corpus"
        print_line(errors(), f"warning: the web UI has no login; who reaches {host} can {can}")


def selected(corpus: Corpus, select: Sequence[str] | None) -> list[Stage]:
    """Returns the stages that `--select` names, by default all; a comma separates names too.

    `ConfigError` for an empty name: a variable of a script that is not set must not select everything.
    """
    if not select:
        return list(corpus.graph)
    return corpus.graph.select([name.strip() for entry in select for name in entry.split(",")])
