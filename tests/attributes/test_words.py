"""`words` of an entry of attributes: the language of all texts, or the label of each."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.orchestration.building.notes import build_notes
from resources.errors import ConfigError
from tests.build.small import drive, opened, write_config, write_raw
from tests.filter.corpora import partitions

pytest.importorskip("spacy", reason="the extra words is not installed")
TEXTS = {"a": "राम घर गया।", "b": "the dog, the cat", "c": "I don't go"}
LABELS = {"a": "hin_Deva", "b": "eng_Latn"}
OF_FILES = {"name": "lang", "location": "labels"}


def corpus_of(folder: Path, words: dict[str, Any], labels: dict[str, str] | None = None, **more: Any) -> Any:
    """A corpus of three texts with their labels in a file."""
    write_raw(folder, "web/one.jsonl", [{"id": name, "text": text} for name, text in TEXTS.items()])
    rows = [{"id": name, "attributes": {"language": (labels or {}).get(name)}} for name in TEXTS]
    (folder / "labels").mkdir(exist_ok=True)
    (folder / "labels" / "one.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    entries = [{"name": "q", "taggers": ["gopher_quality"], "words": words, **more}, OF_FILES]
    sources = [{"name": "web", "location": "raw/web"}]
    write_config(
        folder,
        {
            "sources": sources,
            "attributes": entries,
            "filter": None,
            "datasets": [],
            "short_documents": {"threshold": 0},
        },
    )
    return opened(folder)


def scores(corpus: Any, kind: str) -> list[float]:
    """A score of each text."""
    done = drive(corpus, corpus.graph.select(["+q_attributes"]))
    assert (done.failed, done.waiting) == ([], [])
    (partition,) = partitions(corpus, "q_attributes").values()
    rows = [json.loads(line)["attributes"] for line in partition.lines()]
    return [row[f"q__gopher_quality__{kind}"][0][2] for row in rows]


@pytest.fixture
def libraries() -> None:
    for module in ("rjieba", "sudachipy", "kiwipiepy", "pythainlp", "laonlp", "icu4py"):
        pytest.importorskip(module, reason="the extra splitters is not installed")


@pytest.mark.usefixtures("libraries")
def test_each_text_has_the_words_of_its_label(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, {"by": "lang.lang__language", "stop_words": {"hin_Deva": ["घर", "राम", "है"]}}, LABELS)
    assert scores(corpus, "words") == [3, 4, 3]  # Only English rules split `don't` in two.
    assert scores(corpus, "stop_words") == [2, 0, 0]
    (said,) = (note for note in build_notes(corpus.planner()) if "words.by" in note)
    assert said.startswith("attributes.0.words.by: lang.lang__language gave 1 of 3 documents no label")


def test_one_language_for_all_texts(tmp_path: Path) -> None:
    english = corpus_of(tmp_path, {"language": "eng_Latn"})
    assert scores(english, "words") == [3, 4, 4]
    assert scores(english, "stop_words") == [0, 1, 0]
    hindi = corpus_of(tmp_path, {"language": "hin_Deva", "stop_words": {"hin_Deva": ["go", "to"]}})
    plan = [one for one in hindi.planner().plan().decisions if one.status == "stale"]
    assert [one.reason.partition(" ")[0] for one in plan] == ["attributes.q.words.language"]
    assert scores(hindi, "words") == [3, 4, 4]
    assert scores(hindi, "stop_words") == [0, 0, 1]


@pytest.mark.usefixtures("libraries")
def test_another_label_computes_again(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, {"by": "lang.lang__language"}, LABELS)
    before = scores(corpus, "words")
    changed = corpus_of(tmp_path, {"by": "lang.lang__language"}, {**LABELS, "c": "eng_Latn"})
    assert (before[2], scores(changed, "words")[2]) == (3, 4)


@pytest.mark.parametrize(
    ("words", "more", "says"),
    [
        ({}, {}, "attributes.0.words: .*give one of language and by"),
        ({"language": "eng_Latn", "by": "lang.lang__language"}, {}, "give one of language and by"),
        ({"language": "tha"}, {}, "attributes.0.words.language: no splitter for 'tha'"),
        ({"language": "eng_Latn", "stop_words": {"xx": []}}, {}, "attributes.0.words.stop_words: no splitter for 'xx'"),
        ({"by": "lang"}, {}, "words.by: .*ENTRY.TAGGER"),
        ({"by": "q.gopher_quality"}, {}, "words.by: no other entry named 'q'; others are: lang"),
        ({"language": "eng_Latn"}, {"taggers": ["gopher_v2"]}, "attributes.0.words: none of its taggers counts words"),
    ],
)
def test_wrong_words_are_a_sentence(words: dict[str, Any], more: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=says):
        corpus_of(tmp_path, words, **more)


def test_labels_of_an_entry_that_asks_for_labels_itself_are_refused(tmp_path: Path) -> None:
    write_raw(tmp_path, "web/one.jsonl", [{"id": "a", "text": "a"}])
    entries = [
        {"name": one, "taggers": ["gopher_quality"], "words": {"by": f"{other}.gopher_quality"}}
        for one, other in (("p", "q"), ("q", "p"))
    ]
    write_config(tmp_path, {"attributes": entries})
    with pytest.raises(ConfigError, match=r"attributes.0.words.by: 'q' has `words.by` itself"):
        opened(tmp_path)


def test_a_tagger_that_the_other_entry_lacks(tmp_path: Path) -> None:
    write_raw(tmp_path, "web/one.jsonl", [{"id": "a", "text": "a"}])
    entries = [
        {"name": "p", "taggers": ["gopher_quality"], "words": {"by": "q.language"}},
        {"name": "q", "taggers": ["gopher_v2"]},
    ]
    write_config(tmp_path, {"attributes": entries})
    with pytest.raises(ConfigError, match=r"attributes.0.words.by: 'q' has no tagger 'language'; it has: gopher_v2"):
        opened(tmp_path)
