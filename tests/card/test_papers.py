"""The papers say what is known, mark what only a person can say, and hold to their formats."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from huggingface_hub import DatasetCard

from corpus_assets.card.croissant import croissant
from corpus_assets.card.dataset_card import dataset_card
from corpus_assets.card.facts import Facts, Written
from corpus_assets.card.spdx import spdx
from corpus_assets.card.training_summary import training_summary
from tests.card.facts import facts

PAPERS: list[Callable[[Facts, Written], Any]] = [croissant, dataset_card, spdx, training_summary]
MARK = "to be written by a person"


@pytest.mark.parametrize("paper", PAPERS)
def test_with_all_said_nothing_is_marked(paper: Callable[[Facts, Written], Any]) -> None:
    known = facts()
    said = Written(known.card)
    assert MARK not in str(paper(known, said))
    assert said.missing == {}


@pytest.mark.parametrize("paper", PAPERS)
def test_what_only_a_person_can_say_is_marked_and_listed(paper: Callable[[Facts, Written], Any]) -> None:
    known = facts({})
    said = Written(known.card)
    text = str(paper(known, said))
    assert MARK in text
    assert all(key.startswith("card.") for key in said.missing)
    marked = set(re.findall(rf"{MARK}: ([^\]]*)\]", text))
    # These two formats have a type for days, which a mark is not.
    assert set(said.missing.values()) - marked == ({"the day of publication"} if paper in (spdx, croissant) else set())
    assert marked <= set(said.missing.values())


def test_the_card_of_the_hub_has_a_head_that_the_hub_reads() -> None:
    known = facts()
    text = dataset_card(known, Written(known.card))
    head = DatasetCard(text).data.to_dict()  # type: ignore[no-untyped-call]
    assert head["license"] == "cc-by-4.0"
    assert head["language"] == ["en", "de"]
    assert head["size_categories"] == ["n<1K"]
    assert head["configs"][0]["data_files"] == [{"split": "train", "path": "splits/decontaminated_train/*.jsonl.gz"}]
    assert yaml.safe_load(text.split("---")[1]) == head


def test_names_from_outside_are_no_markup() -> None:
    known = facts()
    text = dataset_card(known, Written(known.card))
    assert "Terms \\| of \\*my\\* own" in text


def test_the_summary_has_the_sections_of_the_template() -> None:
    known = facts()
    text = training_summary(known, Written(known.card))
    heads = re.findall(r"^#{2,3} ([\d.]+)", text, re.MULTILINE)
    assert heads == [
        "1.",
        "1.1",
        "1.2",
        "1.3",
        "2.",
        "2.1",
        "2.2.1",
        "2.2.2",
        "2.3",
        "2.4",
        "2.5",
        "2.6",
        "3.",
        "3.1",
        "3.2",
        "3.3",
    ]
    assert "less than 1 billion tokens" in text
    crawled = text.split("### 2.3")[1].split("### 2.4")[0]
    assert "**web** (10.0 % of the text, 300,000 tokens)" in crawled
    assert "shelfbot" in crawled
    assert "**books**" in text.split("### 2.1")[1].split("### 2.2.1")[0]


def test_each_dataset_in_spdx_has_one_declared_and_one_concluded_licence() -> None:
    known = facts()
    graph = spdx(known, Written(known.card))["@graph"]
    packages = [one["spdxId"] for one in graph if one["type"] == "dataset_DatasetPackage"]
    assert len(packages) == 3
    for kind in ("hasDeclaredLicense", "hasConcludedLicense"):
        assert sorted(one["from"] for one in graph if one.get("relationshipType") == kind) == sorted(packages)
    expressions = {
        one["simplelicensing_licenseExpression"] for one in graph if "simplelicensing_licenseExpression" in one
    }
    assert "CC-BY-4.0" in expressions
    assert "(MIT OR ISC) AND LicenseRef-Terms-of-my-own AND LicenseRef-none-stated" in expressions
