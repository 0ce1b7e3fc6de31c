"""Files that a source wants by its glob and cannot read by their suffix: told by plan and build, and limited."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.cli import plan
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.raw.losses import Read, unread_files
from resources.shards.left_out import Unread
from tests.build.small import drive, prose
from tests.data.building import open_corpus, write_rows

Said = Callable[..., tuple[int, str]]
SMALL = {"short_documents": {"threshold": 20}, "mix": {"chunks": 1}, "minhash": {"width": 5}}


def opened(folder: Path, *, other: dict[str, Any] | None = None, **books: Any) -> Corpus:
    sources = [{"name": "books", "location": "raw/books", **books}, {"name": "web", "location": "raw/web"}]
    return open_corpus(folder, {"sources": sources, **SMALL, **(other or {})})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for source in ("books", "web"):
        write_rows(
            tmp_path / f"raw/{source}/a.jsonl", [{"id": f"{n}", "text": prose(f"{source}{n}")} for n in range(5)]
        )
    return tmp_path


@pytest.fixture
def said(folder: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    """What `corpus plan` ends with, and what it prints."""

    def run(*, as_json: bool = False) -> tuple[int, str]:
        capsys.readouterr()
        code = plan.run(folder / "corpus.yaml", None, (), as_json=as_json, check=False, every=False)
        return code, capsys.readouterr().out

    return run


def also(folder: Path, *names: str, suffix: str = ".jsonlines") -> None:
    for name in names:
        (folder / f"raw/books/{name}{suffix}").write_bytes((folder / "raw/books/a.jsonl").read_bytes())


def held(corpus: Corpus) -> str:
    """Returns the one reason why nothing of a fresh corpus goes beyond its documents."""
    built = drive(corpus)
    assert (built.failed, built.assets()) == ([], {"inventory", "raw_source", "normalized_documents"})
    (line,) = {line.partition(": ")[2] for line in built.waiting if "held back" in line}
    return line


@pytest.mark.parametrize(
    ("books", "words"),
    [
        ({"glob": "*.josnl"}, "source books: no file in "),
        ({"glob": ["*.x", "y/*"]}, "matches '*.x' or 'y/*' (`may_be_empty: true` goes on without)"),
        (
            {"glob": "*.jsonlines"},
            "that can be read matches '*.jsonlines': 1 passed over, for example books/b.jsonlines: "
            "unknown suffix .jsonlines, passed over (`format: jsonl` reads files of any name)",
        ),
        ({"glob": ".old/*"}, "1 passed over, for example books/.old/: hidden folder, 1 files"),
    ],
)
def test_plan_says_what_the_build_refuses(folder: Path, said: Said, books: dict[str, Any], words: str) -> None:
    also(folder, "b")
    write_rows(folder / "raw/books/.old/a.jsonl", [{"text": "a"}])
    corpus = opened(folder, **books)
    code, out = said()
    assert (code, out.partition("source")[0]) == (1, "stop normalized_documents is held back: ")
    assert words in " ".join(out.splitlines()[0].split())
    assert words in held(corpus)
    code, out = said(as_json=True)
    assert code == 1 and any(words in reason for reason in json.loads(out)["held_back"])
    opened(folder, **books, may_be_empty=True)
    assert said()[0] == 0


def test_most_files_passed_over_hold_back_and_a_format_or_a_glob_goes_on(folder: Path, said: Said) -> None:
    also(folder, "b", "c", "d")
    found = (
        "source books: 3 of 4 files passed over, more than max_bad_rows 0.5 allows; for example b.jsonlines: unknown"
    )
    assert found in held(opened(folder))
    assert said()[0] == 1
    for books in ({"max_bad_rows": 0.75}, {"glob": "*.jsonl"}, {"format": "jsonl"}):
        opened(folder, **books)
        assert said()[0] == 0


def test_what_lies_beside_data_does_not_count(folder: Path, said: Said) -> None:
    also(folder, "README", "notes", "LICENSE", "more", suffix=".md")
    also(folder, "_SUCCESS", "a.jsonl.crc", "SHA256SUMS", suffix="")
    also(folder, ".b", ".c")
    corpus = opened(folder)
    assert said()[0] == 0
    assert "minhashes" in drive(corpus).assets()


def test_datasets_and_benchmarks_are_held_back_too_and_cerebras_is_as_it_was(folder: Path, said: Said) -> None:
    also(folder, "b", "c")
    own = {"name": "own", "input": {"location": "raw/books"}, "sequence_length": 128}
    for entry, is_held in ((own, True), ({**own, "compat": "cerebras"}, False)):
        opened(folder, glob="*.jsonl", other={"datasets": [entry]})
        assert ("dataset own: 2 of 3 files passed over" in said()[1]) == is_held
    opened(folder, glob="*.jsonl", other={"benchmarks": [{"name": "sums", "location": "raw/books"}]})
    assert "benchmark sums: 2 of 3 files passed over, more than max_bad_rows 0 allows" in said()[1]


@pytest.mark.parametrize(
    ("unread", "is_held"),
    [
        *[(Unread(3, 300, "b"), True), (Unread(3, 90, "b"), False), (Unread(2, 300, "b"), False), (Unread(), False)],
        *[(Unread(18, 18, "b"), False), (Unread(19, 19, "b"), True)],
    ],
)
def test_the_limit_is_of_files_and_of_bytes(unread: Unread, is_held: bool) -> None:
    read = Read(files=2, bytes=100, unread=unread)
    assert bool(list(unread_files({"max_bad_rows": 0.5}, read))) == is_held
