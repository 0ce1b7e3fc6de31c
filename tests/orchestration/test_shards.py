"""Dagster's shard partitions follow the raw files, however many come or go at once."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import dagster as dg
import pytest

from partitions.shards import register_shards
from resources.planning.planner import Planner
from resources.stage.declaration import Partitioning

MANY = 33_000
"""More than SQLite takes values in one statement."""


@pytest.fixture(params=["in files", "in memory"])
def instance(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[dg.DagsterInstance]:
    in_files = request.param == "in files"
    with dg.DagsterInstance.local_temp(str(tmp_path)) if in_files else dg.DagsterInstance.ephemeral() as made:
        yield made


def planner(keys: list[str]) -> Planner:
    """A planner that knows the raw files of one set."""
    stage = SimpleNamespace(looks_outside=True, partitioning=Partitioning.SHARD, shard_set=None)
    return cast(Planner, SimpleNamespace(graph=[stage], partitions=lambda _: list[Any](keys)))


def _one_by_one(*_: object) -> None:
    raise AssertionError("a connection and a commit for each of thousands of shards")


def test_thousands_of_shards_come_and_go_at_once(instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [f"books--s{number:05}" for number in range(MANY)]
    instance.add_dynamic_partitions("shard-other", keys[:3])
    register_shards(planner(keys), instance)
    assert instance.get_dynamic_partitions("shard") == keys
    monkeypatch.setattr(dg.DagsterInstance, "delete_dynamic_partition", _one_by_one)
    register_shards(planner(keys[1::2]), instance)
    assert instance.get_dynamic_partitions("shard") == keys[1::2]
    assert instance.get_dynamic_partitions("shard-other") == keys[:3]
    register_shards(planner([]), instance)
    assert instance.get_dynamic_partitions("shard") == []
