"""What `corpus init` cannot use gets a sentence, and nothing is written."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock, Mock

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.beginning.looking import look, rows
from corpus_assets.beginning.looking.copies import copies_in
from corpus_assets.beginning.looking.values import begun_object
from corpus_assets.beginning.tokenizers import tokenizer_named
from corpus_assets.beginning.writing import write_whole
from corpus_assets.config.datasets.files import Files
from resources.errors import BadFileError, ConfigError, StorageError
from resources.raw_places import RawPlace
from resources.raw_places.files import FoundFile
from tests.beginning.starts import begin, begun, prose, refused, write_jsonl
from tests.beginning.starts import rows as documents
from tests.failing import failing
from tests.house import TOP

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def out(folder: Path) -> Path:
    return folder / "out/corpus.yaml"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert "is not there; valid: a folder" in refused(tmp_path / "raw", out(tmp_path))


def test_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "raw/deep").mkdir(parents=True)
    assert "has no files; nothing was written" in refused(tmp_path / "raw", out(tmp_path))


def test_a_folder_of_files_without_bytes(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    for name in ("a.jsonl", "b.txt"):
        (tmp_path / "raw" / name).touch()
    assert "empty: 2 files without bytes: a.jsonl, b.txt" in refused(tmp_path / "raw", out(tmp_path))


def test_a_folder_of_pictures_is_folded(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    for number in range(300):
        (tmp_path / f"raw/{number:03}.png").write_bytes(PNG)
    message = refused(tmp_path / "raw", out(tmp_path))
    assert "has no file that can be read, so nothing was written" in message
    assert "begins like image/png" in message
    assert message.count("\n") <= 6


def test_a_picture_with_the_name_of_rows_is_a_picture(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "raw/good.jsonl", documents(5))
    (tmp_path / "raw/picture.jsonl").write_bytes(PNG)
    (tmp_path / "raw/list.jsonl").write_text("[1]\n[2]\n")
    said = begin(tmp_path / "raw", out(tmp_path)).output
    assert "binary: picture.jsonl: begins like image/png" in said
    assert "bad_rows: list.jsonl: line 1: not_an_object" in said


def test_the_message_of_a_large_window_names_the_key(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "raw/good.jsonl", documents(5))
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=28)
    packed = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    (tmp_path / "raw/wide.jsonl.zst").write_bytes(packed.compress(b'{"text": "a"}\n') + packed.flush())
    assert "(`largest_window` of its source allows more)" in begin(tmp_path / "raw", out(tmp_path)).output


def test_an_unreadable_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rights of a folder do not keep the superuser out, so the system's answer is made here."""
    (tmp_path / "raw").mkdir()
    scan = os.scandir

    def denied(path: object) -> object:
        if str(path).endswith("raw"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", denied)
    assert "cannot be listed: Permission denied" in refused(tmp_path / "raw", out(tmp_path))


def test_a_folder_below_that_the_machine_cannot_list_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in it would be missing in corpus.yaml, although nothing is wrong with it."""
    for name in ("2024-01", "2024-02"):
        write_jsonl(tmp_path / f"raw/web/{name}/a.jsonl", documents(4))
    failing(monkeypatch, "scandir", "2024-02")
    said = refused(tmp_path / "raw", out(tmp_path))
    assert said.endswith("raw/web/2024-02' cannot be listed: Input/output error")
    assert not out(tmp_path).exists()


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES])
def test_settings_beside_a_tokenizer_that_the_machine_cannot_read_are_not_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "tokenizer_config.json").write_text('{"chat_template": "x"}')
    assert tokenizer_named(str(tmp_path)).has_template
    monkeypatch.setattr(Path, "read_text", Mock(side_effect=OSError(number, os.strerror(number))))
    if number == errno.EACCES:
        assert not tokenizer_named(str(tmp_path)).has_template
        return
    with pytest.raises(StorageError, match=r"^--tokenizer: .*cannot be read now: Input/output error"):
        tokenizer_named(str(tmp_path))
    failing(monkeypatch, "stat", "chat_template.jinja")
    with pytest.raises(OSError, match="Input/output error"):
        tokenizer_named(str(tmp_path))


def test_files_that_the_machine_cannot_compare_are_not_taken_for_different() -> None:
    raw = MagicMock()
    raw.__enter__.return_value.read.side_effect = OSError(errno.EIO, os.strerror(errno.EIO))
    files = [FoundFile(name, 9, "1", None) for name in ("a.jsonl", "b.jsonl")]
    with pytest.raises(StorageError, match=r"a\.jsonl: cannot be read now: Input/output error"):
        copies_in(Mock(open=lambda *_: raw), files)
    gone = Mock(side_effect=BadFileError("a.jsonl", "cannot be read: No such file or directory"))
    assert copies_in(Mock(open=gone), files) == []


def test_a_folder_below_that_cannot_be_listed_is_in_no_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("2024-01", "2024-02", "2024-03"):
        write_jsonl(tmp_path / f"raw/web/{name}/a.jsonl", documents(4))
    scan = os.scandir

    def denied(path: object) -> object:
        if str(path).endswith("2024-02"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", denied)
    done = begin(tmp_path / "raw", out(tmp_path))
    assert "unlisted: the folder web/2024-02: Permission denied" in done.stdout
    monkeypatch.undo()
    config = begun(tmp_path / "raw", tmp_path / "again/corpus.yaml")
    assert [one.name for one in config.sources] == ["web"]
    text = out(tmp_path).read_text()
    assert "web/2024-01" in text
    assert "location: " + str(tmp_path / "raw/web/2024-02") not in text
    assert f"location: {tmp_path / 'raw/web'}\n" not in text


def nested(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)


def is_beginning(begun: object, whole: object) -> bool:
    """Whether a value holds nothing but what another one has, of the last text and number only the beginning."""
    if isinstance(begun, dict) and isinstance(whole, dict):
        return all(key in whole and is_beginning(value, whole[key]) for key, value in begun.items())
    if isinstance(begun, list) and isinstance(whole, list):
        return len(begun) <= len(whole) and all(map(is_beginning, begun, whole))
    return begun == whole or json.dumps(whole).strip('"').startswith(str(begun))


def test_a_long_line_with_its_text_in_an_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LONGEST", 1 << 12)
    (tmp_path / "raw").mkdir()
    data = {"kind": "note", "body": "some words " * (1 << 17)}
    (tmp_path / "raw/a.jsonl").write_text(json.dumps({"data": data, "id": "a"}))
    (source,) = begun(tmp_path / "raw", out(tmp_path)).sources
    assert source.text_key == "data.body"


def test_a_long_line_with_its_conversation_in_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LONGEST", 1 << 12)
    (tmp_path / "raw").mkdir()
    turns = [{"role": role, "content": "some words " * (1 << 16)} for role in ("user", "assistant")]
    (tmp_path / "raw/a.jsonl").write_text(json.dumps({"id": "a", "messages": turns}))
    found = begun(tmp_path / "raw", out(tmp_path))
    inputs = [dataset.input for dataset in found.datasets]
    assert [files.messages_key for files in inputs if isinstance(files, Files)] == ["messages"]


@given(st.recursive(st.none() | st.integers() | st.text(max_size=5), nested, max_leaves=12), st.data())
def test_what_is_there_of_a_cut_object_is_what_the_whole_one_has(value: object, data: st.DataObject) -> None:
    text = json.dumps({"key": value, "last": "text"})
    cut = data.draw(st.integers(0, len(text)))
    assert is_beginning(begun_object(text[:cut]), json.loads(text))


def test_a_table_without_rows_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    for name in ("a", "b"):
        lines = "".join(f"{n},{prose(n, 20)} {name}\n" for n in range(5))
        (tmp_path / f"raw/{name}.csv").write_text(f"id,text\n{lines}")
    (tmp_path / "raw/c.csv").write_text("id,text\n")
    (source,) = begun(tmp_path / "raw", out(tmp_path)).sources
    usual = {field: type(source).model_fields[field].default for field in ("on_bad_file", "max_bad_rows")}
    assert {field: getattr(source, field) for field in usual} == usual


@pytest.mark.parametrize("size", [1, 40])
def test_one_long_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """A row that is longer than what is looked at is read to its beginning; a build drops one over its own limit."""
    monkeypatch.setattr(rows, "LONGEST", 1 << 12)
    monkeypatch.setattr(rows, "_LONGEST_READ", 20 << 20)
    (tmp_path / "raw").mkdir()
    text = "some words " * (size << 20 >> 3)
    (tmp_path / "raw/a.jsonl").write_text(json.dumps({"id": "a", "body": text, "n": 1}))
    if size == 1:
        (source,) = begun(tmp_path / "raw", out(tmp_path)).sources
        assert source.text_key == "body"
    else:
        assert "long_row: a.jsonl: its first row has more than 20 MiB" in refused(tmp_path / "raw", out(tmp_path))


MEMORY = """
import re, sys
from pathlib import Path
from corpus_assets.cli.main import main
sys.argv = ["corpus", "init", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    print(end.code)
print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def test_a_line_of_one_gigabyte_takes_little_memory(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    with (tmp_path / "raw/a.jsonl").open("wb") as file:
        file.write(b'{"text": "')
        file.truncate(1 << 30)  # The rest are zeros, which take no space on the disk.
    command = [sys.executable, "-c", MEMORY, str(tmp_path / "raw"), "--output", str(out(tmp_path))]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True)
    code, peak = done.stdout.split()[-2:]
    assert code == "2"
    assert "its first row has more than 256 MiB" in done.stderr
    assert int(peak) < 400 << 10  # KiB
    assert not out(tmp_path).exists()


def test_many_files_are_looked_into_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def noted(place: RawPlace, file: FoundFile, most_bytes: int) -> rows.Sample:
        opened.append(file.path)
        return rows.sample_of(place, file, most_bytes)

    monkeypatch.setattr(look, "sample_of", noted)
    for number in range(3_000):
        (tmp_path / f"raw/{number % 300}").mkdir(parents=True, exist_ok=True)
        (tmp_path / f"raw/{number % 300}/{number:x}.txt").write_text(prose(number, 20))
    config = begun(tmp_path / "raw", out(tmp_path))
    assert [one.name for one in config.sources] == ["raw"]
    assert 0 < len(opened) <= look.MOST_SAMPLED
    said = " ".join(out(tmp_path).read_text().replace("#", "").split())  # Lines break where the path ends.
    assert "3,000 files" in said
    assert f"looked into {look.MOST_SAMPLED}" in said


def test_bad_files_are_named_and_skipped(tmp_path: Path) -> None:
    for number in range(8):
        write_jsonl(tmp_path / f"raw/part-{number}.jsonl", documents(4))
    (tmp_path / "raw/part-3.jsonl").write_bytes(b"\xff\xfe{\0")
    (tmp_path / "raw/half.parquet").write_bytes(b"PAR1 and no more")
    file = out(tmp_path)
    (source,) = begun(tmp_path / "raw", file).sources
    assert source.on_bad_file == "skip"
    for name in ("part-3.jsonl: starts like UTF-16", "half.parquet"):
        assert name in file.read_text()


def test_many_bad_rows_raise_their_limit_with_a_reason(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "raw/a.jsonl", documents(4))
    path.write_text(path.read_text() + "no json\n" * 6)
    (source,) = begun(tmp_path / "raw", out(tmp_path)).sources
    assert source.max_bad_rows > 0.6
    assert "60% of the sampled rows are bad (invalid_json)" in out(tmp_path).read_text()


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "raw/a.jsonl", documents(4))
    file = out(tmp_path)
    file.parent.mkdir()
    file.write_text("mine")
    done = begin(tmp_path / "raw", file)
    assert isinstance(done.exception, ConfigError)
    assert "--force replaces it" in str(done.exception)
    assert file.read_text() == "mine"
    assert begun(tmp_path / "raw", file, "--force").sources


def test_nothing_is_left_of_a_file_that_its_schema_refuses(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        write_whole("sources: [{nme: books}]\n", out(tmp_path), force=False)
    assert list(out(tmp_path).parent.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["--tokenizer", "nowhere.json"], "--tokenizer: 'nowhere.json' is not there"),
        (["--access", "endpoint=http://a"], "--access: goes with s3://bucket/prefix"),
    ],
)
def test_options_that_cannot_be(tmp_path: Path, given: list[str], why: str) -> None:
    write_jsonl(tmp_path / "raw/a.jsonl", documents(4))
    assert why in refused(tmp_path / "raw", out(tmp_path), *given)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("hf://name", "hf://datasets/org/name"),
        ("ftp://host/file", "ftp: is not read"),
        ("https://user:secret@host/list.txt", "without user name"),
        ("s3:///prefix", "bucket"),
    ],
)
def test_addresses_that_cannot_be(tmp_path: Path, place: str, why: str) -> None:
    message = refused(place, out(tmp_path))
    assert why in message
    assert "secret" not in message


