"""The simulation of clusters: what list scheduling must give at its two ends, and where groups come from."""

import math

import pytest

from benchmarks.cluster import Cluster, Corpus, arguments, figures, groups_of, page, ranges_of, simulate, size
from benchmarks.cluster_costs import Costs
from benchmarks.list_schedule import Group, schedule
from benchmarks.scale_page import TARGET
from resources.stage.declaration import Input, Partitioning, Stage, every, same
from resources.stage.task import Task

GROUPS = [
    Group("read", 10, 2.0),
    Group("count", 1, 5.0, ("read",)),
    Group("look", 4, 3.0, ("read",)),
    Group("join", 2, 1.0, ("count", "look")),
]


def test_one_core_takes_the_sum() -> None:
    found = schedule(GROUPS, 1)
    assert found.seconds == sum(group.count * group.seconds for group in GROUPS)


def test_cores_without_end_take_the_critical_path() -> None:
    found = schedule(GROUPS, 10**9)
    assert found.seconds == 2 + 5 + 1
    assert found.held_up == {"join": 1.0, "count": 5.0, "read": 2.0}
    assert found.limit == "count"


@pytest.mark.parametrize("cores", [2, 3, 4, 7])
def test_cores_between_lie_between(cores: int) -> None:
    found = schedule(GROUPS, cores)
    work = sum(group.count * group.seconds for group in GROUPS)
    assert max(work / cores, 8.0) <= found.seconds <= work / cores + 8.0
    assert sum(found.held_up.values()) == pytest.approx(found.seconds)


def test_waves_of_partitions_that_do_not_fit_at_once() -> None:
    assert schedule([Group("a", 100, 1.0)], 30).seconds == 4.0


def test_the_driver_hands_out_one_partition_after_the_other() -> None:
    found = schedule([Group("a", 1000, 0.001)], 10**6, dispatch=0.5)
    assert found.seconds == pytest.approx(1000 * 0.5 + 0.001)


def test_nothing_runs_beside_a_partition_of_the_whole_corpus() -> None:
    groups = [Group("a", 1, 3.0), Group("b", 1, 1.0), Group("whole", 1, 5.0, ("b",), alone=True)]
    assert schedule(groups, 10).seconds == 3 + 5
    more = [*groups, Group("c", 4, 2.0, ("b",)), Group("d", 1, 1.0, ("whole",))]
    assert schedule(more, 10).seconds == 3 + 5 + 1
    assert schedule([Group("whole", 2, 5.0, alone=True), Group("a", 4, 2.0)], 4).seconds == 2 + 5 + 5


def test_there_are_no_more_chunks_than_may_be_configured_and_no_more_shards_than_were_planned() -> None:
    large = Corpus(text=100e12, document=1000, shard=1e9, bands=5, ranges=4).partitions
    assert (large[Partitioning.SHARD], large[Partitioning.CHUNK]) == (10_000, 9_999)


def test_nothing_takes_no_time() -> None:
    assert schedule([], 4).seconds == 0.0
    assert schedule([Group("a", 0, 1.0), Group("b", 1, 2.0, ("a",))], 4).seconds == 2.0


def nothing(_: Task) -> None: ...


def stage(name: str, partitioning: Partitioning, *inputs: Input) -> Stage:
    return Stage(name, "g", "", partitioning, nothing, "1", "records", inputs)


STAGES = [
    stage("documents", Partitioning.SHARD),
    stage("keys", Partitioning.SHARD, same("documents")),
    stage("pairs", Partitioning.BAND, every("keys")),
    stage("clusters", Partitioning.NONE, every("pairs")),
    stage("mixed", Partitioning.SHARD, same("documents"), same("clusters")),
]
CORPUS = Corpus(text=20e9, document=1000, shard=1e9, bands=5, ranges=4)


def test_partitions_of_the_same_key_go_through_their_stages_together() -> None:
    seconds = {"documents": 3.0, "keys": 1.0, "pairs": 2.0, "clusters": 7.0, "mixed": 0.5}
    assert groups_of(STAGES, seconds, CORPUS) == [
        Group("documents", 20, 4.0),
        Group("pairs", 5, 2.0, ("documents",)),
        Group("clusters", 1, 7.0, ("pairs",), alone=True),
        Group("mixed", 20, 0.5, ("documents", "clusters")),
    ]


