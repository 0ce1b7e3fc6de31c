"""Units and weights that cannot be: a sentence names key and what is valid, and nothing is replaced."""

from pathlib import Path
from typing import Any

import pytest

from resources.errors import CorpusError
from tests.build.small import contents, drive, opened
from tests.mix.units.buckets import QUALITY, TOPIC, configure, mixed

TAGGED = {"attributes": [{"name": "words", "taggers": ["gopher_v2"]}]}
WORDS = {"by": "words.gopher_v2.word_count", "quantiles": 20}


def said(folder: Path, units: Any, weights: Any, **more: Any) -> str:
    """What the configuration or the plan says is wrong."""
    with pytest.raises((CorpusError, ValueError)) as error:
        configure(folder, units, weights, **more)
        opened(folder).planner().plan()
    return str(error.value)


@pytest.mark.parametrize(
    ("units", "shares", "parts"),
    [
        ([WORDS], {"q21": 1}, ("datasets.mix.weights.shares 'q21'", "no bucket 'q21'", "valid: q01, q02")),
        ([WORDS], {"q1": 1}, ("no bucket 'q1' (did you mean 'q1", "valid: q01")),
        ([WORDS], {"q01": 0.6, "q02": 0.6}, ("weights.shares: the shares of 2 units add up to 1.2; valid: 1",)),
        ([{"by": "source"}, WORDS], {"book/q01": 1}, ("source has no bucket 'book' (did you mean 'books'?)",)),
        ([{"by": "source"}, WORDS], {"q01": 1}, ("received 'q01'; valid: a unit is named source/word_count",)),
        ([{"by": "words.gopher_v2.nowhere", "quantiles": 2}], {"q1": 1}, ("mix.units.0.by", "gives no 'nowhere'")),
        ([{"by": "nowhere.gopher_v2"}], {"a": 1}, ("mix.units.0.by: no attribute named 'nowhere'", "are: words")),
        ([{"by": "words.nowhere"}], {"a": 1}, ("mix.units.0.by: 'words' has no tagger 'nowhere'",)),
        ([{"by": "topic"}], {"a": 1}, ("received 'topic'; valid: source, metadata.KEY, ENTRY.TAGGER",)),
        ([{"by": "words.gopher_v2.word_count"}], {"a": 1}, ("is a score; give `quantiles` or `ranges`",)),
        ([{**WORDS, "ranges": [1]}], {"a": 1}, ("two ways to make buckets",)),
        ([{"by": "metadata.x", "ranges": [2, 1]}], {"a": 1}, ("[2.0, 1.0]; valid: numbers that ascend",)),
        ([WORDS, {**WORDS, "quantiles": 4}], {"a": 1}, ("word_count named twice; give one of them another `name`",)),
    ],
)
def test_what_cannot_be_is_refused_before_a_build(
    tmp_path: Path, units: Any, shares: dict[str, float], parts: tuple[str, ...]
) -> None:
    found = said(tmp_path, units, {"shares": shares}, **TAGGED)
    assert all(part in found for part in parts), found


@pytest.mark.parametrize(
    ("table", "parts"),
    [
        ("topic,weight\nscience,1\n", ("columns are topic, weight; valid: unit, weight, or topic, quality, weight",)),
        ("unit,weight\nscience/q1,1\nscience/q1,1\n", ("line 3: 'science/q1'", "each unit once")),
        ("topic,quality,weight\nscience,q1,-1\n", ("line 2: 'science/q1', '-1'", "a weight from 0 up")),
        ("topic,quality,weight\nscience,q7,1\n", ("quality has no bucket 'q7'", "valid: q1, q2, q3, q4, missing")),
        ("topic,quality,weight\nscience,q1,0.9\n", ("add up to 0.9; valid: 1",)),
    ],
)
def test_tables_name_line_and_columns(tmp_path: Path, table: str, parts: tuple[str, ...]) -> None:
    (tmp_path / "weights.csv").write_text(table)
    found = said(tmp_path, [TOPIC, QUALITY], {"shares": "weights.csv"})
    assert all(part in found for part in parts), found


def test_a_bucket_without_documents_fails_and_replaces_nothing(tmp_path: Path) -> None:
    corpus, _ = mixed(tmp_path, [TOPIC], {"shares": {"science": 0.5, "sports": 0.5}})
    before = contents(corpus)
    configure(tmp_path, [TOPIC], {"shares": {"scienec": 0.5, "sports": 0.5}})
    corpus = opened(tmp_path)
    (failed,) = drive(corpus, corpus.graph.select(["+mix_manifest"])).failed
    assert (
        "datasets.mix.weights: unit 'scienec' has no document (did you mean 'science'?); valid: missing, sci" in failed
    )
    configure(tmp_path, [TOPIC], {"shares": {"science": 0.5, "sports": 0.5}})
    assert contents(opened(tmp_path)) == before


def test_labels_of_which_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpus_assets.mix.units.documents.MOST_UNITS", 100)
    configure(tmp_path, [{"by": "metadata.scores.quality"}], None)
    corpus = opened(tmp_path)
    failed = drive(corpus, corpus.graph.select(["+document_units"])).failed
    assert failed
    assert all("mix.units: its documents are in over 100 units (metadata.scores.quality)" in one for one in failed)