def test_keys_of_the_object_store_are_those_of_its_section(tmp_path: Path) -> None:
    assert "valid: KEY=VALUE" in refused("s3://bucket/a", out(tmp_path), "--access", "endpoint")
    assert "secret" not in refused("s3://bucket/a", out(tmp_path), "--access", "secret_key=secret").replace(
        "secret_key", ""
    )


def test_folders_in_folders_in_folders(tmp_path: Path) -> None:
    """Deeper than Python calls itself."""
    path = tmp_path / "raw"
    path.mkdir()
    here = os.open(path, os.O_RDONLY)
    for _ in range(1_200):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    file = os.open("a.jsonl", os.O_WRONLY | os.O_CREAT, dir_fd=here)
    os.write(file, b"".join(json.dumps(row).encode() + b"\n" for row in documents(4)))
    os.close(file)
    os.close(here)
    try:
        (source,) = begun(path, out(tmp_path)).sources
    finally:
        subprocess.run(["rm", "-rf", str(path)], check=True)  # What cleans up after tests calls itself.
    assert source.text_key == "text"


def test_an_array_is_told_from_lines(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw/a.json").write_text(json.dumps(documents(4)))
    assert "json: a.json: is one JSON array; valid is one object per line (`jq -c" in refused(
        tmp_path / "raw", out(tmp_path)
    )