def test_a_serial_stage_limits_a_large_cluster_and_the_dearest_a_small_one() -> None:
    runs = [{"documents": n, "stages": {"clusters": {"cpu_s": n / 1e6}}} for n in (1_000_000, 10_000_000)]
    costs = Costs({"documents": 50.0, "keys": 1.0, "pairs": 1.0}, runs, 0.0)
    few, many = (simulate(STAGES, costs, CORPUS, Cluster(cores, 64, math.inf)) for cores in (1, 10_000))
    assert few.limit == "documents"
    assert few.seconds == pytest.approx(20_000 * 0.052 + 20)
    assert many.limit == "documents"
    assert many.held_up["clusters"] == pytest.approx(20)
    assert many.seconds == pytest.approx(20_000 * 0.051 / 20 + 20_000 * 0.001 / 5 + 20)


def test_costs_follow_the_measured_slope() -> None:
    runs = [{"documents": n, "stages": {"clusters": {"cpu_s": (n / 1e6) ** 1.5}}} for n in (1_000_000, 100_000_000)]
    costs = Costs({"documents": 2.0}, runs, 0.0)
    assert costs.seconds("clusters", 1e8, 0.0) == pytest.approx(1000)
    assert costs.seconds("clusters", 1e10, 0.0) == pytest.approx(1_000_000)
    assert costs.seconds("documents", 0.0, 500.0) == 1.0
    short = [{"documents": n, "stages": {"clusters": {"cpu_s": cost}}} for n, cost in ((10**6, 0.01), (10**7, 0.9))]
    assert Costs({}, short, 0.0).seconds("clusters", 1e8, 0.0) == pytest.approx(9)


def test_a_stage_costs_the_larger_of_what_documents_and_text_say() -> None:
    runs = [{"documents": n, "stages": {"clusters": {"cpu_s": n / 1e6}}} for n in (1_000_000, 10_000_000)]
    costs = Costs({"clusters": 0.5}, runs, 0.0)
    assert costs.seconds("clusters", 1e6, 1000.0) == pytest.approx(1.0)
    assert costs.seconds("clusters", 1e6, 5530.0) == pytest.approx(2.765)


def test_a_run_that_lacks_a_stage_says_nothing_of_it() -> None:
    runs = [{"documents": n, "stages": {"clusters": {"cpu_s": n / 1e6}}} for n in (1_000_000, 10_000_000)]
    larger = {"documents": 10**8, "stages": {"pairs": {"cpu_s": 7.0}}}
    costs = Costs({}, [*runs, larger], 0.0)
    assert costs.seconds("clusters", 1e8, 0.0) == pytest.approx(100)
    assert costs.seconds("pairs", 2e8, 0.0) == pytest.approx(14)
    assert costs.seconds("mixed", 1e8, 5.0) == 0.0


def test_larger_corpora_have_more_ranges() -> None:
    assert [ranges_of(documents) for documents in (1e6, 1.6e9, 1.8e10, 1e12)] == [16, 16, 180, 1000]


def test_a_machine_shares_its_bandwidth() -> None:
    cluster = Cluster(cores=128, machine=64, bandwidth=1e9)
    assert cluster.seconds_to_move(1e9, 1) == 1.0
    assert cluster.seconds_to_move(1e9, 6) == 3.0
    assert cluster.seconds_to_move(1e9, 10_000) == 64.0
    assert (size("2.5GB"), size("7")) == (2.5e9, 7.0)


def test_published_figures_are_found() -> None:
    costs = Costs.published()
    assert {"normalized_documents", "minhashes", "mixed_pass2"} <= set(costs.per_mb)
    measured = {name for run in costs.runs for name in run["stages"]}
    assert {"exact_duplicates", "duplicate_pairs", "candidate_pairs", "verified_pairs", "components"} <= measured
    assert 0 < costs.dispatch < 0.1


def test_the_page_shows_what_the_published_figures_give() -> None:
    costs = Costs.published()
    shown = page(figures(arguments([]), costs), costs)
    assert shown in TARGET.read_text(encoding="utf-8"), "python -m benchmarks.cluster --publish"
