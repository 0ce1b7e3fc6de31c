"""What lies at a path: an error of the machine is raised, and says nothing about what is there."""

from pathlib import Path

import pytest

from resources.outside.looking import files_below, files_like, is_file, is_folder, is_there, real_path
from tests.failing import failing


@pytest.fixture
def top(tmp_path: Path) -> Path:
    for name in ("a/one.txt", "a/.two.txt", "b/c/three.txt", "four.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "link").symlink_to("b")
    (tmp_path / "broken").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path


def named(top: Path, files: list[Path]) -> list[str]:
    return [file.relative_to(top).as_posix() for file in files]


def test_kinds(top: Path) -> None:
    kinds = [(is_there(top / name), is_file(top / name), is_folder(top / name)) for name in ("four.txt", "a", "link")]
    assert kinds == [(True, True, False), (True, False, True), (True, False, True)]
    assert not any(is_there(top / name) for name in ("broken", "loop", "absent", "four.txt/below"))


@pytest.mark.parametrize("ask", [is_there, is_file, is_folder])
def test_an_error_of_the_machine_is_no_answer(top: Path, monkeypatch: pytest.MonkeyPatch, ask: object) -> None:
    failing(monkeypatch, "stat", "four.txt")
    assert callable(ask)
    with pytest.raises(OSError, match=r"Input/output error: '.*four\.txt'"):
        ask(top / "four.txt")


def test_a_path_without_links(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert real_path(top / "link/c") == top.resolve() / "b/c"
    assert real_path(top / "broken") == top.resolve() / "nowhere"
    assert real_path(top / "loop").name == "loop"
    failing(monkeypatch, "lstat", "link")
    with pytest.raises(OSError, match="Input/output error"):
        real_path(top / "link/c")


def test_files_below_a_folder(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert named(top, files_below(top)) == ["a/.two.txt", "a/one.txt", "b/c/three.txt", "broken", "four.txt", "loop"]
    failing(monkeypatch, "scandir", "c")
    with pytest.raises(OSError, match="Input/output error"):
        files_below(top)


@pytest.mark.parametrize(
    "pattern",
    ["*.txt", "*/*.txt", "a/*.t?t", "**/*.txt", "b/**/t*.txt", "[ab]/one.txt", "four.txt", "x/*", "a/../*.txt"],
)
def test_patterns_are_those_of_paths(top: Path, pattern: str) -> None:
    expected = sorted({file for file in top.glob(pattern) if file.is_file()})
    assert files_like(top / pattern) == expected


@pytest.mark.parametrize("pattern", ["*/one.txt", "**/one.txt", "a/*"])
def test_a_folder_that_cannot_be_listed_is_not_an_empty_one(
    top: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    for call in ("scandir", "listdir"):
        failing(monkeypatch, call, top.name if pattern == "*/one.txt" else "a")
    with pytest.raises(OSError, match="Input/output error"):
        files_like(top / pattern)
