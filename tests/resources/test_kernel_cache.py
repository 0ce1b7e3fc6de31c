"""Compiled code is written whole or not at all."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from resources.kernel_cache import KernelCache

CODE = SimpleNamespace(lifted=(), library=SimpleNamespace(has_dynamic_globals=False), _reduce=lambda: ("code",))


def test_code_that_cannot_be_put_in_its_place_leaves_nothing(tmp_path: Path) -> None:
    cache = KernelCache("one", tmp_path)
    cache.file(()).mkdir()
    cache.save_overload((), CODE)
    assert list(tmp_path.iterdir()) == [cache.file(())]
    cache.file(()).rmdir()
    cache.save_overload((), CODE)
    assert [path.is_file() for path in tmp_path.iterdir()] == [True]


def test_a_folder_that_cannot_be_entered_holds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exists(path: Path) -> bool:  # as for a user who is not root
        raise PermissionError(path)

    cache = KernelCache("one", tmp_path)
    cache.save_overload((), CODE)
    assert cache.holds(())
    monkeypatch.setattr(Path, "exists", exists)
    assert not cache.holds(())
