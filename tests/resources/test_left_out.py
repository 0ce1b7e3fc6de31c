"""Files in a source's folder that are none of its raw files."""

from pathlib import Path

import pytest

from resources.raw_places.files import FoundFile
from resources.shards.left_out import hidden_folder, is_unread, suffix_of, unknown_suffix
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


def test_files_of_one_unknown_suffix_are_one_note_with_the_key_that_reads_them(tmp_path: Path) -> None:
    lay(
        tmp_path, *(f"{n:03}.jsonlines" for n in range(100)), "x/one.json", "b.tar.gz", "c.zip", "notes", "part-0.00001"
    )
    notes = dict(listed(tmp_path).ignored)
    assert notes == {
        "s/000.jsonlines": "unknown suffix .jsonlines, passed over (`format: jsonl` reads files of any name); "
        "so are 99 more files with .jsonlines",
        "s/x/one.json": "unknown suffix .json, passed over (`format: jsonl` reads files of any name)",
        "s/b.tar.gz": "unknown suffix .tar.gz, passed over (archives are not read: unpack them)",
        "s/c.zip": "unknown suffix .zip, passed over (archives are not read: unpack them)",
        "s/notes": "unknown suffix, passed over (`format` reads files of any name: jsonl, parquet, txt and others); "
        "so are 1 more files",
    }


@pytest.mark.parametrize(
    ("path", "suffix", "reads"),
    [
        ("a.JSON", ".json", "format: jsonl"),
        ("a.csv.br", ".csv.br", "format: csv"),
        ("a/b.tab", ".tab", "format: tsv"),
        ("v1.2.parq", ".parq", "format: parquet"),
        ("x.ipc", ".ipc", "format: arrow"),
        ("CC.wet.gz", ".wet.gz", "format: warc.wet"),
        ("CC.warc.gz2", ".warc.gz2", "format: warc"),
        ("a.text", ".text", "format: txt"),
        ("data.xyz", ".xyz", "`format` reads"),
        (".env", "", "`format` reads"),
        ("part-00000", "", "`format` reads"),
    ],
)
def test_a_suffix_that_speaks_of_a_format_has_its_key(path: str, suffix: str, reads: str) -> None:
    assert suffix_of(path) == suffix
    assert reads in unknown_suffix(path)


def test_many_suffixes_are_few_notes(tmp_path: Path) -> None:
    lay(tmp_path, *(f"a.x{n}" for n in range(50)))
    notes = listed(tmp_path).ignored
    assert len(notes) == 21
    assert sum("so are 29 more files" in why for _, why in notes) == 1
