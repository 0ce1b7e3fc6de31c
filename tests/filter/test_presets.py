"""`filter.presets`: what they are written out to, and that each dropped document counts for its rule."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.reading.loading import parse_config
from corpus_assets.config.selection.attributes import Attributes
from corpus_assets.config.selection.presets import is_of_preset, written_out
from corpus_assets.orchestration.building.notes import build_notes
from resources.errors import ConfigError
from tests.attributes.presets.judged import judged
from tests.attributes.presets.pages import pages
from tests.attributes.presets.texts import texts
from tests.build.small import write_raw
from tests.filter.corpora import changes, documents, filtered, small

SOURCE = [{"name": "web", "location": "raw"}]


def parsed(presets: Any, **section: Any) -> CorpusConfig:
    return parse_config({"sources": SOURCE, "filter": {"presets": presets, **section}})


def taggers(config: CorpusConfig) -> list[str]:
    """Those of the first entry of attributes."""
    entry = config.attributes[0]
    assert isinstance(entry, Attributes)
    return entry.taggers


def test_a_preset_is_an_entry_of_attributes_and_rules() -> None:
    config = parsed(["fineweb", "gopher"])
    assert [entry.name for entry in config.attributes] == ["presets"]
    assert taggers(config) == ["fineweb_quality", "gopher_repetition", "gopher_quality"]
    assert config.filter is not None
    keys = list(config.filter.rules)
    assert (keys[0], keys[5], len(keys)) == (
        "presets.fineweb_quality.lines",
        "presets.gopher_repetition.characters",
        27,
    )
    assert config.filter.rules["presets.fineweb_quality.short_lines"].max == 0.67
    assert config.filter.span_replacement == []
    once = written_out({"filter": {"presets": ["c4", "gopher"]}})
    assert written_out(once) == once


def test_a_rule_of_the_file_stands_in_place_of_that_of_the_preset() -> None:
    key = "presets.gopher_quality.words"
    config = parsed(["gopher_quality"], rules={key: {"min": 7}, "presets.gopher_quality.stop_words": {"min": 1}})
    assert config.filter is not None
    assert next(iter(config.filter.rules)) == key
    assert (config.filter.rules[key].min, config.filter.rules[key].max) == (7, None)
    assert len(config.filter.rules) == 8


def test_a_preset_sees_what_the_lines_of_c4_before_it_leave() -> None:
    config = parsed(["gopher_quality", "c4", "fineweb"])
    assert taggers(config) == ["gopher_quality", "c4_lines", "fineweb_quality_after_c4"]
    assert config.filter is not None
    assert [piece.span for piece in config.filter.span_replacement] == [
        "presets.c4_lines.removed",
        "presets.c4_lines.line_end",
    ]
    assert taggers(parsed(["dclm", "fineweb"])) == ["dclm_page", "fineweb_quality_after_dclm"]
    assert taggers(parsed(["c4_any_ending", "gopher"]))[1:] == [
        "gopher_repetition_after_c4_any_ending",
        "gopher_quality_after_c4_any_ending",
    ]


def test_taggers_join_an_entry_that_the_file_has() -> None:
    given = {"name": "presets", "taggers": ["c4_v2", "gopher_quality"]}
    config = parse_config({"sources": SOURCE, "attributes": [given], "filter": {"presets": ["gopher"]}})
    assert taggers(config) == ["c4_v2", "gopher_quality", "gopher_repetition"]


@pytest.mark.parametrize(
    ("presets", "says"),
    [
        (["c4", "fineweb", "c4_any_ending"], "filter.presets: c4 and c4_any_ending both remove lines"),
        (["c4", "dclm"], "filter.presets: c4 and dclm both remove lines"),
        (["gofer"], "filter.presets.0: received 'gofer'"),
        (["c4", "c4"], "presets: one is named twice in c4, c4"),
        ("c4", "filter.presets: received 'c4'"),
        ([["c4"]], "filter.presets.0: received"),
    ],
)
def test_a_wrong_preset_is_a_sentence(presets: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        parsed(presets)


def test_what_a_preset_does_not_find_in_clean_texts_is_no_misspelling(tmp_path: Path) -> None:
    pytest.importorskip("spacy", reason="the extra words is not installed")
    text = "\n".join(f"Line {number} of a clean text has enough words, and it ends well." for number in range(8))
    write_raw(tmp_path, "raw/one.jsonl", [{"id": "a", "text": text}])
    changed = {"sources": [{**SOURCE[0], "location": "raw/raw"}], "attributes": [], "datasets": [], "dedupers": []}
    notes = build_notes(filtered(small(tmp_path, {"presets": ["c4"]}, **changed)).planner())
    assert not any("c4_lines" in note for note in notes)


@pytest.mark.parametrize(
    ("name", "is_preset"),
    [
        ("presets.c4_lines.removed", True),
        ("presets.c4_lines.sentences", True),
        ("presets.gopher_quality_after_c4_any_ending.words", True),
        ("presets.fineweb_quality_after_dclm.lines", True),
        ("presets.c4_lines.removd", False),
        ("presets.own_tagger.words", False),
        ("quality.c4_lines.removed", False),
        ("presets", False),
    ],
)
def test_types_of_presets_are_known_by_name(name: str, is_preset: bool) -> None:
    assert is_of_preset(name) is is_preset


def test_each_dropped_document_counts_for_its_rule(tmp_path: Path) -> None:
    pytest.importorskip("spacy", reason="the extra words is not installed")
    given = {f"t{number}": text for number, text in enumerate(texts()) if text.strip()}
    write_raw(tmp_path, "raw/one.jsonl", [{"id": name, "text": text} for name, text in given.items()])
    changed = {"sources": [{**SOURCE[0], "location": "raw/raw"}], "attributes": [], "datasets": [], "dedupers": []}
    corpus = filtered(small(tmp_path, {"presets": ["c4_any_ending", "fineweb"]}, **changed))
    expected: dict[str, str] = {}
    left: dict[str, str] = {}
    for document in documents(corpus, "normalized_documents"):
        dropped, text = judged("c4_any_ending", document.text)
        rule = f"presets.c4_lines_any_ending.{dropped}"
        if dropped is None:
            dropped, rule = judged("fineweb", text)[0], "presets.fineweb_quality_after_c4_any_ending."
            rule += str(dropped)
        if dropped is None:
            left[document.id] = text
        else:
            expected[document.id] = rule
    assert {one.id: one.text for one in documents(corpus, "filtered_documents")} == left
    assert {change["id"]: change["dropped"] for change in changes(corpus) if "dropped" in change} == expected
    assert len(Counter(expected.values())) > 4


def test_pages_stay_as_dclm_leaves_them(tmp_path: Path) -> None:
    given = {f"t{number}": text for number, text in enumerate(pages()) if text.strip()}
    write_raw(tmp_path, "raw/one.jsonl", [{"id": name, "text": text} for name, text in given.items()])
    changed = {"sources": [{**SOURCE[0], "location": "raw/raw"}], "attributes": [], "datasets": [], "dedupers": []}
    corpus = filtered(small(tmp_path, {"presets": ["dclm"]}, **changed))
    said = {one.id: judged("dclm", one.text) for one in documents(corpus, "normalized_documents")}
    left = {name: text for name, (dropped, text) in said.items() if dropped is None}
    assert {one.id: one.text for one in documents(corpus, "filtered_documents")} == left
    dropped = {name: f"presets.dclm_page.{kind}" for name, (kind, _) in said.items() if kind}
    assert {change["id"]: change["dropped"] for change in changes(corpus) if "dropped" in change} == dropped
