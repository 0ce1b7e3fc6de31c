"""Token streams opened for reading: documents by number, where they come from, and what cannot be opened."""

import pickle
import shutil
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.reading import Origin, ReadingError, Separators, TokenStream
from corpus_assets.reading import partition as partitions_of_streams
from resources.errors import LedgerError
from resources.formats.row_tables import identifiers
from resources.formats.token_streams import DATA, DOCUMENTS, IDS, LENGTHS, NAMES
from resources.storage.local.store import LocalStorage
from tests.export.exported import encoded, exported, folder_of, partitions, tokenizer_of
from tests.reading.written import numbered, save, write_stream

STREAM = "decontaminated_train"
MEGATRON = {"name": "meg", "format": "megatron"}


@given(lengths=st.lists(st.lists(st.integers(0, 5), max_size=20), min_size=1, max_size=4))
def test_documents_by_number(lengths: list[list[int]], tmp_path_factory: pytest.TempPathFactory) -> None:
    documents = numbered(*lengths)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions_of_streams, "BLOCK_DOCUMENTS", 3)
        stream = TokenStream(write_stream(tmp_path_factory.mktemp("stream"), *documents))
        expected = list(chain.from_iterable(documents))
        assert len(stream) == len(expected)
        assert stream.ids == sum(map(len, expected))
        assert [ids.tolist() for ids in stream] == expected
        assert [stream[-1 - n].tolist() for n in range(len(expected))] == expected[::-1]


def test_ids_are_views_that_cannot_be_written(tmp_path: Path) -> None:
    stream = TokenStream(write_stream(tmp_path, [[1, 2], [3]], dtype=np.uint32))
    assert stream[0].dtype == stream.dtype == np.uint32
    assert not stream[0].flags.writeable
    assert stream[1].base is not None
    for number in (2, -3):
        with pytest.raises(IndexError, match=f"document {number} of 2"):
            stream[number]


def test_origins(tmp_path: Path) -> None:
    stream = TokenStream(write_stream(tmp_path, [[1], [2], []], [], [[3]]))
    assert [stream.origin(n) for n in range(4)] == [
        Origin("0-0é", "source 0", 5, 0),
        Origin("0-1é", "source 0", None, 0),
        Origin("0-2é", "source 0", 7, 0),
        Origin("2-0é", "source 2", 5, 0),
    ]


def test_a_pickled_stream_is_small_and_reads_on(tmp_path: Path) -> None:
    documents = [[n % 500] * 50 for n in range(4000)]
    stream = TokenStream(write_stream(tmp_path, documents))
    assert stream[3999].tolist() == documents[3999]
    assert stream.origin(8).row == 13
    pickled = pickle.dumps(stream)
    assert len(pickled) < 2000
    assert pickle.loads(pickled)[1234].tolist() == documents[1234]


def test_a_stream_keeps_no_file_open(tmp_path: Path) -> None:
    stream = TokenStream(write_stream(tmp_path, *[[[n]] for n in range(40)]))
    assert [ids.tolist() for ids in stream] == [[n] for n in range(40)]
    held = [link.resolve() for link in Path("/proc/self/fd").iterdir() if link.exists()]
    assert [path for path in held if tmp_path in path.parents] == []


def test_streams_of_a_corpus(tmp_path: Path) -> None:
    corpus = exported(tmp_path, MEGATRON)
    expected = encoded(corpus)
    stream = TokenStream.of_corpus(tmp_path / "corpus.yaml", STREAM)
    assert [ids.tolist() for ids in stream] == [*chain.from_iterable(expected.values())]
    assert stream.separators == Separators(after=tokenizer_of(corpus).eos_id)
    folder = TokenStream(tmp_path / "corpus" / "token_streams" / STREAM)
    assert folder.separators is None
    assert [ids.tolist() for ids in folder] == [ids.tolist() for ids in stream]
    told = TokenStream(
        tmp_path / "corpus" / "token_streams" / STREAM, manifest=folder_of(tmp_path, "meg") / "manifest.json"
    )
    assert told.separators == stream.separators
    names = [
        id_
        for partition in partitions(corpus, f"{STREAM}_token_stream")
        for id_ in identifiers(partition.array(DOCUMENTS)["id_end"], partition.array(IDS))
    ]
    assert [stream.origin(n).id for n in range(len(stream))] == names


def test_a_corpus_names_its_streams_and_what_is_not_built(tmp_path: Path) -> None:
    corpus = exported(tmp_path, MEGATRON)
    with pytest.raises(ReadingError, match=f"no token stream 'train'; valid: {STREAM}"):
        TokenStream.of_corpus(tmp_path / "corpus.yaml", "train")
    corpus.ledger.forget(f"{STREAM}_token_stream", "chunk-0001")
    with pytest.raises(ReadingError, match=r"chunk-0001 not built \(1 of 3 partitions\)"):
        TokenStream.of_corpus(tmp_path / "corpus.yaml", STREAM)


