"""One corpus for each page, with all datasets that the page configures, and raw files large enough for ten steps."""

import json
import random
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.build.small import drive, opened, prose, write_config, write_raw
from tests.export.readers.environments import blocks

CONTROL = ["<|im_start|>", "<|im_end|>"]
"""Control tokens of the template that the pages name, `chatml`."""


GENERATION = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\n' }}"
    "{% if message.role == 'assistant' %}{% generation %}{{ message.content + '<|im_end|>' }}{% endgeneration %}"
    "{% else %}{{ message.content + '<|im_end|>' }}{% endif %}{{ '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""ChatML with marks of what is learned, for tokenizers of transformers."""
ORACLE = "oracle"
"""The masked dataset of a page in HDF5, which says what is to be learned of it."""
TALKS = {
    "name": ORACLE,
    "mode": "chat",
    "input": {"location": "raw/chat", "messages_key": "messages"},
    "chat_template": "generation.jinja",
    "sequence_length": 4096,
}
"""What is to be learned of the conversations that a page gives to trainers as texts."""
OF_FILES = {"name", "format", "reader", "unit", "columns", "packing"}


@pytest.fixture(scope="session")
def corpus_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder in which the corpus of a page lies, built."""

    @cache
    def built(page: str) -> Path:
        folder = tmp_path_factory.mktemp(page)
        datasets = [one for text in blocks(page, "yaml") for one in yaml.safe_load(text).get("datasets", ())]
        datasets = [one for one in datasets if "name" in one]  # Trainers have keys of that name too.
        for location, rows in OWN.items():
            for number in range(1 if location == "instructions" else 2):  # LitGPT reads one file.
                _lines(folder / "raw" / location / f"{number}.jsonl", rows(number))
        if all(one.get("format") == "text" for one in datasets):  # Their reader tokenizes; so does the oracle.
            (folder / "generation.jinja").write_text(GENERATION)
            datasets.append(TALKS)
        masked = [one for one in datasets if one.get("mode") and "format" in one]
        if masked:
            oracle = {key: value for key, value in deepcopy(masked[0]).items() if key not in OF_FILES}
            datasets.append({**oracle, "name": ORACLE})
        _build(folder, datasets)
        return folder

    return built


def _build(folder: Path, datasets: list[dict[str, Any]]) -> None:
    """The small corpus with many more documents, which make more windows than ten."""
    more = [{"id": f"more-{number}", "text": prose(f"more {number}", 60)} for number in range(140)]
    write_raw(folder, "books/more.jsonl", more)
    write_config(folder, {"datasets": datasets, "tokenizer.special_tokens": CONTROL, "sources": SOURCES})
    done = drive(opened(folder))
    assert (done.failed, done.waiting) == ([], [])


SOURCES = [{"name": "books", "location": "raw/books"}]


def _lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _said(seed: str) -> str:
    return prose(seed, random.Random(seed).randint(3, 12))


def _talk(seed: str, turns: int) -> list[dict[str, str]]:
    roles = ("user", "assistant")
    return [{"role": role, "content": _said(f"{seed} {turn} {role}")} for turn in range(turns) for role in roles]


def _talks(number: int) -> list[dict[str, Any]]:
    return [{"id": f"{number}-{n}", "messages": _talk(f"talk {number} {n}", n % 3 + 1)} for n in range(200)]


def _pairs(number: int) -> list[dict[str, Any]]:
    rows = ((n, _said(f"ask {number} {n}"), _said(f"answer {number} {n}")) for n in range(40))
    return [{"prompt": ask, "completion": f" {answer}", "label": n % 2 == 0} for n, ask, answer in rows]


def _instructions(number: int) -> list[dict[str, Any]]:
    return [{"instruction": one["prompt"], "output": one["completion"].strip()} for one in _pairs(number)]


def _preferences(number: int) -> list[dict[str, Any]]:
    found = []
    for n in range(20):
        ask, *_ = _talk(f"prefer {number} {n}", 1)
        chosen, rejected = ([{"role": "assistant", "content": _said(f"{kind} {number} {n}")}] for kind in "cr")
        found.append({"prompt": [ask], "chosen": chosen, "rejected": rejected})
    return found


OWN: dict[str, Callable[[int], list[dict[str, Any]]]] = {
    "conversations": _talks,
    "chat": _talks,
    "talks": _talks,
    "pairs": _pairs,
    "instructions": _instructions,
    "labelled": _pairs,
    "questions": _pairs,
    "preferences": _preferences,
}
