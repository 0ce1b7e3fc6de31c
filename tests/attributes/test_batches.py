"""Taggers in batches: what they are loaded with, and that rows do not depend on the size of batches or on workers."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpus_assets.attributes import loading
from docs.generate import FOLDER
from resources.errors import ConfigError
from tests.attributes.test_stage import built, documents, rows
from tests.build.small import digests, drive, opened, write_config, write_small

MODULE = """
import json
from pathlib import Path
from resources import Batch, BatchTagger, Loading, Unanswered

def load(loading):
    model = json.loads(loading.files["model"][0].read(1000))
    with Path("{log}").open("a") as log:
        log.write(f"load {{loading.device}}\\n")

    def batch(texts):
        with Path("{log}").open("a") as log:
            log.write(f"batch {{len(texts)}}\\n")
        {body}

    return batch

TAGGERS = [BatchTagger("vowels", load, version="1", gives="", types=("share", "place"), files=("model",),
                       settings={{"factor": 1}})]
"""
GOOD = """
        shares = [sum(text.count(letter) * weight for letter, weight in model.items()) / 100 for text in texts]
        factor = loading.settings["factor"]
        return [{"share": share * factor, "place": [(0, 1, 2.0)]} for share in shares]
""".strip()


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    loading._LOADED.clear()
    write_small(tmp_path)
    (tmp_path / "weights.json").write_text(json.dumps({"a": 1, "e": 0.37}))
    write_module(tmp_path, monkeypatch, GOOD)
    return tmp_path


def write_module(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    monkeypatch.delitem(sys.modules, "my_batches", raising=False)
    code = MODULE.replace("{body}", body.replace("{", "{{").replace("}", "}}")).format(log=folder / "log")
    (folder / "my_batches.py").write_text(code)


def entry(size: int | None = None, **options: Any) -> dict[str, Any]:
    given = {"model": "weights.json", **({"batch_size": size} if size else {}), **options}
    return {"name": "own", "taggers": ["vowels", "char_length_v1"], "options": {"vowels": given}}


def log(folder: Path) -> list[str]:
    return (folder / "log").read_text().splitlines()


def test_a_batch_tagger_of_ones_own_is_loaded_once(own: Path) -> None:
    corpus, _ = built(own, entry(5, device="cuda:1"), taggers=["my_batches"])
    texts = [document.text for document in documents(corpus)]
    for row, text in zip(rows(corpus, "own_attributes"), texts, strict=True):
        share = (text.count("a") + 0.37 * text.count("e")) / 100
        ((start, end, score),) = row.attributes.pop("own__vowels__share")
        assert (start, end) == (0, len(text))
        assert score == pytest.approx(share, abs=1e-5)
        assert row.attributes.pop("own__vowels__place") == [(0, 1, 2.0)]
        assert list(row.attributes) == ["own__char_length_v1__length"]
    said = log(own)
    assert [line for line in said if "load" in line] == ["load cuda:1"]
    assert {"batch 1", "batch 5"} <= set(said) <= {"load cuda:1", *(f"batch {size}" for size in range(1, 6))}


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_rows_do_not_depend_on_batches_and_workers(own: Path, workers: int) -> None:
    found = []
    for size, count in ((1, 0), (3, workers), (1000, workers)):
        for path in (own / "corpus" / "ledger" / "own_attributes").rglob("*.json"):
            path.unlink()
        corpus, made = built(own, entry(size), taggers=["my_batches"], engine={"workers": count})
        assert "own_attributes" in made
        found.append(digests(corpus))
    assert found[0] == found[1] == found[2]


def test_files_and_settings_are_in_the_recipe_and_batches_are_not(own: Path) -> None:
    built(own, entry(), taggers=["my_batches"])

    def reasons(given: dict[str, Any]) -> set[str]:
        write_config(own, {"taggers": ["my_batches"], "attributes": [given]})
        return {d.reason for d in opened(own).planner().plan().of("own_attributes")}

    assert reasons(entry(7, device="cuda:0")) == {""}
    assert reasons(entry(settings={"factor": 1})) == {""}
    assert reasons(entry(settings={"factor": 2})) == {"attributes.own.settings.vowels.factor 1 -> 2"}
    (own / "weights.json").write_text(json.dumps({"a": 2}))
    assert reasons(entry()) == {"attributes.own.model.vowels changed"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return [{'share': 1.0}] * (len(texts) + 1)", "valid: one for each"),
        ("return [{'share': float('nan')} for _ in texts]", "vowels: score nan of 0 to "),
        ("return 1 / 0", "vowels: ZeroDivisionError: division by zero"),
        ("return [{'share': 1.0 / len(texts)} for _ in texts]", "a text has other scores alone than in a batch"),
    ],
)
def test_a_batch_that_fails_is_named_with_its_documents(
    own: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    write_module(own, monkeypatch, body)
    write_config(own, {"taggers": ["my_batches"], "attributes": [entry()]})
    corpus = opened(own)
    failed = drive(corpus, corpus.graph.select(["+group:attributes"])).failed
    assert any("books/one.jsonl (documents 0 to 8): vowels: " in words and message in words for words in failed)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": {"facto": 2}}, "options.vowels.settings.facto: vowels does not declare it; valid: factor"),
        ({"model": None}, "options.vowels.model: missing, but vowels needs it: the path of a local file"),
        (
            {"endpoint": {"url": "http://a/v1", "model": "m"}},
            "vowels has no such option; valid: model, settings, batch",
        ),
        ({"batch_size": 0}, "batch_size"),
    ],
)
def test_options_that_cannot_be_are_refused(own: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as found:
        write_config(own, {"taggers": ["my_batches"], "attributes": [entry(**options)]})
        opened(own)
    assert message in str(found.value)


def test_a_batch_tagger_as_the_page_has_it(own: Path) -> None:
    page = (FOLDER / "batch-taggers.md").read_text(encoding="utf-8")
    (own / "my_batches.py").write_text(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0])
    (own / "weights.json").write_text(json.dumps({"ending.": 2}))
    settings = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[-1])
    corpus, _ = built(own, *settings["attributes"], taggers=settings["taggers"])
    scores = [row.attributes["mine__words_of_mine__score"][0][2] for row in rows(corpus, "mine_attributes")]
    assert scores == [4.0 * document.text.split().count("ending.") for document in documents(corpus)]
    assert set(scores) == {0.0, 4.0}
