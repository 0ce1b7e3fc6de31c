"""`corpus check-windows`: what it calls bad, in which words, and its exit code."""

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.export.amber import check
from tests.golden import shared

GOOD = b'{"token_ids": [1, 2, 3], "source": "a"}\n'


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["check-windows", *arguments])
    return done.exit_code, done.stdout


def test_good_files_pass(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(GOOD * 3)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(GOOD))
    (tmp_path / "empty.jsonl").write_bytes(b"")
    files = [str(tmp_path / name) for name in ("a.jsonl", "b.jsonl.gz", "empty.jsonl")]
    code, said = run(*files, "--length", "3", "--vocabulary", "4", "--with-source")
    assert code == 0
    assert said.splitlines() == [f"{file}: {lines} lines, 0 bad" for file, lines in zip(files, (3, 1, 0), strict=True)]


def test_a_file_that_is_not_there_is_said_in_words(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["check-windows", str(tmp_path / "none.jsonl")])
    assert done.exit_code == 1
    assert done.stderr == f"failed {tmp_path}/none.jsonl: No such file or directory\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"", "Bad line: 2"),
        (b'{"token_ids": [1, 2', "Bad line: 2"),
        (b'{"token_ids": [1, NaN, 3]}', "Bad line: 2"),
        (b"\xff\xfe", "Bad line: 2"),
        (b"[" * 100_000, "Bad line: 2"),
        (b"[1, 2, 3]", "Bad line: 2"),
        (b'{"token_ids": [1, 2]}', "Bad length at 2: 2"),
        (b'{"token_ids": []}', "Bad length at 2: 0"),
        (b'{"source": "a"}', "No token_ids at 2"),
        (b'{"token_ids": [1, 2, true]}', "Bad token_ids at 2: Expected `int`, got `bool` - at `$[2]`"),
        (b'{"token_ids": [1, 2, 3.5]}', "Bad token_ids at 2: Expected `int`, got `float` - at `$[2]`"),
        (b'{"token_ids": [1, 2, 3], "source": "a"} {}', "Bad line: 2"),
        (b'{"token_ids": "x", "source": "a"', "Bad line: 2"),
        (b'{"token_ids": "1, 2, 3"}', "Bad token_ids at 2: Expected `array`, got `str`"),
        (b'{"token_ids": null}', "Bad token_ids at 2: Expected `array`, got `null`"),
        (b'{"token_ids": [1, -2, 3]}', "Bad id at 2: -2"),
        (b'{"token_ids": [1, 2, 9]}', "Bad id at 2: 9"),
        (b'{"token_ids": [1, 2, 3], "source": 7}', "Bad source at 2: no text"),
        (b'{"token_ids": [1, 2, 3]}', "No source at 2"),
    ],
)
def test_a_bad_line_is_named_and_the_others_are_read(tmp_path: Path, line: bytes, words: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(GOOD + line + b"\n" + GOOD)
    code, said = run(str(file), "--length", "3", "--vocabulary", "9", "--with-source")
    assert code == 1
    first, last = said.splitlines()
    assert first == words
    assert last == f"{file}: 3 lines, 1 bad: [2]"


def test_a_line_without_end_takes_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "LONGEST_LINE", 64)
    file = tmp_path / "a.jsonl"
    file.write_bytes(GOOD + b"x" * 1000 + b"\n" + GOOD + b"y" * 64)
    code, said = run(str(file), "--length", "3")
    assert code == 1
    assert said.splitlines()[-1] == f"{file}: 4 lines, 2 bad: [2, 4]"


def test_a_file_that_cannot_be_read_does_not_end_the_others(tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(GOOD * 1000)[:-9])
    (tmp_path / "a.jsonl").write_bytes(GOOD)
    code, said = run(*(str(tmp_path / name) for name in ("none.jsonl", "cut.jsonl.gz", "a.jsonl")), "--length", "3")
    assert code == 1
    assert f"{tmp_path / 'a.jsonl'}: 1 lines, 0 bad" in said


def test_samples_of_amber_are_judged_as_by_its_program() -> None:
    folder = shared("golden", "amber", "validate")
    expected = json.loads((folder / "expected.json").read_bytes())
    for name, found in expected.items():
        if isinstance(found, dict):
            code, said = run(str(folder / f"{name}.gz"), "--length", str(expected["expected_length"]))
            assert code == bool(found["failed"])
            bad = f": {found['failed']}" if found["failed"] else ""
            assert said.splitlines()[-1].endswith(f"{found['lines']} lines, {len(found['failed'])} bad{bad}")
            assert len(said.splitlines()) == len(found["failed"]) + 1
