"""Changes of a configuration for a question: `KEY=VALUE`."""

import copy
from pathlib import Path

import pytest

from corpus_assets.config.reading.changes import MOST, with_changes
from corpus_assets.config.reading.loading import load_config
from resources.errors import ConfigError
from tests.build.small import drive, opened, write_small

VALUES = {"split": {"holdout": 0.01}, "sources": [{"name": "books", "epochs": 1.0}, {"name": "web"}], "filter": None}


def test_sections_lists_and_what_is_not_there_yet() -> None:
    before = copy.deepcopy(VALUES)
    found = with_changes(
        VALUES,
        ["split.holdout={count: 5}", "sources.web.epochs=2.5", "sources.0.epochs=3", "mix.chunks=2", "filter.x=[a]"],
    )
    assert found["split"] == {"holdout": {"count": 5}}
    assert found["sources"] == [{"name": "books", "epochs": 3}, {"name": "web", "epochs": 2.5}]
    assert found["mix"] == {"chunks": 2}
    assert found["filter"] == {"x": ["a"]}
    assert before == VALUES


def test_a_key_that_is_there_may_hold_dots() -> None:
    values = {"rules": {"a.b": {"min": 1}, "a.b.c": {"min": 2}, "a": {"b": 3}, 4: 5}}
    found = with_changes(values, ["rules.a.b.c.min=20", "rules.a.b.min=10", "rules.a.b.max=9", "rules.d.e.min=7"])
    assert found["rules"] == {
        "a.b": {"min": 10, "max": 9},
        "a.b.c": {"min": 20},
        "a": {"b": 3},
        4: 5,
        "d": {"e": {"min": 7}},
    }
    assert with_changes(values, ["rules.a.b={min: 8}"])["rules"]["a.b"] == {"min": 8}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("split.holdout", "valid is KEY=VALUE"),
        ("=1", "valid is KEY=VALUE"),
        ("split..holdout=1", "valid is KEY=VALUE"),
        ("sources.pages.epochs=1", "no 'pages' in the list; there are books, web"),
        ("sources.7.epochs=1", "no '7' in the list"),
        ("split.holdout.count=1", "split.holdout is 0.01, and has no 'count'"),
        ("split.holdout={", "--set split.holdout"),
    ],
)
def test_what_is_wrong_is_named(change: str, message: str) -> None:
    with pytest.raises(ConfigError, match=r".") as refused:
        with_changes(VALUES, [change])
    assert message in str(refused.value)


def test_there_is_a_limit() -> None:
    with pytest.raises(ConfigError, match=f"at most {MOST}"):
        with_changes({}, ["a=1"] * (MOST + 1))


def test_a_value_that_the_schema_refuses_is_refused(tmp_path: Path) -> None:
    folder = write_small(tmp_path)
    with pytest.raises(ConfigError, match=r"split\.holdout"):
        load_config(folder / "corpus.yaml", ["split.holdout=7"])


def test_the_plan_of_a_change_says_what_it_would_remake_and_leaves_the_corpus_fresh(tmp_path: Path) -> None:
    corpus = opened(write_small(tmp_path))
    drive(corpus, list(corpus.graph))
    asked = type(corpus).open(corpus.file, ["split.holdout=0.3"]).planner().plan()
    due = {decision.asset for decision in asked.decisions if decision.status != "fresh"}
    assert {"holdout_selection", "train", "holdout"} <= due
    assert not due & {"normalized_documents", "minhashes", "components", "mixed_pass2"}
    assert {decision.status for decision in opened(tmp_path).planner().plan().decisions} == {"fresh"}
