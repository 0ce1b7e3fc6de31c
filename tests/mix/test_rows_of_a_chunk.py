"""Pass 2 reads and checks the rows of its own chunk in the row table of a shard, and no others."""

from collections import Counter
from pathlib import Path

import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.mix.assets import mixed_pass2
from resources.errors import DamagedFileError
from resources.formats.arrays import HEADER_BYTES
from resources.formats.row_tables import ROW
from resources.stage.partitions import Partitions
from resources.stage.soundness import SMALL
from resources.stage.task import Given, Task
from resources.storage.local.store import LocalStorage
from tests.data.building import build, open_corpus, partitions, write_rows

DOCUMENTS = 1_500
CHUNKS = ["chunk-0000", "chunk-0001", "chunk-0002"]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """A corpus of two shards, whose row tables are larger than what is read at once anyway."""
    for shard in "ab":
        rows = [{"id": f"{shard}{number}", "text": f"text {number} of {shard}"} for number in range(DOCUMENTS)]
        write_rows(tmp_path / "raw" / "s" / f"{shard}.jsonl", rows)
    mix = {"chunks": len(CHUNKS), "leave_out": []}
    corpus = open_corpus(tmp_path, {"sources": [{"name": "s", "location": "raw/s"}], "mix": mix})
    build(corpus, ["+mixed_pass2"])
    return corpus


def computed(corpus: Corpus, chunk: str, shards: Partitions | None = None, memory: int = 1 << 30) -> str:
    """The digest of a chunk that is rebuilt."""
    inputs = {"mixed_pass1": shards or partitions(corpus, "mixed_pass1")}
    parameters = {"mix.order": "keyed", "mix.seed": 0}
    task = Task(Given("mixed_pass2", chunk, corpus.storage, inputs, parameters=parameters, memory=memory))
    mixed_pass2(task)
    task.discard()
    return task.content_digest()


@pytest.fixture
def small(tmp_path: Path) -> Corpus:
    """A corpus of shards so small that their files are read as wholes."""
    for shard in "abcd":
        rows = [{"id": f"{shard}{number}", "text": f"text {number} of {shard}"} for number in range(ord(shard) - 96)]
        write_rows(tmp_path / "raw" / "s" / f"{shard}.jsonl", rows)
    mix = {"chunks": len(CHUNKS), "leave_out": []}
    corpus = open_corpus(tmp_path, {"sources": [{"name": "s", "location": "raw/s"}], "mix": mix})
    build(corpus, ["+mixed_pass2"])
    return corpus


def test_small_shards_are_read_once_for_all_chunks(small: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    shards = partitions(small, "mixed_pass1")
    read = Counter[str]()
    plain = LocalStorage.small

    def counting(storage: LocalStorage, path: str, size: int) -> bytes:
        read[path] += 1
        return plain(storage, path, size)

    monkeypatch.setattr(LocalStorage, "small", counting)
    monkeypatch.setattr(LocalStorage, "read", None)
    before = {record.partition: record.digest for record in small.ledger.records("mixed_pass2").values()}
    for chunk in CHUNKS:
        assert computed(small, chunk, shards) == before[chunk]
    assert len([path for path in read if not path.endswith(".index.json")]) == 2 * len(shards)
    assert set(read.values()) == {1}


def test_the_rows_of_a_chunk_do_not_depend_on_memory(small: Corpus) -> None:
    before = {record.partition: record.digest for record in small.ledger.records("mixed_pass2").values()}
    for memory in (1, 1 << 12, 1 << 30):
        assert {chunk: computed(small, chunk, memory=memory) for chunk in CHUNKS} == before


def test_damaged_lines_of_a_small_shard_are_found_in_their_chunk_and_in_no_other(small: Corpus) -> None:
    shard = partitions(small, "mixed_pass1")[3]
    index, path = shard.segments(), shard.file(".jsonl.zst").path
    damaged, others = CHUNKS[0], [chunk for chunk in CHUNKS[1:] if index[chunk].rows]
    assert index[damaged].rows
    assert others
    file = Path(small.storage.fetch(path))
    content = bytearray(file.read_bytes())
    content[index[damaged].offset + index[damaged].length // 2] ^= 1
    file.write_bytes(content)
    before = {record.partition: record.digest for record in small.ledger.records("mixed_pass2").values()}
    assert computed(small, others[0]) == before[others[0]]
    with pytest.raises(DamagedFileError, match="damaged segment") as found:
        computed(small, damaged)
    assert (found.value.asset, found.value.partition) == ("mixed_pass1", shard.key)
    file.unlink()
    with pytest.raises(DamagedFileError, match="is missing"):
        computed(small, others[0])


def damage(corpus: Corpus, chunk: str) -> tuple[str, range]:
    """Changes a byte in the middle of a chunk's rows of the first shard; returns the file, and the places of all."""
    shard = partitions(corpus, "mixed_pass1")[0]
    index = shard.segments()
    start = HEADER_BYTES + ROW.itemsize * sum(index[name].rows for name in CHUNKS[: CHUNKS.index(chunk)])
    places = range(start, start + ROW.itemsize * index[chunk].rows)
    path = shard.file(".rows.npy").path
    file = Path(corpus.storage.fetch(path))
    content = bytearray(file.read_bytes())
    content[places[len(places) // 2]] ^= 1
    file.write_bytes(content)
    return path, places


def test_only_the_rows_of_its_chunk_are_read(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    path, places = damage(corpus, CHUNKS[1])
    assert partitions(corpus, "mixed_pass1")[0].file(".rows.npy").bytes > SMALL
    asked: list[range] = []

    def noting(storage: LocalStorage, name: str, offset: int, size: int) -> bytes:
        if name == path:
            asked.append(range(offset, offset + size))
        return read(storage, name, offset, size)

    def refusing(storage: LocalStorage, name: str) -> str:
        assert not name.endswith(".rows.npy"), "a whole table of rows was asked for"
        return str(opened(storage, name))

    read, opened = LocalStorage.read, LocalStorage.fetch
    monkeypatch.setattr(LocalStorage, "read", noting)
    monkeypatch.setattr(LocalStorage, "fetch", refusing)
    before = {record.partition: record.digest for record in corpus.ledger.records("mixed_pass2").values()}
    for chunk in (CHUNKS[0], CHUNKS[2]):
        assert computed(corpus, chunk) == before[chunk]
    assert asked
    assert not any(set(places).intersection(rows) for rows in asked)


def test_a_changed_row_of_its_own_is_found_and_named(corpus: Corpus) -> None:
    path, _ = damage(corpus, CHUNKS[1])
    with pytest.raises(
        DamagedFileError, match=r"content digest of segment chunk-0001 is \w+, its record says"
    ) as found:
        computed(corpus, CHUNKS[1])
    assert path in str(found.value)
    assert (found.value.asset, found.value.partition) == ("mixed_pass1", partitions(corpus, "mixed_pass1")[0].key)
