"""Ready chat templates: each renders what the model's own does, and needs the control tokens that it says.

`recorded/ready_templates.json` says what its texts were made with.
"""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpus_assets.config.ready_templates import READY, ready_template
from corpus_assets.orchestration.building.build import build
from corpus_assets.tokenize.modes.chat.dialogues import Dialogue, TemplateFault
from corpus_assets.tokenize.modes.chat.template import ChatTemplate
from resources.errors import ConfigError
from tests.build.small import drive, opened, prose
from tests.data.building import records
from tests.orchestration.silent import Silent

RECORDED = json.loads((Path(__file__).parent / "recorded" / "ready_templates.json").read_text(encoding="utf-8"))[
    "cases"
]
DAY = date(2025, 1, 2)
ANSWERED = [{"role": "user", "content": "What?"}, {"role": "assistant", "content": "That."}]


def rendered(name: str, messages: list[dict[str, Any]], **values: Any) -> str:
    template = ChatTemplate(ready_template(name), day=DAY)
    return template.render(Dialogue(messages, values), {"bos_token": "<s>", "eos_token": "</s>"}).text


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_a_conversation_is_what_the_models_own_template_writes(number: int) -> None:
    case = RECORDED[number]
    begin, end = case["tokens"]
    dialogue = Dialogue(case["messages"], case["values"], case["generation_prompt"])
    made = ChatTemplate(ready_template(case["template"]), day=DAY).render(
        dialogue, {"bos_token": begin, "eos_token": end}
    )
    assert made.text == case["text"]


def test_each_is_recorded_and_lies_in_the_package() -> None:
    assert {case["template"] for case in RECORDED} == set(READY)
    folder = Path(__file__).parents[2] / "corpus_assets/config/templates"
    assert {file.stem for file in folder.iterdir()} == set(READY)


@pytest.mark.parametrize("name", READY)
def test_the_control_tokens_are_those_that_it_writes(name: str) -> None:
    source = ready_template(name)
    assert all(token in source for token in READY[name])
    text = rendered(name, ANSWERED)
    needed = [token for token in READY[name] if token not in ("<|call|>", "<|channel|>")]
    written = rendered(name, [*ANSWERED, *ANSWERED]) + text
    assert all(token in written for token in needed if token != "<|im_end|>" or "<|im_start|>" in written)


@pytest.mark.parametrize("name", ["alpaca", "mistral", "gpt_oss", "gemma3"])
def test_roles_that_a_model_does_not_know_are_refused(name: str) -> None:
    with pytest.raises(TemplateFault, match=r"template_refused: .*(role|turns)"):
        rendered(name, [{"role": "critic", "content": "Hm."}, *ANSWERED])


def write(folder: Path, template: str, tokens: list[str], **dataset: Any) -> Path:
    """A corpus with a chat dataset under a ready template, and a tokenizer trained with these control tokens."""
    (folder / "raw").mkdir()
    (folder / "own").mkdir()
    texts = [{"id": f"d{n}", "text": prose(n, 30)} for n in range(20)]
    talks = [{"id": f"t{n}", "messages": ANSWERED} for n in range(3)]
    for path, rows in (("raw/a.jsonl", texts), ("own/a.jsonl", talks)):
        (folder / path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    files = {"location": "own", "messages_key": "messages"}
    chat = {"name": "chat", "mode": "chat", "sequence_length": 512, "chat_template": template, "input": files}
    config = {
        "sources": [{"name": "web", "location": "raw"}],
        "mix": {"chunks": 1},
        "engine": {"workers": 0},
        "storage": {"sync": False},
        "tokenizer": {"kind": "train", "vocabulary": 600, "special_tokens": tokens},
        "datasets": [{**chat, **dataset}],
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", READY)
def test_a_dataset_is_built_under_each(name: str, tmp_path: Path) -> None:
    more: dict[str, Any] = {"day": DAY} if name == "gpt_oss" else {}
    folder = write(tmp_path, name, list(READY[name]), **more)
    assert not drive(opened(folder)).failed
    (record,) = records(opened(folder), "chat_tokens")
    assert record.statistics["rows_in"] == 3
    assert not record.statistics.get("dropped")


@pytest.mark.parametrize("name", [name for name, tokens in READY.items() if tokens])
def test_missing_control_tokens_are_told_before_anything_is_built(name: str, tmp_path: Path) -> None:
    *kept, missing = READY[name]
    more: dict[str, Any] = {"day": DAY} if name == "gpt_oss" else {}
    folder = write(tmp_path, name, kept, **more)
    corpus = opened(folder)
    told = rf"datasets\.chat\.chat_template: {name} writes the control tokens {re.escape(missing)}, which the "
    with pytest.raises(ConfigError, match=told):
        build(corpus, list(corpus.graph), Silent())
    assert not corpus.ledger.records("inventory")


@pytest.mark.parametrize("where", ["dataset", "tokenizer"])
def test_a_name_that_is_none_is_told_those_that_are(where: str, tmp_path: Path) -> None:
    folder = write(tmp_path, "chatml", list(READY["chatml"]))
    config = yaml.safe_load((folder / "corpus.yaml").read_text())
    (config["datasets"][0] if where == "dataset" else config["tokenizer"])["chat_template"] = "qwen4"
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    corpus = opened(folder)
    with pytest.raises(
        ConfigError, match=r"chat_template: .*qwen4' cannot be read: .*; ready templates are alpaca, .*qwen3"
    ):
        build(corpus, list(corpus.graph), Silent())
