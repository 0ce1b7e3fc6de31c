"""The preset `fineweb2`: what it is written out to, the languages that it knows, and what it drops in a corpus."""

import errno
import json
import os
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import yaml

from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.reading.language_configs import with_configs
from corpus_assets.config.reading.loading import load_config, loaded_config, parse_config
from corpus_assets.config.selection.attributes import Attributes
from corpus_assets.config.selection.fineweb2.section import ranges_of, shipped
from corpus_assets.config.selection.presets import written_out
from resources.errors import ConfigError, StorageError
from tests.attributes.presets.in_languages import KEPT, made
from tests.build.small import opened, write_raw
from tests.filter.corpora import changes, documents, filtered

LABELS = {"name": "lang", "location": "labels"}
SOURCE = [{"name": "web", "location": "raw/web"}]
BY, THAI = "lang.lang__language", "tha_Thai"


def given(section: dict[str, Any], **more: Any) -> dict[str, Any]:
    filtered_by = {"presets": ["fineweb2"], "fineweb2": section, **more}
    return {"sources": SOURCE, "attributes": [LABELS], "filter": filtered_by, "datasets": []}


def parsed(section: dict[str, Any], **more: Any) -> CorpusConfig:
    return parse_config(given(section, **more))


def entry(config: CorpusConfig) -> Attributes:
    (found,) = (one for one in config.attributes if isinstance(one, Attributes))
    return found


def test_one_language_is_ranges_for_all_documents() -> None:
    config = parsed({"language": THAI}, rules={"presets.gopher_quality.words": {"min": 7}})
    assert entry(config).taggers == ["gopher_repetition", "fineweb_quality", "gopher_quality"]
    words = entry(config).words
    assert words is not None
    assert (words.language, words.by, words.stop_words[THAI][:2]) == (THAI, None, ["ใน", "ที่"])
    assert config.filter is not None
    rules = config.filter.rules
    assert (rules["presets.gopher_repetition.duplicate_lines"].max, rules["presets.gopher_quality.words"].min) == (
        0.349,
        7,
    )
    assert list(rules) == list(ranges_of(shipped()[THAI], "presets"))
    assert config.filter.languages is None


def test_ranges_by_label_are_those_of_each_language() -> None:
    section = {"by": BY, "languages": [THAI, "deu_Latn"]}
    config = parsed(section, languages={"by": BY, "thresholds": {THAI: {"score": {"min": 0.5}}, "xho_Latn": {}}})
    assert config.filter is not None
    assert config.filter.languages is not None
    thresholds = config.filter.languages.thresholds
    assert list(thresholds) == [THAI, "deu_Latn", "xho_Latn"]
    assert [one.get("score") and one["score"].min for one in thresholds.values()] == [0.5, 0.821, None]
    assert thresholds["deu_Latn"]["presets.gopher_quality.word_length"].max == 15
    assert config.filter.rules == {}
    words = entry(config).words
    assert words is not None
    assert list(words.stop_words) == [THAI, "deu_Latn"]
    once = written_out(given(section))
    assert written_out(once) == once


def test_no_limit_where_the_original_has_none() -> None:
    found = ranges_of({**shipped()[THAI], "dup_line_frac": 0, "max_avg_word_length": 0}, "e")
    assert found["e.gopher_repetition.duplicate_lines"] == {"max": 1}
    assert found["e.gopher_quality.word_length"] == {"min": 2}


def written(folder: Path, config: dict[str, Any]) -> Path:
    file = folder / "corpus.yaml"
    file.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    return file


