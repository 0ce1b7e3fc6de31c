"""A token that corpus.yaml names and the tokenizer lacks is told by the plan, with its key and what is valid."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.tokenize.named_tokens import check_tokens
from corpus_assets.tokenize.tokenizers.training import may_be_learned, special_tokens, train_bpe
from resources.errors import ConfigError
from tests.build.small import opened, write_config, write_small
from tests.tokenize.tokenizers_for_tests import TEXTS

SPLIT = {"name": "made", "input": "decontaminated_train"}
FIM = {"mode": "fim", "sequence_length": 128}
NAMED: dict[str, tuple[dict[str, Any], str]] = {
    "fim": (FIM, "prefix_token"),
    "fim_last": ({**FIM, "prefix_token": "<a>", "middle_token": "<b>"}, "suffix_token"),
    "separator": ({"format": "ragged", "separator": "after", "separator_token": "<none>"}, "separator_token"),
    "first": ({"format": "olmo", "bos_token": "<none>"}, "bos_token"),
}
KINDS: dict[str, Mapping[str, Any]] = {
    "train": {"kind": "train", "vocabulary": 400, "special_tokens": ["<a>", "<b>"]},
    "neox": {"kind": "neox", "path": "tokenizer.json"},
}


def faults_of_plan(folder: Path, tokenizer: Mapping[str, Any], dataset: Mapping[str, Any]) -> str:
    """Says what every stage of the dataset refuses before a build."""
    (folder / "tokenizer.json").write_bytes(train_bpe(TEXTS, 300, special_tokens=special_tokens(["<a>", "<b>"])))
    write_config(folder, {"tokenizer": dict(tokenizer), "datasets": [{**SPLIT, **dataset}]})
    corpus, said = opened(folder), []
    for stage in corpus.graph:
        try:
            stage.hooks.check_before(corpus.settings.values)
        except ConfigError as fault:
            said.append(str(fault))
    return "\n".join(said)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMED)
def test_a_token_that_is_not_there_is_refused_before_a_build(tmp_path: Path, name: str, kind: str) -> None:
    dataset, key = NAMED[name]
    said = faults_of_plan(tmp_path, KINDS[kind], dataset)
    assert f"datasets.made.{key}: " in said
    assert "special_tokens" in said


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in NAMED if not name.startswith("fim")])
def test_one_that_is_there_is_not(tmp_path: Path, name: str, kind: str) -> None:
    dataset, key = NAMED[name]
    assert faults_of_plan(tmp_path, KINDS[kind], {**dataset, key: "<b>"}) == ""


def test_those_of_fill_in_the_middle_may_be_control_tokens(tmp_path: Path) -> None:
    tokens = {"prefix_token": "<a>", "middle_token": "<b>", "suffix_token": "<|padding|>"}
    for kind in KINDS.values():
        assert faults_of_plan(tmp_path, kind, {**FIM, **tokens}) == ""


def test_those_of_all_datasets_are_told_at_once(tmp_path: Path) -> None:
    datasets = [{**SPLIT, **dataset, "name": name} for name, (dataset, _) in NAMED.items()]
    planner = opened(write_small(tmp_path, {"tokenizer": dict(KINDS["train"]), "datasets": datasets})).planner()
    with pytest.raises(ConfigError) as raised:
        planner.check_before(planner.graph)
    lines = str(raised.value).splitlines()
    assert len(lines) == len(set(lines))
    for name, (_, key) in NAMED.items():
        assert any(line.startswith(f"datasets.{name}.{key}: ") for line in lines), name


def test_nothing_is_said_of_a_tokenizer_that_is_downloaded_later() -> None:
    check_tokens({"key": "<none>"}, {"kind": "hub"}, None)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=12), min_size=1, max_size=6))
def test_whatever_is_learned_may_be_learned(texts: list[str]) -> None:
    made = json.loads(train_bpe(texts * 3, 400))
    learned = made["model"]["vocab"].keys() - {token["content"] for token in made["added_tokens"]}
    assert [token for token in learned if not may_be_learned(token)] == []


@pytest.mark.parametrize("token", ["<|fim_prefix|>", "[SEP]", "a b", "日本", "", "<s>x"])
def test_what_lies_in_several_words_is_never_learned(token: str) -> None:
    assert not may_be_learned(token)
