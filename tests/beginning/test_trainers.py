"""The datasets are those that the trainer reads, by what the files hold; they build with a tokenizer and without."""

from pathlib import Path
from typing import Any

import pytest

from corpus_assets.config.corpus_config import CorpusConfig
from tests.beginning.starts import begun, built, exported, prose, rows, write_jsonl

TRAINERS = ("megatron", "hf", "cerebras", "olmo", "litgpt", "trl")
TEXT_ROWS = {
    "chat": "messages",
    "shared": "messages",
    "pairs": "prompt_completion",
    "alpaca": "prompt_completion",
    "preferences": "preference",
    "judged": "preference_messages",
    "labels": "kto",
}
"""What each set of files becomes where it stays texts."""
IDS = {
    "hf": {"chat": "chat parquet", "shared": "chat parquet", "pairs": "summarization parquet"},
    "olmo": {"chat": "chat olmo", "shared": "chat olmo", "pairs": "summarization olmo"},
    "cerebras": {
        "chat": "chat hdf5",
        "shared": "chat hdf5",
        "pairs": "summarization hdf5",
        "preferences": "dpo hdf5",
        "judged": "dpo hdf5",
    },
    "megatron": {"pairs": "summarization megatron_bridge"},
    "litgpt": {},
    "trl": {},
}
"""Mode and format of what each set becomes with a tokenizer; the rest stays texts."""


def turns(number: int, answer: str = "I think it is called the Rhine.") -> list[dict[str, str]]:
    asked = f"What is river number {number} called, the one of the town?"
    return [{"role": "user", "content": asked}, {"role": "assistant", "content": f"{answer} {number}"}]


def shared_turns(number: int) -> list[dict[str, str]]:
    names = {"user": "human", "assistant": "gpt"}
    return [{"from": names[turn["role"]], "value": turn["content"]} for turn in turns(number)]


def row(kind: str, number: int) -> dict[str, Any]:
    """A row of a set of files."""
    asked, answer = (turn["content"] for turn in turns(number))
    kinds: dict[str, dict[str, Any]] = {
        "chat": {"messages": turns(number)},
        "shared": {"conversations": shared_turns(number)},
        "pairs": {"question": asked, "answer": answer},
        "alpaca": {"instruction": asked, "input": f"Here is {number}." if number % 2 else "", "output": answer},
        "preferences": {"prompt": asked, "chosen": answer, "rejected": f"I do not know {number}."},
        "judged": {"prompt": turns(number)[:1], "chosen": turns(number)[1:], "rejected": turns(number, "No.")[1:]},
        "labels": {"prompt": asked, "completion": answer, "label": number % 2 == 0},
    }
    return kinds[kind]


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    for kind in TEXT_ROWS:
        write_jsonl(tmp_path / f"raw/{kind}/a.jsonl", [row(kind, number) for number in range(12)])
    write_jsonl(tmp_path / "raw/books/a.jsonl", rows(60))
    return tmp_path / "raw"


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    from tokenizers import Tokenizer
    from tokenizers.decoders import ByteLevel as Decoder
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel
    from tokenizers.trainers import BpeTrainer

    found = Tokenizer(BPE())
    found.pre_tokenizer = ByteLevel(add_prefix_space=False)
    found.decoder = Decoder()
    alphabet = ByteLevel.alphabet()
    found.train_from_iterator([prose(1)], BpeTrainer(special_tokens=["<|endoftext|>"], initial_alphabet=alphabet))
    (tmp_path / "tok").mkdir()
    found.save(str(tmp_path / "tok/tokenizer.json"))
    (tmp_path / "tok/tokenizer_config.json").write_text('{"eos_token": "<|endoftext|>"}')
    return str(tmp_path / "tok")


def kinds(config: CorpusConfig) -> dict[str, str]:
    """Mode, or rows, and format of each dataset of files of its own."""
    own = [one for one in config.datasets if not isinstance(one.input, str)]
    return {
        one.name: f"{getattr(one, 'mode', None) or getattr(one, 'rows', '')} {getattr(one, 'format', '')}"
        for one in own
    }