def test_a_folder_of_configurations_stands_in_place_of_those_of_the_package(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    changed = {**shipped()[THAI], "line_punct_thr": 0.77}
    (tmp_path / "own" / "zzz_Thai.yml").write_text(yaml.safe_dump(changed), encoding="utf-8")
    file = written(tmp_path, given({"by": BY, "languages": ["zzz_Thai"], "configs": "own"}))
    with pytest.raises(ConfigError, match="no splitter for 'zzz_Thai'"):
        opened(tmp_path)
    (tmp_path / "own" / "zzz_Thai.yml").rename(tmp_path / "own" / "tha_Thai.yml")
    file = written(tmp_path, given({"by": BY, "languages": [THAI], "configs": "own"}))
    loaded = loaded_config(file)
    assert loaded.files == (file, tmp_path / "own" / "tha_Thai.yml")
    assert loaded.config.filter is not None
    assert loaded.config.filter.languages is not None
    ranges = loaded.config.filter.languages.thresholds[THAI]
    assert ranges["presets.fineweb_quality.lines_with_final_mark"].min == 0.77


def test_a_configuration_that_the_machine_cannot_read_is_not_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "read_text", Mock(side_effect=OSError(errno.EIO, os.strerror(errno.EIO))))
    values = {"filter": {"fineweb2": {"language": THAI, "configs": "."}}}
    with pytest.raises(StorageError, match=r"tha_Thai\.yml: cannot be read now: Input/output error"):
        with_configs(values, tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("dup_line_frac: x", r"tha_Thai.yml: dup_line_frac: .*valid number"),
        ("- 1", r"tha_Thai.yml: .*valid: as FineWeb-2 has it"),
        ("{", r"tha_Thai.yml: not YAML"),
        ("top_n_grams: [[2, 0.1]]", "top_n_grams: valid are n of 2 to 4"),
        ("stopwords: [1]", "stopwords.0: "),
    ],
)
def test_a_wrong_configuration_is_named(text: str, says: str, tmp_path: Path) -> None:
    whole = yaml.safe_dump(dict(shipped()[THAI]))
    kept = (
        ""
        if text in ("{", "- 1")
        else yaml.safe_dump(
            {key: value for key, value in yaml.safe_load(whole).items() if key != text.partition(":")[0]}
        )
    )
    (tmp_path / "tha_Thai.yml").write_text(f"{kept}{text}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=says):
        load_config(written(tmp_path, given({"language": THAI, "configs": "."})))


@pytest.mark.parametrize(
    ("section", "more", "says"),
    [
        ({}, {}, "filter.fineweb2: .*give language"),
        ({"language": THAI, "by": BY}, {}, "give language"),
        ({"by": BY}, {}, "give language, for one of all documents, or by and languages"),
        ({"language": "eng_Latn"}, {}, "no limits of 'eng_Latn' come with the package; `configs` names"),
        ({"language": THAI}, {"presets": ["gopher", "fineweb2"]}, "fineweb2 has ranges of its own .* name it alone"),
        ({"language": THAI}, {"presets": ["gopher"]}, "fineweb2: without effect"),
        (None, {}, "filter.fineweb2: missing, but the preset needs it"),
        (
            {"by": BY, "languages": [THAI]},
            {"languages": {"by": "lang.other"}},
            "received 'lang.other', but filter.fine",
        ),
    ],
)
def test_wrong_sections_are_a_sentence(section: Any, more: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        parsed(section, **more)


def test_each_document_is_judged_by_its_language(tmp_path: Path) -> None:
    for module in ("spacy", "rjieba", "sudachipy", "kiwipiepy", "pythainlp", "laonlp", "icu4py"):
        pytest.importorskip(module, reason="the extra splitters is not installed")
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    texts, said, labels = {}, {}, {}
    for label in (THAI, "deu_Latn", "rus_Cyrl"):
        for number, (text, dropped) in enumerate(
            zip(made(kept[label]["paragraphs"]), kept[label]["decisions"], strict=True)
        ):
            name = f"{label}{number}"
            texts[name], labels[name] = text, label
            said[name] = "languages.other" if label == "rus_Cyrl" else dropped and f"languages.presets.{dropped}"
    write_raw(tmp_path, "web/one.jsonl", [{"id": name, "text": text} for name, text in texts.items()])
    rows = [{"id": name, "attributes": {"language": label}} for name, label in labels.items()]
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "one.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    engine = {"engine": {"workers": 0}, "storage": {"sync": False}, "normalize": {"method": "none"}}
    written(tmp_path, {**given({"by": BY, "languages": [THAI, "deu_Latn"]}), **engine})
    corpus = filtered(opened(tmp_path))
    found = {change["id"]: change["dropped"] for change in changes(corpus) if "dropped" in change}
    assert found == {name: rule for name, rule in said.items() if rule}
    assert {one.id for one in documents(corpus, "filtered_documents")} == {
        name for name, rule in said.items() if not rule
    }
