"""No stage believes a damaged file: it is found while it is read, and its partition is made again first."""

import errno
import json
import random
from pathlib import Path
from typing import BinaryIO

import msgspec
import pytest

from corpus_assets.cli.console import FAILED
from corpus_assets.cli.verify import run
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from corpus_assets.tokenize.tokenizer import _LOADED
from corpus_assets.verification.verify import mended, verify
from resources.errors import DamagedFileError
from resources.ledger.ledger import recipe_digest, record_path
from resources.stage.partition import Partition
from resources.storage.local.store import LocalStorage
from tests.build.small import Work, contents, digests, drive, opened

ONE = "books--one"


def flip(corpus: Corpus, path: str, chance: random.Random) -> None:
    """Change one bit in the later half of a file, where its content is."""
    file = Path(corpus.storage.fetch(path))
    raw = bytearray(file.read_bytes())
    raw[chance.randrange(len(raw) // 2, len(raw))] ^= 1 << chance.randrange(8)
    file.write_bytes(raw)


def path_of(corpus: Corpus, asset: str, key: str | None, suffix: str) -> str:
    record = corpus.ledger.read(asset, key)
    assert record is not None
    return Partition(corpus.storage, record).file(suffix).path


def test_band_keys_are_never_made_from_damaged_signatures(work: Work) -> None:
    """The same build makes the signatures again first."""
    corpus = opened(work.folder)
    flip(corpus, path_of(corpus, "minhashes", ONE, ".signatures.npy"), random.Random(1))
    work.config(minhash__bands=4, minhash__rows=6)
    built = drive(opened(work.folder))
    assert (built.failed, built.waiting) == ([], [])
    assert contents(opened(work.folder)) == contents(work.from_nothing())
    assert verify(opened(work.folder), deep=True).bad == []


@pytest.mark.parametrize(
    ("asset", "suffix", "reader"),
    [
        ("normalized_documents", ".jsonl.gz", "minhashes"),
        ("normalized_documents", ".lengths.npy", "short_documents"),
        ("mixed_pass2", ".members.npy", "holdout"),
        ("normalized_documents", ".texts.npy", "band_keys"),
        ("minhashes", ".scheme.json", "band_keys"),
        ("band_keys", ".bands.npy", "duplicate_pairs"),
        ("band_keys", ".digests.npy", "exact_duplicates"),
        ("duplicate_pairs", ".npy", "candidate_pairs"),
        ("mixed_pass1", ".index.json", "mixed_pass2"),
        ("mixed_pass1", ".rows.npy", "mixed_pass2"),
        ("mixed_pass1", ".jsonl.zst", "mixed_pass2"),
        ("decontaminated_train", ".jsonl.gz", "train_tokens"),
        ("decontaminated_train", ".rows.npy", "train_tokens"),
        ("tokenizer", "tokenizer.json", "train_tokens"),
    ],
)
def test_every_kind_of_file_is_checked_as_it_is_read(work: Work, asset: str, suffix: str, reader: str) -> None:
    corpus = opened(work.folder)
    _LOADED.clear()
    before = digests(corpus)
    key = next(iter(corpus.ledger.records(asset)))
    flip(corpus, path_of(corpus, asset, key, suffix), random.Random(suffix))
    corpus = opened(work.folder)
    step = Step(corpus, corpus.graph[reader], force=True)
    step.run()
    assert step.failures() == []
    assert step.damaged == {(asset, key)}
    assert [outcome.partition for outcome in step.outcomes if outcome.asset == asset] == [key]
    assert digests(opened(work.folder)) == before
    assert verify(opened(work.folder), deep=True).bad == []


def test_a_damaged_input_that_cannot_be_made_again_fails_its_readers_by_name(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = opened(work.folder)
    path = path_of(corpus, "minhashes", ONE, ".signatures.npy")
    flip(corpus, path, random.Random(2))
    monkeypatch.setattr("corpus_assets.corpus.loop.missing_input", lambda *_: "its input does not exist")
    step = Step(corpus, corpus.graph["band_keys"], [ONE], force=True)
    (outcome,) = step.run()
    assert outcome.damaged == ("minhashes", ONE)
    assert outcome.error is not None and outcome.error.startswith(f"minhashes/{ONE}: {path}: content digest is ")
    assert work.plan()["minhashes", ONE][0] == "missing"


def test_many_damaged_inputs_of_one_partition_are_all_made_again(work: Work) -> None:
    corpus = opened(work.folder)
    shards = list(corpus.ledger.records("band_keys"))
    for number, key in enumerate(shards):
        flip(corpus, path_of(corpus, "band_keys", key, ".digests.npy"), random.Random(number))
    corpus = opened(work.folder)
    step = Step(corpus, corpus.graph["exact_duplicates"], force=True)
    step.run()
    assert step.failures() == []
    assert {key for _, key in step.damaged} == set(shards)
    assert verify(opened(work.folder), deep=True).bad == []


def test_a_token_file_is_checked_before_it_is_opened(work: Work) -> None:
    corpus = opened(work.folder)
    record = corpus.ledger.records("train_tokens")["chunk-0000"]
    file = Path(corpus.storage.fetch(path_of(corpus, "train_tokens", "chunk-0000", ".h5")))
    Partition(corpus.storage, record).open(".h5").close()
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(DamagedFileError, match=r"train_tokens/chunk-0000: tokens/train/chunk-0000\.h5: has \d+ bytes"):
        Partition(corpus.storage, record).open(".h5")


def test_a_reader_outside_a_build_is_told_too(work: Work) -> None:
    corpus = opened(work.folder)
    flip(corpus, path_of(corpus, "normalized_documents", ONE, ".jsonl.gz"), random.Random(5))
    record = corpus.ledger.read("normalized_documents", ONE)
    assert record is not None
    with pytest.raises(DamagedFileError, match=f"normalized_documents/{ONE}: documents/books/one.jsonl.gz"):
        list(Partition(corpus.storage, record).lines())


def test_damage_that_a_build_does_not_see_is_mended_by_verify(work: Work) -> None:
    corpus = opened(work.folder)
    whole = contents(corpus)
    flip(corpus, path_of(corpus, "minhashes", ONE, ".signatures.npy"), random.Random(3))
    Path(corpus.storage.fetch(record_path("train_tokens", "chunk-0001"))).write_bytes(b"{")
    assert drive(opened(work.folder)).of("minhashes") == set()
    result = verify(opened(work.folder), deep=True)
    assert {(problem.asset, problem.partition) for problem in result.bad} == {("minhashes", ONE)}
    assert f"band_keys/{ONE}" in result.suspect and "duplicate_pairs/band-00" in result.suspect
    assert "short_documents/books--one" not in result.suspect
    assert mended(opened(work.folder), result, deep=True) == [f"minhashes/{ONE}"]
    assert drive(opened(work.folder)).recomputed == {("minhashes", ONE)}
    assert contents(opened(work.folder)) == whole
    assert verify(opened(work.folder), deep=True).bad == []


def test_a_file_that_the_machine_cannot_read_stops_no_verification_and_is_not_mended(
    work: Work, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    corpus = opened(work.folder)
    whole = contents(corpus)
    unreadable = path_of(corpus, "normalized_documents", ONE, ".jsonl.gz")
    flip(corpus, path_of(corpus, "minhashes", ONE, ".signatures.npy"), random.Random(3))
    opening = LocalStorage.open

    def failing(storage: LocalStorage, path: str) -> BinaryIO:
        if path == unreadable:
            raise OSError(errno.EIO, "Input/output error", path)
        return opening(storage, path)

    with monkeypatch.context() as patch:
        patch.setattr(LocalStorage, "open", failing)
        assert run(work.folder / "corpus.yaml", as_json=True, deep=True, mend=True) == FAILED
    found = json.loads(capsysbinary.readouterr().out)
    assert [problem["asset"] for problem in found["bad"]] == ["minhashes"]
    assert [(problem["file"], problem["problem"]) for problem in found["unread"]] == [
        (unreadable, "cannot be read now: Input/output error")
    ]
    assert found["mended"] == [f"minhashes/{ONE}"]
    assert drive(opened(work.folder)).recomputed == {("minhashes", ONE)}
    assert contents(opened(work.folder)) == whole


def test_what_was_made_from_other_content_is_made_again_after_mending(work: Work) -> None:
    """A suspect that names another digest of what it read than there is now was made from something else."""
    corpus = opened(work.folder)
    whole = contents(corpus)
    record = corpus.ledger.read("band_keys", ONE)
    assert record is not None
    inputs = {**record.inputs, f"minhashes/{ONE}": "0" * 32}
    recipe = recipe_digest(record.asset, record.code_version, record.parameters, inputs)
    corpus.ledger.write(msgspec.structs.replace(record, inputs=inputs, recipe=recipe))
    flip(corpus, path_of(corpus, "minhashes", ONE, ".signatures.npy"), random.Random(3))
    result = verify(opened(work.folder), deep=True)
    assert f"band_keys/{ONE}" in result.suspect
    mended(opened(work.folder), result, deep=True)
    assert {("minhashes", ONE), ("band_keys", ONE)} <= drive(opened(work.folder)).recomputed
    assert contents(opened(work.folder)) == whole


@pytest.mark.parametrize("seed", range(6))
def test_a_flipped_byte_of_a_record_is_a_partition_made_again(work: Work, seed: int) -> None:
    chance = random.Random(seed)
    corpus = opened(work.folder)
    name = chance.choice(sorted(digests(corpus), key=str))
    file = Path(corpus.storage.fetch(record_path(*name)))
    raw = bytearray(file.read_bytes())
    raw[chance.randrange(len(raw))] ^= chance.randrange(1, 256)
    file.write_bytes(raw)
    found = work.plan()
    assert found.pop(name) == ("missing", "commit record damaged")
    assert {status for status, _ in found.values()} <= {"waiting"}
    assert [problem.file for problem in verify(opened(work.folder), deep=True).bad] == [record_path(*name)]


def test_verify_beside_a_build_reports_nothing_that_is_right(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the listing and the look at the records, and after it, partitions are rebuilt."""
    corpus = opened(work.folder)
    work.config(short_documents__threshold=90)
    look = type(corpus.ledger).assets

    def meanwhile(ledger: object) -> set[str]:
        monkeypatch.undo()
        assert not drive(opened(work.folder)).failed
        return look(ledger)  # type: ignore[arg-type]

    monkeypatch.setattr(type(corpus.ledger), "assets", meanwhile)
    result = verify(corpus, deep=False)
    assert (result.bad, result.unowned) == ([], [])
