"""The memory that a build shows: without what cannot be looked at."""

import errno

import psutil
import pytest

from corpus_assets.cli.build.memory import resident


def test_a_machine_that_does_not_say_how_much_memory_a_process_holds_ends_no_build(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert resident() > 0

    def fails(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files", "/proc/1/stat")

    for name in ("memory_info", "children", "__init__"):
        monkeypatch.setattr(psutil.Process, name, fails)
        assert resident() == 0