def expected(trainer: str | None, *, ids: bool) -> dict[str, str]:
    texts = {name: f"{kind} text" for name, kind in TEXT_ROWS.items()}
    if trainer == "litgpt":
        texts |= dict.fromkeys(("pairs", "alpaca"), "instruction text")
    masked = dict(IDS[trainer]) if trainer and ids else {}
    if "pairs" in masked:
        masked["alpaca"] = masked["pairs"]
    return texts | masked


@pytest.mark.parametrize("trainer", [None, *TRAINERS])
def test_datasets_without_a_tokenizer_are_texts_and_say_what_to_fill_in(
    raw: Path, tmp_path: Path, trainer: str | None
) -> None:
    file = tmp_path / "out/corpus.yaml"
    config = begun(raw, file, *(("--for", trainer) if trainer else ()))
    assert kinds(config) == expected(trainer, ids=False)
    assert ("TO FILL IN" in file.read_text()) == (trainer not in (None, "trl"))


@pytest.mark.parametrize("trainer", TRAINERS)
def test_datasets_with_a_tokenizer_are_those_that_the_trainer_reads(
    raw: Path, tmp_path: Path, tokenizer: str, trainer: str
) -> None:
    file = tmp_path / "out/corpus.yaml"
    config = begun(raw, file, "--for", trainer, "--tokenizer", tokenizer)
    assert kinds(config) == expected(trainer, ids=True)
    assert "TO FILL IN" not in file.read_text()
    assert config.tokenizer.kind == "huggingface"


@pytest.mark.slow
@pytest.mark.parametrize("trainer", TRAINERS)
def test_what_is_written_with_a_tokenizer_builds(raw: Path, tmp_path: Path, tokenizer: str, trainer: str) -> None:
    file = tmp_path / "out/corpus.yaml"
    config = begun(raw, file, "--for", trainer, "--tokenizer", tokenizer)
    built(file)
    exports = {path.name for path in (file.parent / "corpus/exports").iterdir()}
    assert exports == {one.name for one in config.datasets if getattr(one, "format", "hdf5") != "hdf5"}
    assert all(any((file.parent / "corpus/exports" / name).iterdir()) for name in exports)


@pytest.mark.slow
def test_texts_hold_what_the_rows_held(raw: Path, tmp_path: Path) -> None:
    file = tmp_path / "out/corpus.yaml"
    begun(raw, file)
    built(file)
    assert len(exported(file, "texts")) > 40
    found = {kind: exported(file, kind) for kind in TEXT_ROWS}
    assert {kind: len(values) for kind, values in found.items()} == dict.fromkeys(TEXT_ROWS, 12)
    assert found["chat"][3]["messages"] == turns(3) == found["shared"][3]["messages"]
    assert found["alpaca"][3]["prompt"] == f"{turns(3)[0]['content']}\n\nHere is 3."
    assert found["labels"][3]["label"] is False
    assert found["judged"][3]["rejected"] == turns(3, "No.")[1:]


@pytest.mark.slow
@pytest.mark.parametrize("trainer", TRAINERS)
def test_what_stands_in_comments_builds_once_a_tokenizer_is_filled_in(
    raw: Path, tmp_path: Path, tokenizer: str, trainer: str
) -> None:
    file = tmp_path / "out/corpus.yaml"
    begun(raw, file, "--for", trainer)
    lines = file.read_text().splitlines()
    start = lines.index("datasets:")
    taken = [line[2:] if line.startswith(("#   -", "#     ")) else line for line in lines[start:]]
    filled = [f"tokenizer: {{kind: huggingface, path: {tokenizer}}}", *taken]
    file.write_text("\n".join([*lines[:start], *filled]) + "\n")
    built(file)


def test_a_template_beside_the_tokenizer_is_used(raw: Path, tmp_path: Path, tokenizer: str) -> None:
    file = tmp_path / "out/corpus.yaml"
    begun(raw, file, "--for", "hf", "--tokenizer", tokenizer)
    assert "chat_template: alpaca" in file.read_text()
    (Path(tokenizer) / "chat_template.jinja").write_text("{{ messages }}")
    begun(raw, file, "--for", "hf", "--tokenizer", tokenizer, "--force")
    assert "chat_template" not in file.read_text()
