"""One flipped bit in any file of a corpus: `verify --deep` finds it, and the next build makes its partition again."""

import random
import shutil
from pathlib import Path
from typing import Any

import h5py
import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from corpus_assets.verification.verify import mended, verify
from resources.formats.jsonl.compressions import LZ4
from resources.formats.known import FORMATS, fault_of
from resources.ledger.ledger import record_path
from tests.build.small import Key, contents, digests, drive, live_records, opened, write_small
from tests.export.test_every_format import FORMATS as EXPORTED
from tests.export.test_every_format import dataset

SHUFFLED = {"name": "mixed", "sequence_length": 64, "shuffle": True}
CHANGES: dict[str, Any] = {
    "attributes": [{"name": "quality", "taggers": ["gopher_v2"]}],
    "filter": {"rules": {"quality.gopher_v2.word_count": {"min": 3}}},
    "streams": [{"name": "plain", "attributes": ["quality"], "max_size": "1 MiB"}],
    "dedupers": [{"name": "lines", "by": "paragraphs"}],
    "card": {"title": "small"},
    "datasets": [SHUFFLED, {"name": "vsl", "mode": "lm_vsl", "sequence_length": 64}, *map(dataset, EXPORTED)],
}


@pytest.fixture(scope="module")
def all_kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with files of every kind, of every format for trainers too, with its report."""
    folder = write_small(tmp_path_factory.mktemp("kinds"), CHANGES)
    corpus = opened(folder)
    done = drive(corpus, list(corpus.graph))
    assert (done.failed, done.waiting) == ([], [])
    return folder


@pytest.fixture
def folder(all_kinds: Path, tmp_path: Path) -> Path:
    shutil.copytree(all_kinds, tmp_path / "work")
    return tmp_path / "work"


def flip(file: Path, chance: random.Random) -> None:
    """Change one bit, anywhere in a file."""
    content = bytearray(file.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    file.write_bytes(content)


def some_files(corpus: Corpus, share: float, chance: random.Random) -> dict[str, Key]:
    """A file of each of some partitions, by path."""
    found = {}
    for name, record in live_records(corpus).items():
        files = [file.path for file in record.files if file.bytes]
        if files and chance.random() < share:
            found[chance.choice(files)] = name
    return found


def test_every_file_has_a_digest_of_its_bytes(folder: Path) -> None:
    files = [file for record in live_records(opened(folder)).values() for file in record.files]
    assert [file.path for file in files if not file.stored] == []
    # LZ4 is a choice of the configuration, and has a test of its own.
    suffixes = {known.suffix for known in FORMATS} - {LZ4.ending}
    assert all(any(file.path.endswith(suffix) for file in files) for suffix in suffixes)


@pytest.mark.parametrize("seed", range(4))
def test_verify_finds_any_flipped_bit_and_the_next_build_makes_it_again(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    corpus = opened(folder)
    whole, flipped = contents(corpus), some_files(corpus, 0.2, chance)
    for path in flipped:
        flip(Path(corpus.storage.fetch(path)), chance)
    result = verify(opened(folder), deep=True)
    assert {problem.file for problem in result.bad} >= flipped.keys()
    assert {(problem.asset, problem.partition) for problem in result.bad} == {*flipped.values()}
    assert len(mended(opened(folder), result, deep=True)) == len({*flipped.values()})
    assert drive(opened(folder)).failed == []
    assert verify(opened(folder), deep=True).bad == []
    assert contents(opened(folder)) == whole


@pytest.mark.parametrize("seed", range(4))
def test_a_build_over_flipped_bits_ends_right_without_verify(folder: Path, seed: int) -> None:
    """Partitions that are rebuilt over damage get the same content; nothing waits for ever."""
    chance = random.Random(100 + seed)
    corpus = opened(folder)
    before, flipped = digests(corpus), some_files(corpus, 0.3, chance)
    for path in flipped:
        flip(Path(corpus.storage.fetch(path)), chance)
    for name in sorted(before.keys() - {*flipped.values()}, key=str):
        if chance.random() < 0.5:
            Path(corpus.storage.fetch(record_path(*name))).unlink()
    built = drive(opened(folder))
    assert (built.failed, built.waiting) == ([], [])
    assert digests(opened(folder)) == before


@pytest.mark.parametrize("seed", range(12))
def test_a_flipped_bit_in_shuffled_sequences_is_never_read(folder: Path, seed: int) -> None:
    """Whole files of rows, of which a range is read by the addresses in them."""
    chance = random.Random(seed)
    corpus = opened(folder)
    before = digests(corpus)
    for record in corpus.ledger.records("mixed_sequences").values():
        file = next(file for file in record.files if file.path.endswith(".h5"))
        content = bytearray(Path(corpus.storage.fetch(file.path)).read_bytes())
        content[chance.randrange(min(len(content), 4000))] ^= 1 << chance.randrange(8)
        Path(corpus.storage.fetch(file.path)).write_bytes(content)
    step = Step(corpus, corpus.graph["mixed_tokens"], force=True)
    step.run()
    assert step.failures() == []
    assert {asset for asset, _ in step.damaged} == {"mixed_sequences"}
    assert digests(opened(folder)) == before


def test_bytes_that_only_other_readers_need_are_compared(folder: Path) -> None:
    """Plain h5py finds no rows where the extent is another one, and the content digest is that of all rows."""
    corpus = opened(folder)
    file = next(
        file
        for record in corpus.ledger.records("mixed_tokens").values()
        for file in record.files
        if file.path.endswith(".h5")
    )
    place = Path(corpus.storage.fetch(file.path))
    with h5py.File(place) as stored:
        address = stored["data"].id.get_chunk_info(0).byte_offset
    content = place.read_bytes()
    (where,) = (at for at in range(len(content) - 8) if content[at : at + 8] == address.to_bytes(8, "little"))
    place.write_bytes(content[:where] + (address ^ 1).to_bytes(8, "little") + content[where + 8 :])
    assert fault_of(corpus.storage.open, file.path, file.digest, file.stored) is not None
    chance = random.Random(1)
    for _ in range(200):
        place.write_bytes(content)
        flip(place, chance)
        assert fault_of(corpus.storage.open, file.path, file.digest, file.stored) is not None
