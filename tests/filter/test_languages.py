"""`filter.languages`: ranges that differ by the label of a document."""

import re
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.filter.rules.entries import Entry
from corpus_assets.filter.rules.languages import languages
from corpus_assets.filter.rules.section import RuleSection
from corpus_assets.orchestration.building.notes import build_notes
from resources.documents.row_rule import Drop, Row
from resources.errors import ConfigError
from tests.attributes.labels import said, write_model
from tests.build.small import write_raw
from tests.filter.corpora import QUALITY, changes, documents, filtered, small

ENTRIES = {"lang": Entry("lang_attributes", {"language": ()}), "q": Entry("q_attributes", {"words": ("count",)})}
COUNT = "q.words.count"
KINDS = {"name": "kinds", "taggers": ["fasttext_doc"], "options": {"fasttext_doc": {"model": "model.bin"}}}
THRESHOLDS: dict[str, dict[str, dict[str, Any]]] = {
    "tha_Thai": {"score": {"min": 0.9}, COUNT: {"min": 2, "max": 10}},
    "fra_Latn": {COUNT: {"min": 5}},
}


def section(**given: Any) -> RuleSection:
    unset = {"min": None, "max": None, "of": "score", "absent": None}
    thresholds = {
        label: {key: {**unset, **limits} for key, limits in ranges.items()} for label, ranges in THRESHOLDS.items()
    }
    return RuleSection(
        {"languages": {"by": "lang.language", "thresholds": thresholds, "other": "drop", **given}}, ENTRIES
    )


def judged(label: str | None, score: float, count: float, **given: Any) -> tuple[str, str] | None:
    spans = {} if label is None else {f"lang__language__{label}": [(0, 1, score)]}
    row = Row(0, b"", {**spans, "q__words__count": [(0, 1, count)]})
    for rule in languages(section(**given)).make(None):  # type: ignore[arg-type]
        if isinstance(said := rule.judge(row), Drop):
            return rule.name, said.found
    return None


def test_each_label_has_ranges_of_its_own() -> None:
    assert judged("tha_Thai", 0.95, 3) is None
    assert judged("tha_Thai", 0.85, 3) == ("languages.score", "tha_Thai: 0.85 is under 0.9")
    assert judged("tha_Thai", 0.95, 11) == (f"languages.{COUNT}", "tha_Thai: 11 is over 10")
    assert judged("fra_Latn", 0.1, 11) is None
    assert judged("fra_Latn", 0.1, 3) == (f"languages.{COUNT}", "fra_Latn: 3 is under 5")


def test_a_label_without_thresholds_is_dropped_or_kept() -> None:
    assert judged("deu_Latn", 1, 1) == ("languages.other", "deu_Latn has no thresholds")
    assert judged(None, 1, 1) == ("languages.other", "no label has no thresholds")
    assert judged("deu_Latn", 1, 1, other="keep") is None
    assert judged(None, 1, 1, other="keep") is None


def test_names_of_its_rules_and_what_it_reads() -> None:
    rules = languages(section())
    assert rules.drops == ("languages.other", "languages.score", f"languages.{COUNT}")
    assert rules.attributes == ("lang_attributes", "q_attributes")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"by": "lang"}, "filter.languages.by: received 'lang' (str); valid: ENTRY.TAGGER"),
        ({"by": "long.language"}, "filter.languages.by: no attribute named 'long'"),
        (
            {"by": "quality.gopher_v2", "thresholds": {"fra_Latn": {"score": {"min": 0.5}}}},
            "filter.languages.by: gopher_v2 gives no 'fra_Latn'",
        ),
        ({"thresholds": {}}, "filter.languages.thresholds"),
        (
            {"thresholds": {"fra_Latn": {"quality.gopher_v2.wrds": {"min": 1}}}},
            "thresholds.fra_Latn.quality.gopher_v2.wrds",
        ),
        ({"thresholds": {"fra_Latn": {"words": {"min": 1}}}}, "score, or ENTRY.TAGGER.TYPE"),
        ({"thresholds": {"fra_Latn": {"score": {}}}}, "give min, max or both"),
    ],
)
def test_a_wrong_key_is_a_sentence(tmp_path: Path, given: dict[str, Any], says: str) -> None:
    right = {"by": "kinds.fasttext_doc", "thresholds": {"fra_Latn": {"score": {"min": 0.5}}}}
    with pytest.raises(ConfigError, match=re.escape(says)):
        small(tmp_path, {"languages": {**right, **given}}, attributes=[QUALITY, KINDS])


def test_a_build_by_a_model(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model.bin", {"en": "en", "fr": "fr", "ru": "ru"})
    rows = [{"id": f"{code}{n}", "text": said(code, n)} for code in ("en", "fr", "ru") for n in range(5)]
    write_raw(tmp_path, "raw/one.jsonl", rows)
    entry = {"name": "lang", "taggers": ["language"], "options": {"language": {"model": str(model)}}}
    words = "quality.gopher_v2.word_count"
    thresholds = {
        "eng_Latn": {"score": {"min": 0.5}},
        "fra_Latn": {words: {"max": 3}},
        "tha_Thia": {"score": {"min": 0.5}},
    }
    quality = {"name": "quality", "taggers": ["gopher_v2"]}
    corpus = small(
        tmp_path,
        {"languages": {"by": "lang.language", "thresholds": thresholds}},
        sources=[{"name": "web", "location": "raw/raw"}],
        attributes=[quality, entry],
        datasets=[],
    )
    filtered(corpus)
    assert {one.id for one in documents(corpus, "filtered_documents")} == {f"en{n}" for n in range(5)}
    dropped = {change["id"]: (change["dropped"], change["found"]) for change in changes(corpus)}
    assert dropped["ru0"] == ("languages.other", "rus_Cyrl has no thresholds")
    assert dropped["fr0"] == (f"languages.{words}", "fra_Latn: 24 is over 3")
    notes = build_notes(corpus.planner())
    (absent,) = [note for note in notes if "tha_Thia" in note]
    assert "filter.languages.thresholds" in absent
    assert "rus_Cyrl" in absent
