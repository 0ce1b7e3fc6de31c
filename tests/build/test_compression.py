"""Another compression of the store recomputes nothing; old and new files live together, and all that reads them works.

That content does not depend on it is in tests/golden_content, for every kind of stage.
"""

import shutil
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from corpus_assets.cli.absent import absence
from corpus_assets.cli.questions.show import Asked, show_partition
from corpus_assets.copying import copy_corpus
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from corpus_assets.diff.documents import changed_documents
from corpus_assets.frames.opened import open_frames
from corpus_assets.takedown.lists import all_keys, entries
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.way import way_of
from corpus_assets.verification.verify import verify
from corpus_assets.viewer.reading import lines_at, lines_file
from resources.errors import DamagedFileError
from resources.formats.jsonl.compressions import GZIP, JSONL, LZ4, ZSTD
from resources.ledger.ledger import Record
from resources.stage.handles import LazyRows
from resources.stage.partition import Partition, files_with
from tests.build.small import Rows, Work, drive, live_records, opened, prose, raw_rows

LATER = {"books/two.jsonl.gz": LZ4, "web/b.jsonl.zst": ZSTD}
"""Raw files that change after the first build, and the compression of the store from then on."""
KEYS = {"books--one": GZIP, "books--two": LZ4, "web--b": ZSTD}


def changed(path: str) -> Rows:
    rows = raw_rows()[path]
    rows[5]["text"] = prose(f"new {path}")
    return rows


def rows_of(record: Record) -> list[str]:
    """The paths of the files of rows of a partition."""
    return [file.path for file in files_with(record, JSONL)]


def endings(corpus: Corpus) -> set[str]:
    """How files of rows end."""
    return {path[path.index(JSONL) :] for record in live_records(corpus).values() for path in rows_of(record)}


def test_only_what_is_made_again_takes_the_compression_of_the_store(work: Work) -> None:
    assert endings(opened(work.folder)) == {GZIP.ending}
    work.config(storage__compression=LZ4.name)
    assert work.plan() == {}
    assert not drive(opened(work.folder)).recomputed
    work.rows("books/two.jsonl.gz", changed("books/two.jsonl.gz"))
    built = work.rebuild()
    for name, record in live_records(opened(work.folder)).items():
        expected = LZ4.ending if name in built.recomputed else GZIP.ending
        assert all(path.endswith(expected) for path in rows_of(record)), name
    assert endings(opened(work.folder)) == {GZIP.ending, LZ4.ending}
    found = verify(opened(work.folder), deep=True)
    assert (found.bad, found.unowned) == ([], [])


@pytest.fixture(scope="module")
def mixed_once(built_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of three compressions, whose rows are as they were but for two texts."""
    folder = tmp_path_factory.mktemp("compressions") / "work"
    shutil.copytree(built_once, folder)
    work = Work(folder)
    for path, compression in LATER.items():
        work.config(storage__compression=compression.name)
        work.rows(path, changed(path))
        corpus = opened(folder)
        assert not drive(corpus, list(corpus.graph)).failed
    assert endings(opened(folder)) == {GZIP.ending, LZ4.ending, ZSTD.ending}
    return folder


@pytest.fixture
def mixed(mixed_once: Path, tmp_path: Path) -> Corpus:
    folder = tmp_path / "work"
    shutil.copytree(mixed_once, folder)
    return opened(folder)


def test_whoever_looks_sees_the_same_rows_in_every_compression(mixed: Corpus) -> None:
    for (asset, key), record in live_records(mixed).items():
        for path in rows_of(record):
            made = Partition(mixed.storage, record)
            lines = list(islice(made.lines(path), 3))
            assert lines_at(made, mixed.storage, made.file(path), 0, 3) == lines
            shown = list(show_partition(mixed, asset, key, Asked(rows=1, record=False)))
            assert any(path in line for line in shown), path
            first = [range(1)] if lines else None
            given = list(show_partition(mixed, asset, key, Asked(given=first, record=False)))
            assert [line for line in lines[:1] if line.decode().rstrip("\n") not in given] == []
            assert lines_file(record) is None or len(LazyRows(made)) == len(list(LazyRows(made)))


def test_documents_are_compared_whatever_the_compression(mixed: Corpus, built_once: Path) -> None:
    before, now = (list(Look(corpus).partitions("normalized_documents")) for corpus in (opened(built_once), mixed))
    found = changed_documents(before, now)
    assert {source: one.changed for source, one in found.items()} == {"books": 1, "notes": 0, "web": 1}
    assert sum(one.added + one.removed for one in found.values()) == 0


def test_documents_are_traced_and_framed_in_every_compression(mixed: Corpus) -> None:
    look = Look(mixed)
    for key, compression in KEYS.items():
        steps = {step.stage: step for step in way_of(look, key, 5, seconds=0).steps}
        assert str(steps["normalized_documents"].file).endswith(
            f"documents/{key.replace('--', '/')}{compression.ending}"
        )
        assert all(mixed.storage.stat(step.file) for step in steps.values() if step.file and step.stage != "raw_source")
        made = look.shard("normalized_documents", key)
        (frame,) = open_frames(mixed.file).documents(partitions=[key])
        assert frame["text"].tolist() == [document.text for document in made.documents()]
    assert len(pd.concat(open_frames(mixed.file).documents("decontaminated_train"))) > 0


def test_absence_is_proven_of_every_compression(mixed: Corpus) -> None:
    names = {row["id"]: row for path in LATER for row in changed(path)[5:6]}
    listed = "".join(f"{source}\t{name}\n" for name in names for source in ("books", "web"))
    found = absence(mixed, all_keys(entries({"list": listed.encode()}, None)))
    places = {place.file[place.file.index(JSONL) :] for place in found.found if "documents/" in place.file}
    assert places == {LZ4.ending, ZSTD.ending}
    assert found.unproven == []


def test_a_copy_has_every_compression(mixed: Corpus) -> None:
    target = Corpus.open(mixed.file, ["storage.root=copy"])
    assert copy_corpus(mixed, target).errors == []
    assert endings(target) == {GZIP.ending, LZ4.ending, ZSTD.ending}
    assert verify(target, deep=True).bad == []


def test_members_are_compressed_again_where_the_compression_differs(mixed: Corpus) -> None:
    """The last split copies a chunk as it is stored; from one in gzip it writes zstd."""
    stage, store = mixed.graph["decontaminated_train"], mixed.storage
    before = mixed.records(stage.name)
    assert {path[path.index(JSONL) :] for record in before.values() for path in rows_of(record)} > {GZIP.ending}
    step = Step(mixed, stage, force=True)
    step.run()
    assert step.failures() == []
    for key, record in opened(mixed.folder).records(stage.name).items():
        assert record.digest == before[key].digest
        assert [path for path in rows_of(record) if not path.endswith(ZSTD.ending)] == []
        assert [path for path in rows_of(before[key]) if path not in rows_of(record) and store.stat(path)] == []


@pytest.mark.parametrize("key", ["books--two", "web--b"])
def test_a_damaged_file_is_named(mixed: Corpus, key: str) -> None:
    made = Look(mixed).shard("normalized_documents", key)
    path = Path(mixed.storage.fetch(made.file(JSONL).path))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x55
    path.write_bytes(content)
    every = np.ones(made.file(JSONL).rows or 0, np.bool_)
    for read in (made.lines, made.texts, partial(made.members, every)):
        with pytest.raises(DamagedFileError, match=made.file(JSONL).path):
            list(read())
    assert [one.file for one in verify(mixed, deep=True).bad] == [made.file(JSONL).path]
