"""A file of a command line that the machine cannot read or write is no wrong command line: the error says it."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from corpus_assets.cli.auditing import command as auditing
from corpus_assets.cli.megatron.command import tokenizer_in
from corpus_assets.cli.questions import trace_step
from corpus_assets.cli.questions.packing_plot import save
from corpus_assets.document_lengths import lengths_in
from resources.errors import ConfigError

STATE: Any = SimpleNamespace(state=Path("a.file"), length=None, seed=None, shared=None)
NOBODY: Any = SimpleNamespace(build="")


def drawing() -> None:
    auditing.draw(None, 1, 1, Path(), force=True, as_json=True)


COMMANDS: dict[str, tuple[str, Callable[[], object]]] = {
    "tokenizer": ("reading", lambda: tokenizer_in(Path("a.file"))),
    "state": ("reading", lambda: trace_step._state(STATE)),
    "lengths": ("reading", lambda: lengths_in(Path("a.file"))),
    "plot": ("writing", lambda: save(Path("a.file"), b"")),
    "sheet": ("writing", drawing),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_fault_of_the_machine_is_raised_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.chdir(tmp_path)
    for name in ("read_text", "read_bytes", "write_bytes", "open"):
        monkeypatch.setattr(Path, name, fails)
    monkeypatch.setattr("corpus_assets.cli.auditing.command.Corpus.open", lambda *_: None)
    for name, found in (("_opened", NOBODY), ("drawn", ([], None)), ("csv_of", b"")):
        monkeypatch.setattr(auditing, name, lambda *_, found=found: found)
    doing, ask = COMMANDS[command]
    number = errno.ENOSPC if doing == "writing" else errno.EIO
    with pytest.raises(OSError, match=f"{os.strerror(number)} while {doing}: '"):
        ask()
    number = errno.EACCES
    with pytest.raises(ConfigError, match="Permission denied"):
        ask()
