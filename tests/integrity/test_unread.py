"""What a check says of files that it could not read: whether they are damaged, or the machine failed."""

import errno
from importlib import import_module
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import patch

import pytest

from corpus_assets.export import file_faults as exported
from corpus_assets.export.texts import file_faults as of_texts
from corpus_assets.faults import unread
from corpus_assets.tokenize import file_faults as of_rows
from corpus_assets.verification import verify
from corpus_assets.verification.verify import Unread
from resources.errors import DamagedFileError, StoreAccessError

PLACED = OSError(errno.EIO, "Input/output error while reading", "exports/a.parquet")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PLACED, "cannot be read now: exports/a.parquet: Input/output error while reading"),
        (StoreAccessError("the store answers SlowDown"), "cannot be read now: the store answers SlowDown"),
        (MemoryError(), "cannot be read now: MemoryError"),
        (OSError("no HDF5 signature"), "cannot be read: no HDF5 signature"),
        (DamagedFileError("a", "b", "path", "is cut"), "cannot be read: a/b: path: is cut"),
        (KeyError("units"), "cannot be read: 'units'"),
    ],
)
def test_a_fault_of_the_machine_says_nothing_of_the_file(error: Exception, words: str) -> None:
    assert unread(error) == words


@pytest.mark.parametrize(
    ("error", "words"),
    [(PLACED, "Input/output error while reading"), (MemoryError("zstd"), "zstd"), (MemoryError(), "MemoryError")],
)
def test_a_file_for_which_there_is_no_memory_is_unread_and_not_bad(error: Exception, words: str) -> None:
    file: Any = SimpleNamespace(path="a", digest="", stored="")
    record: Any = SimpleNamespace(asset="asset", partition="one", files=[file], counters={})
    with patch.object(verify, "fault_of", side_effect=error):
        assert [*verify._damage(cast(Any, SimpleNamespace(from_store=None)), record)] == [
            Unread("asset", "one", "a", f"cannot be read now: {words}")
        ]


@pytest.mark.parametrize(("error", "words"), [(MemoryError(), "gets no more memory"), (MemoryError("zstd"), "zstd")])
def test_a_command_without_memory_says_so(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], error: MemoryError, words: str
) -> None:
    def fails() -> None:
        raise error

    command = import_module("corpus_assets.cli.main")
    monkeypatch.setattr(command, "app", fails)
    monkeypatch.setattr(command, "_leave_scripts_aside", lambda: None)
    for name in ("corpus_assets.cli.interrupts.heed_all_interrupts", "resources.processes.collector.calm_collector"):
        monkeypatch.setattr(name, lambda: None)
    with pytest.raises(SystemExit, match="1"):
        command.main()
    assert words in capfd.readouterr().err


def test_checks_of_all_kinds_of_files_say_so() -> None:
    made: Any = SimpleNamespace(key="chunk-0000", name="a", asset="a", partition="chunk-0000", storage=None)
    said = [f"chunk-0000: {unread(PLACED)}"]
    with patch.object(of_rows, "_faults", side_effect=PLACED):
        assert of_rows.faults_of(made, {}, made) == said
    for module, more in ((exported, ()), (of_texts, (made, {"chunk-0000": made}))):
        with (
            patch.object(module, "_faults", side_effect=PLACED),
            patch.object(module, "Partition", lambda *_, **__: made),
        ):
            assert module.faults_of(made, made, *more) == said
