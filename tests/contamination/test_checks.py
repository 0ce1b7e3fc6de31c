"""The check of train finds items that are left in it, and only those."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from corpus_assets.checks import corpus_checks
from corpus_assets.contamination.checks import BENCHMARKS_IN_TRAIN, benchmarks_in_train
from corpus_assets.corpus.corpus import Corpus
from tests.build.small import drive, prose, write_raw, write_small
from tests.contamination.planted import FACTS, SUMS, configure, item, write_items

ITEMS = [item(f"fact {number}", 60) for number in range(4)]


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A corpus with a document that holds one of four items, and one that holds a third of another."""
    write_small(tmp_path)
    third = " ".join(ITEMS[1].split()[:20])
    texts = {"whole": f"{prose('a')}\n{ITEMS[0]}\n{prose('b')}", "third": f"{prose('d')}\n{third}\n{prose('e')}"}
    write_raw(tmp_path, "books/planted.jsonl", [{"id": name, "text": text} for name, text in texts.items()])
    rows = [{"id": f"item-{number}", "text": text} for number, text in enumerate(ITEMS)]
    write_items(tmp_path, "facts/test.jsonl", rows)
    write_items(tmp_path, "sums/test.jsonl", [{"id": "s", "question": item("sum"), "answer": ""}])
    return tmp_path


def built(folder: Path, action: str, **changes: Any) -> Corpus:
    corpus = configure(folder, [FACTS, SUMS], on_contamination=action, split__holdout=0, **changes)
    done = drive(corpus, corpus.graph.select(["+decontaminated_train", "+boilerplate_ngrams"]))
    assert done.failed == [], done.failed
    return corpus


def checked(corpus: Corpus) -> dg.AssetCheckResult:
    """What both checks say."""
    of_train, of_report = (check() for check in benchmarks_in_train(corpus))
    assert isinstance(of_train, dg.AssetCheckResult)
    assert of_report == of_train
    return of_train


def test_items_that_are_left_in_train_are_found(planted: Path) -> None:
    found = checked(built(planted, "report", contamination__allowed=0.1))
    assert not found.passed
    assert found.metadata["facts-1.0: items held of 4"].value == 1
    assert found.metadata["sums: items held of 1"].value == 0
    assert found.description is not None
    assert "facts-1.0: train holds 1 of 4 items, 25.00%; contamination.allowed is 10.00%" in found.description
    assert "'item-0' (1.00)" in found.description


@pytest.mark.parametrize(("allowed", "share", "passed"), [(0.25, 0.5, True), (0.25, 0.3, False), (0.5, 0.3, True)])
def test_as_many_as_the_configuration_allows_may_be_left(
    planted: Path, allowed: float, share: float, passed: bool
) -> None:
    corpus = built(planted, "report", contamination__allowed=allowed, contamination__share=share)
    assert checked(corpus).passed == passed


@pytest.mark.parametrize("action", ["remove_document", "remove_span"])
def test_nothing_is_left_after_removal(planted: Path, action: str) -> None:
    corpus = built(planted, action, contamination__allowed=0, contamination__share=0.3)
    found = checked(corpus)
    assert found.passed, found.description
    assert found.metadata["chunks"].value == 3


def test_before_a_build_and_over_damage_it_does_not_pass(planted: Path) -> None:
    corpus = configure(planted, [FACTS], contamination__allowed=0)
    assert checked(corpus).description == "benchmark_ngrams does not exist yet (and 1 more)"
    corpus = built(planted, "remove_document", contamination__allowed=0)
    chunk = Path(corpus.storage.fetch("splits/decontaminated_train/chunk-0000.jsonl.gz"))
    chunk.write_bytes(chunk.read_bytes()[:-20])
    assert "chunk-0000: cannot be read" in (checked(corpus).description or "")


def test_the_check_is_there_if_a_limit_is_configured(planted: Path) -> None:
    def names(corpus: Corpus) -> set[str]:
        return {key.name for check in corpus_checks(corpus) for key in check.check_keys}

    assert BENCHMARKS_IN_TRAIN in names(configure(planted, [FACTS], contamination__allowed=0.01))
    assert BENCHMARKS_IN_TRAIN not in names(configure(planted, [FACTS]))
    assert BENCHMARKS_IN_TRAIN not in names(configure(planted, [], contamination__allowed=0.01))
