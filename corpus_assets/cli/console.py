"""Helpers that the commands share: printing, and turning a selection into stages."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

if TYPE_CHECKING:
    from corpus_assets.corpus import Corpus
    from resources.stage.declaration import Stage

FAILED, USAGE, NOT_FRESH, INTERRUPTED = 1, 2, 3, 130
MAX_SHOWN = 20
_FILE_WIDTH = 240


def errors() -> Console:
    """Returns the console for messages and progress: standard error."""
    return Console(stderr=True)


def output() -> Console:
    """Returns a console on standard output; in a file or a pipe its lines are wide, so that nothing is cut off."""
    return Console() if sys.stdout.isatty() else Console(width=_FILE_WIDTH)


def print_json(value: Any) -> None:
    """Prints one JSON object on a line of its own."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def print_notes(out: Console, notes: Sequence[str]) -> None:
    """Prints notes, one per line, up to a limit."""
    for note in notes[:MAX_SHOWN]:
        out.print(f"note: {note}", markup=False, highlight=False)
    if len(notes) > MAX_SHOWN:
        out.print(f"... and {len(notes) - MAX_SHOWN} more")


def selected(corpus: Corpus, select: Sequence[str] | None) -> list[Stage]:
    """Returns the stages that `--select` names, by default all; a comma separates names too."""
    names = [name for entry in select or [] for name in entry.split(",") if name]
    return corpus.graph.select(names) if names else list(corpus.graph)
