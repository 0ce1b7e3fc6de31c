"""What lies in folders: all of it, or an error that says which folder cannot be listed."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resources.engine.ray_task import code_digest
from resources.outside.looking import files_below


@pytest.fixture
def top(tmp_path: Path) -> Path:
    for name in ("a.txt", "lists/a.txt", "lists/deep/er/a.txt", "lists/.hidden/a.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "linked").symlink_to(tmp_path / "lists")
    (tmp_path / "lists/to.txt").symlink_to(tmp_path / "a.txt")
    (tmp_path / "lists/gone.txt").symlink_to(tmp_path / "nowhere")
    return tmp_path


def test_files_below_a_folder_are_those_of_python(top: Path) -> None:
    assert files_below(top) == sorted(path for path in top.rglob("*") if not path.is_dir())


@pytest.mark.parametrize("kind", [PermissionError, OSError])
def test_a_folder_that_cannot_be_listed_is_not_one_without_files(
    top: Path, monkeypatch: pytest.MonkeyPatch, kind: type[OSError]
) -> None:
    def failing(real: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def listed(place: Any = ".") -> Any:
            if Path(os.fspath(place)).name in ("deep", "cli"):
                raise kind(errno.EIO, os.strerror(errno.EIO), str(place))
            return real(place)

        return listed

    for name in ("listdir", "scandir"):
        monkeypatch.setattr(os, name, failing(getattr(os, name)))
    code_digest.cache_clear()
    looks: list[Callable[[], object]] = [lambda: files_below(top), code_digest]
    for look in looks:
        with pytest.raises(OSError, match="Input/output error"):
            look()
