"""Weights say of what content they were made, and the plan says when that is other content now."""

import csv
from pathlib import Path

import pytest

from corpus_assets.cli.weights import run, table_of
from resources.errors import ConfigError
from tests.build.small import drive, opened
from tests.mix.units.buckets import QUALITY, TOPIC, configure, counted, mixed


def other_content(folder: Path) -> list[str]:
    return [note for note in opened(folder).planner().plan().notes if "fitted on other content" in note]


def test_a_table_of_weights_knows_its_content(tmp_path: Path) -> None:
    corpus, _ = mixed(tmp_path, [TOPIC, QUALITY], None)
    assert drive(corpus, corpus.graph.select(["+mixed_units"])).failed == []
    run(tmp_path / "corpus.yaml", "mix", tmp_path / "weights.csv")
    lines = (tmp_path / "weights.csv").read_text().splitlines()
    assert lines[0].startswith("# fitted on decontaminated_train_token_stream ")
    assert lines[1].startswith("# fitted on mixed_units ")
    rows = list(csv.DictReader(lines[2:]))
    assert {row["unit"] for row in rows} <= counted(corpus).keys()
    weights = {"shares": "weights.csv", "max_epochs": 4}
    _, found = mixed(tmp_path, [TOPIC, QUALITY], weights)
    # The shares that there are give every document once.
    used = found["mixture"]["units"]
    assert {row["unit"]: int(row["tokens"]) for row in rows} == {unit: one["available"] for unit, one in used.items()}
    assert all(abs(one["reached"] - one["available"]) <= 80 for one in used.values())
    assert other_content(tmp_path) == []
    (tmp_path / "raw/books/1.jsonl").unlink()
    corpus = opened(tmp_path)
    assert drive(corpus, corpus.graph.select(["+mix_manifest"])).failed == []
    assert other_content(tmp_path) == [
        f"datasets.mix.weights.shares: weights were fitted on other content of {asset}; it has changed since "
        "(`corpus weights mix` shows what there is now)"
        for asset in ("decontaminated_train_token_stream", "mixed_units")
    ]


def test_weights_in_the_configuration_name_digests_too(tmp_path: Path) -> None:
    mixed(tmp_path, "source", None)
    first = table_of(opened(tmp_path), "mix").splitlines()[0].removeprefix("# fitted on ")
    asset, _, digest = first.partition(" ")
    shares = {"books": 1, "web": 1}
    before = mixed(tmp_path, "source", {"shares": shares, "max_epochs": 9})[1]
    fitted = {"shares": shares, "max_epochs": 9, "fitted_on": {asset: digest}}
    assert mixed(tmp_path, "source", fitted)[1] == before
    assert other_content(tmp_path) == []
    configure(tmp_path, "source", {**fitted, "fitted_on": {asset: "0" * 32, "nowhere": digest}})
    changed, gone = other_content(tmp_path)
    assert asset in changed
    assert "nowhere; there is none of it" in gone


def test_a_table_is_of_a_dataset_that_is_built(tmp_path: Path) -> None:
    configure(tmp_path, [TOPIC], None)
    with pytest.raises(ConfigError, match="decontaminated_train_token_stream is not built: `corpus build --select"):
        table_of(opened(tmp_path), "mix")
    with pytest.raises(ConfigError, match="is named 'other'; valid: mix"):
        table_of(opened(tmp_path), "other")
