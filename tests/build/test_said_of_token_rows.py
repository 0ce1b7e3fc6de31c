"""Every reason for which a dataset makes no row of a document or example comes with one, and a piece of its text."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpus_assets.orchestration.building.notes import dropped_examples
from resources.stage.counts import DROPPED_ROWS
from tests.build.small import drive, opened, prose
from tests.build.test_datasets import TEMPLATE

LONG = prose("long", 400)
SHORT = {"sequence_length": 64, "minimum_length": 12}


def pair(prompt: str, completion: str) -> dict[str, str]:
    return {"prompt": prompt, "completion": completion}


def said(*turns: str) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for role, text in zip(["user", "assistant"] * 9, turns, strict=False)]


PAIRS = [
    pair(prose("p", 4), prose("c", 4)),
    pair("An asked long one.", LONG),
    pair("Hm", "So"),
]
CHATS = [
    {"messages": said(prose("q", 4), prose("a", 4))},
    {"messages": said("A question that is answered at length.", LONG)},
    {"messages": said("Hm", "So")},
    {"messages": [*said("Who asks?"), {"role": "user", "content": "Nobody answers."}]},
]
PREFERENCES = [
    {"prompt": prose("q", 4), "chosen": prose("yes", 4), "rejected": prose("no", 4)},
    {"prompt": "Which?", "chosen": "The same.", "rejected": "The same."},
]
TEXTS = [{"text": prose("t", 8)}, {"text": "Hm."}, {"text": LONG}]
DATASETS: dict[str, tuple[str, list[dict[str, Any]], dict[str, Any]]] = {
    "pairs": ("summarization", PAIRS, SHORT),
    "packed_pairs": ("summarization_vsl", PAIRS, SHORT),
    "chat": ("chat", CHATS, {**SHORT, "chat_template": TEMPLATE, "max_discarded": 0.9}),
    "preferences": ("dpo", PREFERENCES, {"sequence_length": 64, "chat_template": TEMPLATE, "equal_pairs": "leave_out"}),
    "texts": ("lm", TEXTS, {**SHORT, "pack": False}),
    "packed_texts": ("lm_vsl", TEXTS, {**SHORT, "long_documents": "drop"}),
}
KEYS = {"chat": {"messages_key": "messages"}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    rows = [{"id": f"d{n}", "text": prose(n, 30)} for n in range(30)]
    _write(folder / "raw/a.jsonl", rows)
    for name, (_, examples, _) in DATASETS.items():
        _write(folder / name / "a.jsonl", [{"id": f"e{n}", **row} for n, row in enumerate(examples)])
    datasets = [
        {"name": name, "mode": mode, "input": {"location": name, **KEYS.get(name, {})}, **options}
        for name, (mode, _, options) in DATASETS.items()
    ]
    datasets.append({"name": "part", "mode": "lm", "sequence_length": 64, "weights": {"tokens": {"web": 600}}})
    config = {
        "sources": [{"name": "web", "location": "raw"}],
        "mix": {"chunks": 1},
        "engine": {"workers": 0},
        "storage": {"sync": False},
        "tokenizer": {"kind": "train", "special_tokens": ["<|user|>", "<|assistant|>", "<|end|>"], "vocabulary": 400},
        "datasets": datasets,
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    drive(opened(folder))
    return folder


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def shown(folder: Path, dataset: str) -> Iterator[tuple[str, list[str]]]:
    """Yields each reason for which the dataset made no row of something, with what is shown."""
    planner = opened(folder).planner()
    stages = [stage for stage in planner.graph if stage.name.startswith(f"{dataset}_")]
    for record in (record for stage in stages for record in planner.built(stage)):
        for reason in record.statistics.get("dropped", {}):
            yield reason, record.statistics.get(DROPPED_ROWS, {}).get(reason, [])


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        ("pairs", {"too_long": "An asked", "below_minimum_length": "Hm"}),
        ("packed_pairs", {"too_long": "An asked", "below_minimum_length": "Hm"}),
        ("chat", {"too_long": "A question", "below_minimum_length": "Hm"}),
        ("preferences", {"equal_responses": "Which?"}),
        ("texts", {"below_minimum_length": "Hm."}),
        ("packed_texts", {"below_minimum_length": "Hm.", "long_document": LONG[:20]}),
        ("part", {"not_in_mixture": ""}),
    ],
)
def test_each_reason_of_each_mode_is_shown(folder: Path, dataset: str, expected: dict[str, str]) -> None:
    found = dict(shown(folder, dataset))
    assert expected.keys() <= found.keys()
    assert all(found.values()), found
    for reason, text in expected.items():
        assert text in found[reason][0]
        assert any(
            line.startswith(reason.replace("_", " ")) and text in line
            for line in dropped_examples(opened(folder).planner())
        )
