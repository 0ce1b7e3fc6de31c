"""Masked datasets of hardly anything, of what cannot be learned or held, and of what was taken down."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.config.datasets.masked import MASKED, masked_section
from corpus_assets.export.hooks import require_possible
from resources.errors import ConfigError
from tests.build.small import drive, opened, prose, write_config, write_small
from tests.export.exported import manifest_of, partitions
from tests.export.masked import rules
from tests.export.masked.product import CHAT, TOKENS, dataset
from tests.export.masked.test_product import faults
from tests.export.masked.written import OPTIONS, write

FORMATS = sorted(MASKED)


def of_chats(folder: Path, chats: list[dict[str, Any]], *datasets: dict[str, Any], **changes: Any) -> Any:
    """The corpus with datasets of these conversations."""
    write_small(folder)
    (folder / "own/chat").mkdir(parents=True)
    (folder / "own/chat/a.jsonl").write_text("".join(json.dumps(chat) + "\n" for chat in chats))
    (folder / "chat.jinja").write_text("{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}")
    config = {"datasets": list(datasets), "tokenizer.special_tokens": TOKENS, **changes}
    write_config(folder, config)
    corpus = opened(folder)
    done = drive(corpus)
    assert (done.failed, done.waiting) == ([], [])
    return corpus


def chat(identity: str, *said: str, **more: Any) -> dict[str, Any]:
    """A conversation in which user and assistant take turns. more: of the messages of the assistant."""
    roles = ["user", "assistant"] * len(said)
    messages = [
        {"role": role, "content": text, **(more if role == "assistant" else {})}
        for role, text in zip(roles, said, strict=False)
    ]
    return {"id": identity, "messages": messages}


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_without_a_row(tmp_path: Path, name: str) -> None:
    entry = dataset("sft", CHAT, format=name)
    entry["input"]["may_be_empty"] = True
    corpus = of_chats(tmp_path, [], entry)
    assert faults(corpus) == []
    assert manifest_of(corpus, "sft").get("ids", 0) == 0
    if name == "arrow":
        folder = tmp_path / "corpus/exports/sft"
        ((only,),) = (file.values() for file in json.loads((folder / "state.json").read_text())["_data_files"])
        table = pa.ipc.open_stream((folder / only).read_bytes()).read_all()
        assert (table.num_rows, table.schema.names[0]) == (0, "input_ids")


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_not_learned_is_counted(tmp_path: Path, name: str) -> None:
    chats = [chat("a", "hello you", "good day"), chat("b", "hello", "never learned", weight=0)]
    corpus = of_chats(tmp_path, [*chats, chat("c", "how", "so")], dataset("sft", CHAT, format=name))
    (stream,) = partitions(corpus, "sft_masked_token_stream")
    assert stream.record.statistics["dropped"] == {"nothing_learned": 1}
    assert manifest_of(corpus, "sft")["documents"] == 2
    assert faults(corpus) == []


@pytest.mark.parametrize("name", FORMATS)
def test_ids_beyond_int32_are_refused(name: str) -> None:
    section = masked_section({**OPTIONS, "sequence_length": 8, "format": name})
    require_possible("sft", section, 2**31)
    with pytest.raises(ConfigError, match=rf"format {name} holds ids up to 2,147,483,647, and the tokenizer has"):
        require_possible("sft", section, 2**31 + 1)


@pytest.mark.parametrize(("name", "most"), [("parquet", 8), ("arrow", 8), ("megatron_bridge", 9)])
def test_no_row_is_longer_than_the_window(tmp_path: Path, name: str, most: int) -> None:
    write(tmp_path / "fits", [(list(range(most)), [0] * (most - 1) + [1])], format=name)
    with pytest.raises(ValueError, match="sequences of"):
        write(tmp_path / "too_long", [(list(range(most + 1)), [0] * most + [1])], format=name)


def test_ids_after_the_last_learned_one_have_no_turn(tmp_path: Path) -> None:
    made = write(tmp_path, [([1, 2, 3, 4], [0, 1, 0, 0]), ([5, 6], [0, 1])], eos=6, format="mds")
    assert made.mds() == [[{"input_ids": [1], "labels": [2]}], [{"input_ids": [5], "labels": [6]}]]
    assert made.files.dropped == {"masked_tail": {"documents": 0, "ids": 2}}
    assert made.files.totals["documents_without_eos"] == 1
    assert rules.llm_foundry(made.mds(), 6) == {((1,), 2): 1, ((1, 2), 6): 1, ((5,), 6): 1}


def test_end_of_text_inside_a_conversation_is_counted(tmp_path: Path) -> None:
    documents = [([1, 9, 2, 9], [0, 1, 0, 1]), ([3, 4, 9], [0, 1, 1]), ([5, 6], [0, 1])]
    made = write(tmp_path, documents, eos=9, format="olmo")
    assert made.files.totals["documents_with_eos_inside"] == 1
    assert made.files.totals["documents_without_eos"] == 1


def test_a_reader_without_the_last_of_the_mask_is_noticed(tmp_path: Path) -> None:
    """The rules tell conventions apart: a mask on the token in the place of one on the predictor learns another id."""
    made = write(tmp_path, [([1, 2, 3, 4], [0, 0, 1, 0])], format="megatron_bridge")
    (row,) = made.parquet()
    assert row["loss_mask"] == [0, 1, 0, 0]
    shifted = {**row, "loss_mask": [0, 0, 1, 0]}
    assert rules.megatron_bridge([row], 8) == {((1, 2), 3): 1}
    assert rules.megatron_bridge([shifted], 8) == {((1, 2, 3), 4): 1}


def absent(folder: Path) -> tuple[int, set[str]]:
    """What `corpus verify --absent` says: its exit code, and the partitions that hold something of the list."""
    words = ["verify", "-c", str(folder / "corpus.yaml"), "--absent", str(folder / "gone.txt"), "--json"]
    done = CliRunner().invoke(app, words)
    return done.exit_code, {row["partition"].partition("/")[0] for row in json.loads(done.stdout)["found"]}


def test_a_conversation_that_is_taken_down_is_in_no_file(tmp_path: Path) -> None:
    chats = [chat(name, prose(f"{name} asks", 20), prose(f"{name} answers", 20)) for name in "abc"]
    entries = [dataset(f"{name}-sft", CHAT, format=name) for name in FORMATS]
    of_chats(tmp_path, chats, *entries)
    (tmp_path / "gone.txt").write_text("".join(f"{entry['name']}\tb\n" for entry in entries))
    code, found = absent(tmp_path)
    assert code == 1
    for name in FORMATS:
        assert {f"{name}-sft_masked_token_stream", f"{name}-sft_tokens"} <= found
    config = {"datasets": entries, "tokenizer.special_tokens": TOKENS, "remove": {"location": "gone.txt"}}
    write_config(tmp_path, config)
    corpus = opened(tmp_path)
    done = drive(corpus)
    assert (done.failed, done.waiting) == ([], [])
    assert {manifest_of(corpus, entry["name"])["documents"] for entry in entries} == {2}
    _, found = absent(tmp_path)
    assert not {asset for asset in found if "sft_masked" in asset or asset.endswith("sft_tokens")}
