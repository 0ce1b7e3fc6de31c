"""A chunk without dropped rows is copied as it is stored, and gives what writing its lines gives."""

from pathlib import Path

import msgspec
import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.split.assets import decontaminated_train
from resources.errors import DamagedFileError
from resources.formats.jsonl.lines import LineWriter
from resources.stage.partition import Partition
from resources.stage.task import Given, Task
from tests.data.building import build, open_corpus, partitions, write_rows

ASSETS = ("train", "holdout_hashes")


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """A corpus of one chunk, of which nothing is left out."""
    rows = [{"id": str(number), "text": f"text {number} with words of its own"} for number in range(3_000)]
    write_rows(tmp_path / "raw" / "s" / "a.jsonl", rows)
    mix = {"chunks": 1, "leave_out": []}
    corpus = open_corpus(tmp_path, {"sources": [{"name": "s", "location": "raw/s"}], "mix": mix})
    build(corpus, ["+decontaminated_train"])
    return corpus


def task_of(corpus: Corpus) -> Task:
    inputs = {asset: partitions(corpus, asset) for asset in ASSETS}
    return Task(Given("decontaminated_train", "chunk-0000", corpus.storage, inputs))


def computed(corpus: Corpus) -> str:
    task = task_of(corpus)
    decontaminated_train(task)
    task.discard()
    return task.content_digest()


def test_a_copy_is_what_writing_gives(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    assert partitions(corpus, "decontaminated_train")[0].record.statistics["rows_out"] > 2_000
    with monkeypatch.context() as patch:
        patch.setattr(LineWriter, "__init__", None)  # No line is written.
        copied = computed(corpus)
    plain = Partition.file
    monkeypatch.setattr(Partition, "file", lambda *given: msgspec.structs.replace(plain(*given), stored=""))
    assert computed(corpus) == copied == partitions(corpus, "decontaminated_train")[0].record.digest


def test_the_stored_bytes_are_the_same(corpus: Corpus) -> None:
    train, clean = (partitions(corpus, asset)[0] for asset in ("train", "decontaminated_train"))
    for suffix in (".jsonl.gz", ".members.npy"):
        assert train.file(suffix).stored == clean.file(suffix).stored
        with train.open(suffix) as left, clean.open(suffix) as right:
            assert left.read() == right.read()


@pytest.mark.parametrize("place", [4, 9_000, -3])
def test_damage_anywhere_is_found_while_copying(corpus: Corpus, place: int) -> None:
    path = Path(corpus.storage.fetch(partitions(corpus, "train")[0].file(".jsonl.gz").path))
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedFileError, match="digest of its stored bytes"):
        computed(corpus)


def test_a_file_that_is_cut_is_found_while_copying(corpus: Corpus) -> None:
    path = Path(corpus.storage.fetch(partitions(corpus, "train")[0].file(".jsonl.gz").path))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DamagedFileError, match="train/chunk-0000"):
        computed(corpus)
