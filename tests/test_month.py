"""The simulated month: what goes wrong on the cluster changes no content, and what it costs is counted."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.month import WEEKLY, Month, digests
from benchmarks.month_cluster import HOUR, Cluster, Faults, Spent
from corpus_assets.corpus.corpus import Corpus

BAD = Faults(lost_a_day=200.0, away=60.0, slow=0.5, refused=0.1, storm=0.2)
"""A machine is lost every seven minutes, and some partitions fail in storms."""


def _month(folder: Path, seed: str = "test") -> Month:
    month = Month(folder, text=2e10, files=6, chunks=3, seed=seed)
    month.begin()
    return month


def test_a_month_of_faults_has_the_content_of_one_build_without(tmp_path: Path) -> None:
    month = _month(tmp_path)
    month.day(0, BAD)
    month.change_raw(1)
    killed = month.build(BAD, killed_after=200.0)
    month.day(1, BAD)
    found = dict(digests(tmp_path))
    assert killed["killed"], len(month.builds)
    assert month.spent.machines_lost and month.spent.refused and month.spent.lost
    assert month.spent.again == 0.0
    assert any(path.endswith("s0000012") for path in found)
    month.config({}, root="again")
    calm = Month(tmp_path, month.text, month.files, month.chunks, seed="another")
    told = calm.build(None)
    assert told["ok"] and dict(digests(tmp_path)) == found
    assert calm.spent.lost == 0.0 and calm.spent.partitions == len(found)


def test_each_change_of_a_week_makes_partitions_stale(tmp_path: Path) -> None:
    month = _month(tmp_path)
    month.build(None)
    for changes in WEEKLY:
        month.config(changes)
        assert Corpus.open(tmp_path / "corpus.yaml").planner().plan().counts()["stale"], changes


def test_what_is_computed_again_is_counted(tmp_path: Path) -> None:
    month = _month(tmp_path)
    month.build(None)
    (tmp_path / "corpus/ledger/minhashes").rename(tmp_path / "gone")
    month.build(None)
    assert month.spent.again > 0.0
    assert month.spent.share_twice == pytest.approx(month.spent.again / (month.spent.once + month.spent.again))


def test_a_storm_lasts_its_seconds_of_every_hour() -> None:
    faults = Faults(refused=0.0, storm=1.0, storm_seconds=360.0)
    assert faults.refused_between(0.0, 360.0) == 1.0
    assert faults.refused_between(360.0, HOUR) == 0.0
    assert faults.refused_between(180.0, HOUR + 180.0) == pytest.approx(0.1)
    assert replace(faults, storm=0.5, refused=0.1).refused_between(0.0, HOUR) == pytest.approx(0.14)


def test_chances_belong_to_their_events() -> None:
    cluster = Cluster(1, 1, {}, {}, {}, 0.0, Faults(), "seed")
    assert cluster.chance("a", 1).random() == cluster.chance("a", 1).random() != cluster.chance("a", 2).random()


def test_shares_of_nothing_are_none() -> None:
    assert Spent().share_twice == 0.0
