"""A tokenizer that puts its end-of-text token after every text makes texts end twice: a build says so."""

import json
from pathlib import Path

import pytest

from corpus_assets.orchestration.building.notes import build_notes
from tests.data.building import build, open_corpus
from tests.tokenize.test_chat_spaces import definition

ENDED = {
    "type": "TemplateProcessing",
    "pair": [],
    "special_tokens": {},
    "single": [{"Sequence": {"id": "A", "type_id": 0}}],
}


@pytest.mark.parametrize("ends", [True, False])
def test_a_second_end_is_told(ends: bool, tmp_path: Path) -> None:
    mark = {"SpecialToken": {"id": "</s>", "type_id": 0}}
    said = {"</s>": {"id": "</s>", "ids": [5], "tokens": ["</s>"]}}
    processor = {**ENDED, "single": [*ENDED["single"], *([mark] * ends)], "special_tokens": said if ends else {}}
    values = {**definition("never", (False, False)), "post_processor": processor}
    for name, value in {"tok/tokenizer.json": values, "tok/tokenizer_config.json": {"eos_token": "</s>"}}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(value))
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.jsonl").write_text('{"id": "1", "text": "abba"}\n')
    datasets = [
        {"name": "lm", "input": {"location": "in"}, "sequence_length": 8},
        {"name": "fim", "mode": "fim", "input": {"location": "in"}, "sequence_length": 16, "minimum_length": 0}
        | {"prefix_token": "<|user|>", "middle_token": "<|assistant|>", "suffix_token": "<s>"},
    ]
    tokenizer = {"kind": "huggingface", "path": "tok"}
    corpus = open_corpus(tmp_path, {"sources": [], "datasets": datasets, "tokenizer": tokenizer})
    build(corpus)
    assert [note.partition(",")[0] for note in build_notes(corpus.planner()) if "twice" in note] == [
        "dataset lm: its texts end with </s> twice"
    ] * ends
