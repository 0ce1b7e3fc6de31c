"""Corpora with next to nothing in them still build to the end."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from corpus_assets.corpus.corpus import Corpus
from tests.build.small import drive
from tests.data.building import assert_conserved, build, documents, open_corpus, rows_of, token_rows, write_rows

LONG = "A text that is long enough for the shortest document of a corpus. " * 8


def nothing(folder: Path) -> None:
    """The folder is there, and no file in it."""


def one_document(folder: Path) -> None:
    write_rows(folder / "a.jsonl", [{"id": "only", "text": LONG}])


def only_empty_files(folder: Path) -> None:
    (folder / "a.jsonl").write_bytes(b"")
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(b""))
    (folder / "c.jsonl.zst").write_bytes(zstandard.compress(b""))
    (folder / "d.txt").write_bytes(b"")


def only_blank_lines(folder: Path) -> None:
    (folder / "a.jsonl").write_bytes(b"\n \n\r\n")


def only_bad_rows(folder: Path) -> None:
    (folder / "a.jsonl").write_bytes(b"[]\n{}\nnot json\n")


def only_short_documents(folder: Path) -> None:
    write_rows(folder / "a.jsonl", [{"id": str(n), "text": "short" * n} for n in range(9)])


def only_copies(folder: Path) -> None:
    for shard in "abc":
        write_rows(folder / f"{shard}.jsonl", [{"id": f"{shard}{n}", "text": LONG} for n in range(5)])


def one_filled_file_among_empty_ones(folder: Path) -> None:
    only_empty_files(folder)
    write_rows(folder / "e.jsonl", [{"id": str(n), "text": f"{n} {LONG}{n**n}"} for n in range(30)])


CASES: list[tuple[Callable[[Path], None], int, int, str]] = [
    # Documents read, documents mixed, and why the corpus is held back if nobody says that it may be empty.
    (nothing, 0, 0, "source s: no file in '.*raw' matches '\\*\\*/\\*'"),
    (one_document, 1, 1, ""),
    (only_empty_files, 0, 0, "source s: 4 files, but nothing in them"),
    (only_blank_lines, 0, 0, "source s: 1 files, but nothing in them"),
    (only_bad_rows, 0, 0, "source s: 3 of 3 rows dropped .*for example s/a.jsonl line"),
    (only_short_documents, 9, 0, "source s: none of 9 documents is left for the mix .short 9."),
    (only_copies, 15, 1, ""),
]
MAY_BE_EMPTY = {"max_bad_rows": 1.0, "may_be_empty": True}


def small(folder: Path, *, may_be_empty: bool = False, **values: Any) -> Corpus:
    source = {"name": "s", "location": "raw", **(MAY_BE_EMPTY if may_be_empty else {})}
    return open_corpus(folder, {"sources": [source], "mix": {"chunks": 2}, **values})


@pytest.mark.parametrize(("fill", "read", "mixed", "why"), CASES, ids=[case[0].__name__ for case in CASES])
def test_builds_to_the_end(tmp_path: Path, fill: Callable[[Path], None], read: int, mixed: int, why: str) -> None:
    (tmp_path / "raw").mkdir()
    fill(tmp_path / "raw")
    held = drive(small(tmp_path))
    assert (held.failed, bool(held.waiting)) == ([], bool(why))
    if why:
        assert any(re.search(why, line) for line in held.waiting)
        assert not held.assets() & {"mixed_pass2", "train", "train_tokens"}
    corpus = small(tmp_path, may_be_empty=True)
    build(corpus)
    assert rows_of(corpus, "normalized_documents") == read
    assert rows_of(corpus, "mixed_pass2") == mixed
    assert_conserved(corpus)
    assert build(corpus) == {}
    assert (token_rows(corpus, "train") > 0) == (rows_of(corpus, "decontaminated_train") > 0)
    assert (token_rows(corpus, "test") > 0) == (rows_of(corpus, "test") > 0)


@pytest.mark.parametrize("values", [{"split": {"holdout": 0.0}}, {"split": {"holdout": {"count": 99}}}])
def test_no_holdout_and_nothing_but_holdout(tmp_path: Path, values: dict[str, Any]) -> None:
    (tmp_path / "raw").mkdir()
    one_filled_file_among_empty_ones(tmp_path / "raw")
    without_flag = drive(small(tmp_path, minhash={"width": 1000}, **values))
    corpus = small(tmp_path, may_be_empty=True, minhash={"width": 1000}, **values)
    if values["split"]["holdout"] != 0.0:
        assert any("takes all 30 texts that it has" in line for line in without_flag.waiting)
        assert not without_flag.assets() & {"train", "holdout", "test_tokens"}
    build(corpus)
    held = 0 if values["split"]["holdout"] == 0.0 else 30
    assert (rows_of(corpus, "holdout"), rows_of(corpus, "decontaminated_train")) == (held, 30 - held)
    assert_conserved(corpus)


def test_a_source_that_is_never_used(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    one_document(tmp_path / "raw")
    corpus = small(tmp_path, sources=[{"name": "s", "location": "raw", "epochs": 0, **MAY_BE_EMPTY}])
    build(corpus)
    assert list(documents(corpus, "mixed_pass2")) == []
    assert_conserved(corpus)


def test_more_chunks_than_documents(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    one_document(tmp_path / "raw")
    corpus = small(tmp_path, mix={"chunks": 20})
    build(corpus)
    assert len(list(documents(corpus, "mixed_pass2"))) == 1
    assert_conserved(corpus)


def test_the_slimpajama_profile_over_one_document(tmp_path: Path) -> None:
    """SlimPajama stops with an IndexError where the holdout has fewer rows than files.

    docs/formats/slimpajama.md "Defect: a small holdout stops pass 2"
    """
    (tmp_path / "raw").mkdir()
    one_document(tmp_path / "raw")
    corpus = small(tmp_path, compat="slimpajama")
    build(corpus)
    assert (rows_of(corpus, "holdout"), rows_of(corpus, "train")) == (0, 1)
    assert_conserved(corpus)
