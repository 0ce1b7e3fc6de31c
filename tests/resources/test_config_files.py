"""Small files and models outside the store: a fault of one names its key, a fault of the machine is none of theirs."""

import errno
from pathlib import Path

import pytest

from resources.config_files import held_in, matching, read_outside
from resources.errors import ConfigError, StorageError
from resources.outside_files import OutsideFile, outside_digest
from tests.failing import failing


@pytest.fixture
def top(tmp_path: Path) -> Path:
    for name in ("lists/a/one.txt", "lists/b/two.txt", "three.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize(
    ("number", "kind", "said"),
    [(errno.EIO, StorageError, ": cannot be read now"), (errno.EACCES, ConfigError, " cannot be read")],
)
def test_a_pattern_is_not_answered_with_some_of_its_files(
    top: Path, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[Exception], said: str
) -> None:
    """A folder without rights was passed over, and what its lists name stayed in the output."""
    pattern = str(top / "lists/*/*.txt")
    names = [f"{top}/lists/a/one.txt", f"{top}/lists/b/two.txt"]
    assert list(matching("remove.location", pattern)) == names
    for call in ("scandir", "listdir"):  # Versions of Python differ in which one they call.
        failing(monkeypatch, call, "b", number)
    with pytest.raises(kind, match=rf"^remove\.location: '.*lists/b'{said}"):
        matching("remove.location", pattern)


def test_a_file_that_the_machine_cannot_look_at_is_not_absent(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(top / "three.txt")
    assert read_outside("key", path, 99) == b"three.txt"
    failing(monkeypatch, "stat", "three.txt")
    with pytest.raises(StorageError, match=r"^key: '.*three.txt': cannot be read now: Input/output error$"):
        read_outside("key", path, 99)
    with pytest.raises(OSError, match="Input/output error"):
        held_in(str(top), ("three.txt",))


@pytest.mark.parametrize(
    ("number", "kind", "said"),
    [(errno.EIO, StorageError, ": cannot be read now"), (errno.EACCES, ConfigError, " cannot be read")],
)
def test_a_folder_is_digested_whole_or_not_at_all(
    top: Path, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[Exception], said: str
) -> None:
    digest = outside_digest("model", [str(top)])
    failing(monkeypatch, "scandir", "b", number)
    with pytest.raises(kind, match=rf"^model: '.*lists/b'{said}"):
        outside_digest("model", [str(top)])
    with pytest.raises(OSError, match=r"lists/b"), OutsideFile(str(top)).copied():
        pass
    monkeypatch.undo()
    assert outside_digest("model", [str(top)]) == digest
