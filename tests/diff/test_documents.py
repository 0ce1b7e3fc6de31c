"""Documents of two stores are compared as multisets of texts by id, whatever the memory and the shards they lie in."""

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.diff import documents
from corpus_assets.diff.documents import Changes, changed_documents
from corpus_assets.normalize.text_table import TextTable, row_of
from resources.formats.documents import Document
from resources.formats.row_tables import LENGTHS, TEXT
from resources.ledger.ledger import FileRecord, Record
from resources.stage.partition import Partition
from resources.stage.task import Given, Task
from resources.storage.local.store import LocalStorage

ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), max_size=8)
SHARDS = st.dictionaries(st.tuples(st.sampled_from(["web", "books"]), st.integers(0, 2)), ROWS, max_size=4)
Shards = dict[tuple[str, int], list[tuple[int, int]]]


def stored(folder: Path, shards: Shards) -> list[Partition]:
    """Shards of rows (id, text) as the stage writes them."""
    storage = LocalStorage(folder, sync=False)
    found = []
    for (source, number), rows in shards.items():
        key = f"{source}--s{number}"
        task, path = Task(Given("normalized_documents", key, storage, {})), f"documents/{source}/s{number}"
        with (
            task.array(f"{path}.lengths.npy", LENGTHS, derived=True) as lengths,
            task.array(f"{path}.ids.npy", np.uint8) as ids,
            task.array(f"{path}.texts.npy", TEXT) as texts,
            task.documents(f"{path}.jsonl.gz") as out,
        ):
            table = TextTable(texts, ids, lengths)
            for identifier, text in rows:
                document = Document(f"d{identifier}", f"text {text}", source)
                out.add(document)
                table.add(row_of(document))
            table.flush()
        task._unpublished.publish()
        files = [record_of(storage, file.path, file.digest, file.rows, derived=file.derived) for file in task.files]
        record = Record(
            asset="normalized_documents",
            partition=key,
            recipe="",
            digest=task.content_digest(),
            inputs={},
            parameters={},
            code_version="1",
            files=files,
        )
        found.append(Partition(storage, record))
    return found


def record_of(storage: LocalStorage, path: str, digest: str, rows: int | None, *, derived: bool) -> FileRecord:
    entry = storage.stat(path)
    assert entry is not None
    return FileRecord(path, entry.bytes, digest, rows, derived)


def plain(old: Shards, new: Shards, source: str) -> tuple[int, int, int]:
    """How many documents are added, removed and changed, from plain counters."""
    added = removed = changed = 0
    sides = [Counter(row for (name, _), rows in side.items() if name == source for row in rows) for side in (old, new)]
    left, right = sides[0] - sides[1], sides[1] - sides[0]
    for identifier in {identifier for identifier, _ in (*left, *right)}:
        gone, come = (sum(count for (name, _), count in side.items() if name == identifier) for side in (left, right))
        changed += min(gone, come)
        removed += gone - min(gone, come)
        added += come - min(gone, come)
    return added, removed, changed


def total(side: Shards, source: str) -> int:
    return sum(len(rows) for (name, _), rows in side.items() if name == source)


@settings(max_examples=25)
@given(
    old=SHARDS, new=SHARDS, shared=SHARDS, bucket=st.sampled_from([1, 3, 1 << 20]), block=st.sampled_from([1, 1 << 16])
)
def test_documents_are_compared_as_plain_counters_do(
    old: Shards, new: Shards, shared: Shards, bucket: int, block: int
) -> None:
    old, new = {**old, **shared}, {**new, **shared}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(documents, "_BUCKET_ROWS", bucket)
        patched.setattr(documents, "_BLOCK", block)
        found = changed_documents(stored(Path(folder, "a"), old), stored(Path(folder, "b"), new))
    assert set(found) == {source for source, _ in (*old, *new)}
    for source, changes in found.items():
        assert (changes.added, changes.removed, changes.changed) == plain(old, new, source)
        assert (changes.old, changes.new) == (total(old, source), total(new, source))
        for kind in ("added", "removed", "changed"):
            assert len(changes.examples.get(kind, [])) == min(5, getattr(changes, kind))


def test_examples_are_ids_of_what_differs(tmp_path: Path) -> None:
    old: Shards = {("web", 0): [(1, 0), (2, 0), (3, 0)], ("web", 1): [(4, 0)]}
    new: Shards = {("web", 0): [(1, 0), (2, 1)], ("web", 2): [(4, 0), (5, 0)]}
    found = changed_documents(stored(tmp_path / "a", old), stored(tmp_path / "b", new))
    examples = {"added": ["d5"], "changed": ["d2"], "removed": ["d3"]}
    assert found == {"web": Changes(old=4, new=4, added=1, removed=1, changed=1, examples=examples)}
    assert changed_documents(stored(tmp_path / "c", old), stored(tmp_path / "d", new), examples=0)["web"].examples == {}


def test_equal_shards_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old: Shards = {("web", 0): [(1, 0), (2, 0)], ("web", 1): [(3, 0)]}
    new: Shards = {("web", 0): [(1, 0), (2, 0)], ("web", 1): [(3, 1)]}
    read: list[str | None] = []
    rows = documents._rows

    def noted(shard: Partition, side: int, number: int) -> Iterator[NDArray[np.void]]:
        read.append(shard.key)
        return rows(shard, side, number)

    monkeypatch.setattr(documents, "_rows", noted)
    found = changed_documents(stored(tmp_path / "a", old), stored(tmp_path / "b", new), examples=0)
    assert (found, read) == ({"web": Changes(old=3, new=3, changed=1)}, ["web--s1", "web--s1"])
