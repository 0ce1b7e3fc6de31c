"""The graph: order, selection, and what it refuses; and the settings a stage sees."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from typing_extensions import override

from resources.errors import ConfigError
from resources.planning.changes import input_change
from resources.shards.listing import Shard
from resources.stage.declaration import Input, Partitioning, Stage, same
from resources.stage.graph import Graph
from resources.stage.hooks import Hooks, Values
from resources.stage.settings import Settings


def nothing(_: Any) -> None:
    return None


def stage(name: str, *reads: str, group: str = "g", **more: Any) -> Stage:
    inputs: tuple[Input, ...] = tuple(same(asset) for asset in reads)
    return Stage(name, group, "", Partitioning.SHARD, nothing, "1", "records", inputs, **more)


class Counting(Hooks):
    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {"n": len(settings)}


DIAMOND = Graph([stage("d", "b", "c", group="late"), stage("b", "a"), stage("c", "a"), stage("a"), stage("e")])


def names(stages: list[Stage]) -> list[str]:
    return [found.name for found in stages]


def test_stages_come_after_what_they_read() -> None:
    assert [found.name for found in DIAMOND] == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (["b"], ["b"]),
        (["+b"], ["a", "b"]),
        (["b+"], ["b", "d"]),
        (["+b+"], ["a", "b", "d"]),
        (["+group:late"], ["a", "b", "c", "d"]),
        (["group:g"], ["a", "b", "c", "e"]),
        (["e", "a"], ["a", "e"]),
    ],
)
def test_selection(selection: list[str], expected: list[str]) -> None:
    assert names(DIAMOND.select(selection)) == expected


def test_what_does_not_exist_is_named_with_what_does() -> None:
    with pytest.raises(ConfigError, match="no asset named 'x'; assets are: a, b"):
        DIAMOND.select(["x+"])
    with pytest.raises(ConfigError, match="no assets in group 'x'; groups are: g, late"):
        DIAMOND.select(["group:x"])
    for empty in ("", "+"):
        with pytest.raises(ConfigError, match="an empty name of an asset; assets are: a, b"):
            DIAMOND.select([empty])


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([stage("a", "b"), stage("b", "a")], "depends on itself"),
        ([stage("a", "a")], "depends on itself"),
        ([stage("a", "nowhere")], "reads 'nowhere', which does not exist"),
        ([stage("a"), stage("a")], "two assets are named 'a'"),
    ],
)
def test_impossible_graphs_are_refused(stages: list[Stage], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Graph(stages)


VALUES: Mapping[str, Any] = {
    "mix": {"seed": 3},
    "minhash": {"bands": 2},
    "sources": [{"name": "a", "epochs": 1.0}, {"name": "b", "epochs": 2.0}],
}


def test_a_stage_sees_what_it_declared_and_nothing_else() -> None:
    settings = Settings(VALUES)
    shard = Shard("b--x", "b", "x", "", "x", 0, "")
    own = stage("s", parameters=("mix.seed", "source.epochs"), hooks=Counting())
    assert settings.parameters(own, shard) == {"mix.seed": 3, "source.epochs": 2.0, "n": 3}
    assert settings.sources() == ["a", "b"]
    assert settings.bands() == ["band-00", "band-01"]
    with pytest.raises(ConfigError, match=r"no configuration value named 'mix\.none'"):
        settings.get("mix.none")


def test_a_change_of_inputs_in_words() -> None:
    old = {"a": "1", "b": "2", "c": "3"}
    assert input_change(old, old) == ""
    assert input_change(old, {"a": "1", "b": "9", "c": "3"}) == "b changed"
    assert input_change(old, {"a": "9", "b": "9", "d": "4"}) == "a and 1 more changed, d added, c removed"
    assert input_change(old, {"b": "2", "a": "1", "c": "3"}) == "order of inputs changed"


def test_groups_that_read_each_other_are_refused() -> None:
    stages = [stage("a", group="before"), stage("b", "a", group="between"), stage("c", "b", group="before")]
    with pytest.raises(ConfigError) as caught:
        Graph(stages)
    assert set(str(caught.value).removeprefix("groups of assets read each other in a circle: ").split("; ")) == {
        "b (between) reads a",
        "c (before) reads b",
        "valid: another group for one of these assets, such as one of its own",
    }
    assert Graph([*stages[:2], replace(stages[2], group="after")]).groups() == ["before", "between", "after"]


@pytest.mark.parametrize(
    ("reader", "said"),
    [
        ({"partitioning": Partitioning.CHUNK}, "one has a partition per chunk and the other a partition per shard"),
        ({"partitioning": Partitioning.NONE}, "one has no partitions and the other a partition per shard"),
        ({"shard_set": "q"}, "one has a partition per shard of q and the other a partition per shard"),
    ],
)
def test_a_partition_cannot_read_one_of_the_same_key_where_there_is_none(reader: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as found:
        Graph([stage("a"), replace(stage("b", "a"), **reader)])
    assert str(found.value).startswith("asset 'b' reads 'a' partition by partition, but ")
    assert said in str(found.value)
    assert str(found.value).endswith("valid: every('a') or own_segment('a')")