def test_separators_of_manifests(tmp_path: Path) -> None:
    file = tmp_path / "manifest.json"
    for where, id_, expected in (
        ("after", 5, Separators(after=5)),
        ("before", 7, Separators(before=7)),
        ("none", None, Separators()),
    ):
        file.write_text(f'{{"version": 1, "separator": {{"where": "{where}", "id": {id_ or "null"}}}}}')
        assert Separators.of_manifest(file) == expected
    for content in ("{}", "[", '{"separator": {"where": "after", "id": "x"}}'):
        file.write_text(content)
        with pytest.raises(ReadingError, match=r"manifest\.json is no manifest"):
            Separators.of_manifest(file)
    with pytest.raises(ReadingError, match="is no manifest"):
        Separators.of_manifest(tmp_path / "absent.json")


def test_a_folder_that_is_no_stream(tmp_path: Path) -> None:
    write_stream(tmp_path / "token_streams" / "name", [[1]])
    for folder in (tmp_path / "token_streams", tmp_path / "absent"):
        with pytest.raises(ReadingError, match="holds no partition of a token stream"):
            TokenStream(folder)


def test_an_address_is_no_folder() -> None:
    for address in ("s3://bucket/corpus/token_streams/train", Path("s3://bucket/corpus")):
        with pytest.raises(ReadingError, match=r"TokenStream\.of_corpus"):
            TokenStream(address)


@pytest.mark.parametrize("suffix", [LENGTHS, DATA, DOCUMENTS, NAMES])
def test_a_missing_file_is_named(tmp_path: Path, suffix: str) -> None:
    folder = write_stream(tmp_path, [[1], [2]])
    (folder / f"chunk-0000{suffix}").unlink()
    with pytest.raises(ReadingError, match=f"chunk-0000{suffix} cannot be read"):
        TokenStream(folder).origin(0)


@pytest.mark.parametrize(
    ("suffix", "array", "message"),
    [
        (LENGTHS, np.array([3, 3], np.int32), "data.npy has 4 rows"),
        (LENGTHS, np.array([1, 1], np.int32), "data.npy has 4 rows; 2 were expected"),
        (LENGTHS, np.array([5, -1], np.int32), "a document of -1 ids"),
        (LENGTHS, np.array([2, 2], np.int64), "holds int64"),
        (DATA, np.array([1, 2, 3, 4], np.int32), "holds int32"),
        (DATA, np.array([[1], [2], [3], [4]], np.uint16), "holds uint16 .*valid: an unsigned type"),
    ],
)
def test_files_that_contradict_each_other(
    tmp_path: Path, suffix: str, array: "np.ndarray[tuple[int, ...], np.dtype[np.integer]]", message: str
) -> None:
    folder = write_stream(tmp_path, [[1, 2], [3, 4]])
    save(folder / f"chunk-0000{suffix}", array)
    with pytest.raises((ReadingError, LedgerError), match=message):
        TokenStream(folder)[0]


def test_a_cut_file_is_named(tmp_path: Path) -> None:
    folder = write_stream(tmp_path, [[1, 2], [3, 4]])
    path = folder / f"chunk-0000{DATA}"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(LedgerError, match=r"chunk-0000\.data\.npy is cut off"):
        TokenStream(folder)[0]


def test_partitions_of_different_types_are_refused(tmp_path: Path) -> None:
    folder = write_stream(tmp_path, [[1, 2]], [[3]])
    save(folder / f"chunk-0001{DATA}", np.array([3], np.uint32))
    with pytest.raises(ReadingError, match="chunk-0001 holds uint32, the partitions before it uint16"):
        TokenStream(folder)


class Remote(LocalStorage):
    """A store whose files are copied to this machine when they are fetched."""

    def fetch(self, path: str) -> str:
        copy = self.root / "fetched" / path
        assert not copy.exists(), "fetched twice"
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(self.root / path, copy)
        return str(copy)


def test_files_of_a_store_are_fetched_when_they_are_needed(tmp_path: Path) -> None:
    documents = numbered([3, 4], [5], [2, 2])
    write_stream(tmp_path, *documents)
    store = Remote(tmp_path)
    stream = TokenStream.of_store(store, [f"chunk-000{n}" for n in range(3)])

    def fetched() -> list[str]:
        return sorted(path.name for path in (tmp_path / "fetched").iterdir())

    lengths = [f"chunk-000{n}{LENGTHS}" for n in range(3)]
    assert fetched() == lengths
    assert [stream[2].tolist(), stream[2].tolist()] == [documents[1][0]] * 2
    assert fetched() == sorted([*lengths, f"chunk-0001{DATA}"])
    assert stream.origin(4).id == "2-1é"
    assert fetched() == sorted([*lengths, f"chunk-0001{DATA}", f"chunk-0002{DOCUMENTS}", f"chunk-0002{IDS}"])
