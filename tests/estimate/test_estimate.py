"""The estimate of the small corpus, from samples that are really built."""

import json
import shutil
from pathlib import Path

import pytest

from corpus_assets.cli.console import output
from corpus_assets.cli.estimating.whole import Prices, _as_json, _show
from corpus_assets.estimate.known import known_cost
from corpus_assets.estimate.run import BLOCKS, run_estimate
from corpus_assets.estimate.sample_builds import some_files
from corpus_assets.estimate.sizes import factors_of
from resources.errors import CorpusError
from resources.shards.listing import Listing, Shard
from resources.user import cache as user_cache
from tests.build.conftest import built_once, work
from tests.build.small import Work, opened, raw_rows, write_raw
from tests.faults.command import run

__all__ = ["built_once", "work"]


def listing(sizes: dict[str, list[int]]) -> Listing:
    return Listing(
        tuple(
            Shard(f"{source}--{number}", source, str(number), "/raw", str(number), size, "")
            for source, found in sizes.items()
            for number, size in enumerate(found)
        ),
        (),
    )


def test_files_that_stand_for_all_are_some_of_each_source_and_all_of_benchmarks() -> None:
    there = listing({"books": [10] * 100, "web": [1000], "exam": [5] * 7})
    chosen = some_files(there, ["books", "web"], 200)
    count = {name: sum(key.startswith(name) for key in chosen) for name in ("books", "web", "exam")}
    assert count == {"books": 10, "web": 1, "exam": 7}
    assert some_files(there, ["books", "web"], 200) == chosen
    assert some_files(there, ["books", "web"], 200, seed=1) != chosen
    assert len(some_files(there, ["books", "web"], 10**6)) == 108
    factors = factors_of(there, chosen)
    assert factors == {"books": 10.0, "web": 1.0, "exam": 1.0}


@pytest.mark.slow
def test_an_estimate_is_near_the_build_and_changes_nothing(
    work: Work, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_cache, "user_folder", lambda group: tmp_path / "user" / group)
    whole = opened(work.folder)
    records = {stage.name: whole.planner().records(stage.name) for stage in whole.graph}
    shutil.rmtree(work.folder / "corpus")
    before = sorted(work.folder.rglob("*"))
    said: list[str] = []
    corpus = opened(work.folder)
    result = run_estimate(corpus, 5, said.append)
    found = _as_json(result, Prices(1.0, 1.0))
    assert sorted(work.folder.rglob("*")) == before
    assert len(said) == BLOCKS + 2
    assert found["documents"]["value"] == sum(len(rows) for rows in raw_rows().values())
    partitions = {one["asset"]: one["partitions"] for one in found["stages"]}
    assert partitions == {asset: len(of) for asset, of in records.items()}
    tokens = sum(one.statistics["tokens"] for one in records["train_token_params"].values())
    assert 0.3 < found["tokens"]["train"]["value"] / tokens < 3
    assert found["cpu_seconds_due"] <= found["cpu_seconds"]["value"]
    assert found["prices"].keys() == {"cpu", "month"}
    assert found["duplicates"]["least"] <= found["duplicates"]["expected"] <= found["duplicates"]["most"]
    json.dumps(found)
    cost = known_cost(corpus, corpus.planner())
    assert cost is not None
    assert (cost.raw, cost.built) == (result.raw, False)
    assert cost.stored == pytest.approx(result.estimate.stored.value)
    assert cost.seconds == pytest.approx(result.estimate.wall.value)
    _show(output(), result, Prices(0.04, 0.02))
    out = capsys.readouterr().out
    assert "price of the CPU hours" in out
    assert "of 7 raw files" in out


def test_of_what_is_built_the_records_are_the_estimate(work: Work) -> None:
    assert run(work.folder, "build", "--json")[0] == 0
    corpus = opened(work.folder)
    said: list[str] = []
    result = run_estimate(corpus, 5, said.append)
    found = _as_json(result, Prices())
    assert (said, result.shares, found["cpu_seconds_due"]) == ([], None, 0)
    planner = corpus.planner()
    records = [record for stage in corpus.graph for record in planner.records(stage.name).values()]
    stored = sum(file.bytes for record in records for file in record.files)
    assert sum(one["bytes"]["value"] for one in found["stages"]) == pytest.approx(stored)
    tokens = next(iter(planner.records("train_token_params").values())).statistics["tokens"]
    assert found["tokens"]["train"]["value"] == pytest.approx(tokens)


def test_a_corpus_whose_samples_fail_is_not_estimated(work: Work) -> None:
    shutil.rmtree(work.folder / "corpus")
    write_raw(work.folder, "books/one.jsonl", [])
    Path(work.folder, "raw/books/one.jsonl").write_bytes(b"\x1f\x8b no rows")
    with pytest.raises(CorpusError, match="nothing can be estimated: normalized_documents/books--one"):
        run_estimate(opened(work.folder), 5, lambda _: None)
