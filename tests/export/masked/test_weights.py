"""Weights of a masked dataset that reads a split: each source has the tokens that it should have, by whole texts."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.export.token_stream import sums_by_source
from resources.errors import ConfigError
from tests.build.small import opened
from tests.export.exported import manifest_of, partitions
from tests.export.masked import rules
from tests.export.masked.product import CHAT, FIM, built, dataset, exported_rows
from tests.export.masked.test_product import asked, faults

WEIGHTS = {"shares": {"books": 3, "web": 1}, "total": 9000, "max_epochs": 9}
SPLIT: dict[str, Any] = {**FIM, "input": "decontaminated_train"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("weights")
    plain, weighed = dataset("plain", SPLIT, format="parquet"), dataset("weighed", SPLIT, format="parquet")
    built(made, plain, {**weighed, "weights": WEIGHTS})
    return made


def test_sources_have_the_tokens_that_weights_say(folder: Path) -> None:
    corpus = opened(folder)
    there = sums_by_source(partitions(corpus, "weighed_masked_token_stream"))
    found, used = manifest_of(corpus, "weighed"), Counter[str]()
    for made in partitions(corpus, "weighed_tokens"):
        used.update({source: one["tokens"] for source, one in made.counters("by_source").items() if one["tokens"]})
    assert used.keys() == {"books", "web"}
    for source, target in (("books", 6750), ("web", 2250)):
        mixture = found["mixture"]["sources"][source]
        assert (mixture["target"], mixture["reached"]) == (target, used[source])
        assert mixture["available"] == there[source]["tokens"]
        assert abs(used[source] - target) <= 130
    assert found["learned"] == found["ids"] - found["documents"]


def test_what_is_learned_is_part_of_what_there_is(folder: Path) -> None:
    plain, weighed = (rules.trl(exported_rows(folder, name)) for name in ("plain", "weighed"))
    assert weighed.keys() < plain.keys()
    assert max(weighed.values()) > 1


def test_checks_find_nothing_and_tokens_are_traced(folder: Path) -> None:
    assert faults(opened(folder)) == []
    file = "chunk-0000-00000.parquet"
    found = asked(folder, "trace", "weighed", file, 1, 3)
    why = asked(folder, "why", found["origin"]["id"], "--source", found["origin"]["source"])
    steps = [step for way in why["ways"] for step in way["steps"] if step["stage"] == "weighed_tokens"]
    assert any(run["first"] <= 1 <= run["last"] for step in steps for run in step["details"]["rows"])


def test_files_of_its_own_may_be_weighed_and_rows_are_not_shuffled(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="shuffle is not valid with `format: parquet`: trainers shuffle rows"):
        built(tmp_path, dataset("fim", SPLIT, format="parquet", shuffle=True))
    with pytest.raises(ConfigError, match="weights"):
        built(tmp_path, {**dataset("chat", CHAT, format="parquet"), "weights": WEIGHTS})
