"""Files in a source's folder that are none of its raw files."""

from pathlib import Path

import pytest

from resources.raw_places.files import FoundFile
from resources.shards.left_out import hidden_folder, is_unread
from resources.shards.listing import Listing, SourceFolder, list_shards


def listed(top: Path, *, hidden: bool = False, form: str = "auto") -> Listing:
    return list_shards([SourceFolder("s", str(top), ("**/*",), form, hidden=hidden)], lambda *_: [])


def lay(top: Path, *paths: str) -> None:
    for path in paths:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text('{"text": "a"}')


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        (".snapshot/hourly.0/a.jsonl", ".snapshot"),
        ("2024/.ipynb_checkpoints/a.jsonl", "2024/.ipynb_checkpoints"),
        ("out/_temporary/0/.part/a.jsonl", "out/_temporary"),
        ("__MACOSX/a.jsonl", "__MACOSX"),
        ("table/_delta_log/0.json.gz", "table/_delta_log"),
        ("_2024/a.jsonl", None),
        ("dir.name/a.jsonl", None),
        ("a/.hidden.jsonl", None),
        ("../a.jsonl", None),
    ],
)
def test_folders_that_are_hidden(path: str, folder: str | None) -> None:
    assert hidden_folder(path) == folder


@pytest.mark.parametrize("form", ["auto", "jsonl"])
def test_hidden_folders_are_passed_over_with_one_note_each_and_read_if_asked(tmp_path: Path, form: str) -> None:
    lay(tmp_path, "a.jsonl", "_b/c.jsonl", ".old/a.jsonl", ".old/deep/b.jsonl", "x/_temporary/0/p.jsonl", ".one.jsonl")
    found = listed(tmp_path, form=form)
    assert [shard.path for shard in found.shards] == ["_b/c.jsonl", "a.jsonl"]
    assert dict(found.ignored) == {
        "s/.one.jsonl": "hidden file",
        "s/.old/": "hidden folder, 2 files in it are passed over (`hidden: true` reads them)",
        "s/x/_temporary/": "a system's own folder, 1 files in it are passed over (`hidden: true` reads them)",
    }
    every = listed(tmp_path, hidden=True, form=form)
    assert (len(every.shards), every.ignored) == (6, ())


def test_a_location_may_be_hidden_itself(tmp_path: Path) -> None:
    lay(tmp_path, ".data/_temporary/a.jsonl")
    assert len(listed(tmp_path / ".data" / "_temporary").shards) == 1


def test_files_that_may_have_been_meant_are_counted(tmp_path: Path) -> None:
    lay(tmp_path, "a.jsonl", "b.jsonlines", "c.doc", "README.md", "LICENSE", "_SUCCESS", "a.jsonl.crc", ".d.jsonlines")
    unread = listed(tmp_path).unread["s"]
    assert (unread.files, unread.bytes) == (2, 26)
    assert "unknown suffix" in unread.example
    assert "s" not in listed(tmp_path, form="jsonl").unread
    assert is_unread(FoundFile("x/SHA256SUMS.bin", 1, "", None)) is False
    assert is_unread(FoundFile("x/readings.data", 1, "", None)) is True
