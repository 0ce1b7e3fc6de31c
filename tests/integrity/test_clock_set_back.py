"""A clock that is set back between two builds: `verify --deep` still names what was made from a damaged file."""

import random
from datetime import UTC, datetime, timedelta, tzinfo
from typing import ClassVar

import msgspec
import pytest

from corpus_assets.verification.verify import verify
from resources.stage.jobs import run_job
from tests.build.small import Work, drive, opened
from tests.integrity.test_damaged_files import ONE, flip, path_of


class _Clock:
    ahead: ClassVar = timedelta(days=400)

    @classmethod
    def now(cls, zone: tzinfo) -> datetime:
        return datetime.now(zone) + cls.ahead


def test_what_is_made_after_the_clock_was_set_back_is_suspect(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    work.config(minhash__width=4)
    corpus = opened(work.folder)
    with monkeypatch.context() as patch:
        patch.setattr(run_job, "datetime", _Clock)
        drive(corpus, [corpus.graph["minhashes"]])
    assert f"band_keys/{ONE}" in {f"{asset}/{key}" for asset, key in drive(opened(work.folder)).recomputed}
    corpus = opened(work.folder)
    read, made = corpus.ledger.read("minhashes", ONE), corpus.ledger.read("band_keys", ONE)
    assert read is not None and made is not None
    assert made.created >= read.created > datetime.now(UTC).isoformat()
    flip(corpus, path_of(corpus, "minhashes", ONE, ".signatures.npy"), random.Random(3))
    result = verify(opened(work.folder), deep=True)
    assert {f"band_keys/{ONE}", "duplicate_pairs/band-00"} <= {*result.suspect}
    assert {*result.unsure} <= {"report"}  # made before, and not again


def test_records_of_which_the_time_says_nothing_are_named_as_unsure(work: Work) -> None:
    corpus = opened(work.folder)
    record = corpus.ledger.read("minhashes", ONE)
    assert record is not None
    corpus.ledger.write(msgspec.structs.replace(record, created="2099-01-01T00:00:00+00:00"))
    flip(corpus, path_of(corpus, "minhashes", ONE, ".signatures.npy"), random.Random(3))
    result = verify(opened(work.folder), deep=True)
    assert result.suspect == []
    assert f"band_keys/{ONE}" in result.unsure
    assert "short_documents/books--one" not in result.unsure
