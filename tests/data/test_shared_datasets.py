"""Shared fine-tuning, preference and text files through every mode, and all shared tokenizers over real text."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.file_faults import faults_of, sums_of
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from tests.data.building import build, open_corpus, partitions
from tests.golden import shared
from tests.tokenize.reference_reading import members

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
QA = {"prompt_key": "question", "completion_key": "answer"}
CHAT = {"messages_key": "chosen"}
CASES: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("seed", "summarization", {"glob": "sft/seed_tasks.jsonl"}, {}),
    ("commands", "summarization_vsl", {"glob": "sft/commands.jsonl.zst", **QA}, {"separator": "<|sep|>"}),
    ("tar", "summarization_vsl", {"glob": "sft/*.tar", **QA}, {"packing": "nearest_previous"}),
    ("manuals", "summarization", {"glob": "sft/*.parquet"}, {"truncate": "prompt_end"}),
    (
        "manuals-chat",
        "chat",
        {"glob": "sft/*.parquet"},
        {"sequence_length": 16384, "chat_template": "chatml.jinja"},
    ),
    ("seed-chat", "chat", {"glob": "sft/seed_tasks.jsonl"}, {"pack": False, "chat_template": "chatml.jinja"}),
    ("dialogues", "chat", {"glob": "dpo/chat.jsonl", **CHAT}, {"chat_template": "chatml.jinja"}),
    ("preferences", "dpo", {"glob": "dpo/commands.jsonl"}, {}),
    ("preferences-zst", "dpo", {"glob": "dpo/commands.jsonl.zst"}, {"shuffle": True}),
    ("preferences-parquet", "dpo", {"glob": "dpo/commands.parquet"}, {"max_prompt_length": 32}),
    ("preferences-chat", "dpo", {"glob": "dpo/chat.jsonl"}, {"chat_template": "chatml.jinja"}),
    ("declaration", "lm_vsl", {"glob": "parquet/udhr_nfd.parquet"}, {"ftfy": True}),
    ("manual-texts", "fim", {"glob": "txt/man/**/*.txt"}, {"fim_rate": 1.0}),
    ("ideas", "lm", {"glob": "cerebras/idea/**/*", "text_key": "idea"}, {"pack": False}),
    ("wiki", "lm", {"glob": "cerebras/*.tar"}, {"shuffle": True, "short_sequence_probability": 0.1}),
    ("web", "fim", {"glob": "cerebras/web/*"}, {"fim_level": "row"}),
    ("near", "lm_vsl", {"glob": "parquet/udhr.parquet"}, {"long_documents": "cut", "packing": "lpfhp"}),
]
LARGE = {"web", "near", "manual-texts", "manuals", "manuals-chat", "declaration"}
TOKENIZERS = {
    "gpt2": {"kind": "gpt2", "merges": "gpt2/gpt2-vocab.bpe", "encoder": "gpt2/gpt2-encoder.json"},
    "neox": {"kind": "neox", "path": "neox/neox-encoder.json"},
    "llama": {"kind": "sentencepiece", "path": "llama/tokenizer.model"},
    "llama-json": {"kind": "tokenizer_json", "path": "llama/tokenizer.json", "eos": "</s>"},
    "mistral-v1": {"kind": "sentencepiece", "path": "mistral-v1/tokenizer.model"},
    "mistral-v3": {"kind": "huggingface", "path": "mistral-v3", "eos": "</s>"},
    "olmo-dolma2": {"kind": "tokenizer_json", "path": "olmo-dolma2/tokenizer.json", "eos": "<|endoftext|>"},
    "olmo-neox-dolma": {"kind": "huggingface", "path": "olmo-neox-dolma", "eos": "<|endoftext|>"},
    "t5": {"kind": "huggingface", "path": "t5"},
}
SPECIAL = ["<|im_start|>", "<|im_end|>", "<|sep|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"]


def tokenizer(name: str) -> dict[str, Any]:
    places = {"merges", "encoder", "path"}
    given = TOKENIZERS[name]
    return {
        key: str(shared("tokenizers", *value.split("/"))) if key in places else value for key, value in given.items()
    }


def made(folder: Path, dataset: dict[str, Any], chosen: dict[str, Any]) -> Corpus:
    """A corpus with one dataset of its own files, built as far as that needs."""
    folder.mkdir(exist_ok=True)
    (folder / "chatml.jinja").write_text(CHATML)
    if "input" in dataset:
        dataset = {**dataset, "input": {"location": str(shared("data")), **dataset["input"]}}
    source = {"name": "any", "location": str(shared("data", "sft")), "glob": "*.jsonl", "text_key": "completion"}
    values = {"sources": [source], "tokenizer": chosen, "datasets": [dataset], "mix": {"chunks": 3}}
    corpus = open_corpus(folder, values)
    build(corpus, [f"+{dataset['name']}_token_params"])
    return corpus


def check(corpus: Corpus) -> Statistics:
    """Every file is what its record says, the sums are right, and every row that was read is accounted for."""
    (entry,) = corpus.settings.values["datasets"]
    name = entry["name"]
    held = next(stage.name for stage in corpus.graph if stage.name in ("tokenizer", f"tokenizers/{name}"))
    loaded = load_tokenizer_of(partitions(corpus, held)[0], entry.get("separator"))
    files = partitions(corpus, f"{name}_tokens")
    assert [fault for partition in files for fault in faults_of(partition, entry, loaded)] == []
    (params,) = partitions(corpus, f"{name}_token_params")
    counted = partitions(corpus, f"{name}_sequences") if entry["shuffle"] else files
    assert sums_of(counted, files, params) == []
    total = Statistics.from_dict(params.json("data_params.json")["post-process"])
    assert total.successful_files + total.discarded_files == total.processed_files
    assert total.n_examples
    return total


@pytest.mark.parametrize(
    ("name", "mode", "files", "options"),
    [pytest.param(*case, id=case[0], marks=[pytest.mark.slow] if case[0] in LARGE else []) for case in CASES],
)
def test_every_mode_on_real_files(
    tmp_path: Path, name: str, mode: str, files: dict[str, Any], options: dict[str, Any]
) -> None:
    dataset = {"name": name, "mode": mode, "input": files, "sequence_length": 1024, **options}
    trained = tmp_path / "trained"
    corpus = made(tmp_path / "corpus", dataset, with_special_tokens(trained))
    rows = rows_in(files["glob"])
    examples = partitions(corpus, f"{name}_examples")
    assert sum(partition.record.statistics["rows_out"] for partition in examples) == rows
    assert sum(sum(partition.record.statistics.get("dropped", {}).values()) for partition in examples) == 0
    total = check(corpus)
    assert total.processed_files == rows
    assert total.discarded_files <= rows // 50


def rows_in(glob: str) -> int:
    """Rows of the files, counted by other means than the product's."""
    return sum(map(rows_of_file, filter(Path.is_file, shared("data").glob(glob))))


def rows_of_file(path: Path) -> int:
    if path.suffix == ".parquet":
        return int(pq.read_metadata(path).num_rows)
    return sum(1 for member in members(path, ["text"]) for _ in member)


def with_special_tokens(folder: Path) -> dict[str, Any]:
    """GPT-2's tokenizer with the control tokens that the modes need."""
    from tokenizers import AddedToken, Tokenizer

    made = Tokenizer.from_file(str(shared("tokenizers", "gpt2", "tokenizer.json")))
    made.add_special_tokens([AddedToken(token, special=True) for token in ("<|endoftext|>", *SPECIAL)])
    folder.mkdir()
    made.save(str(folder / "tokenizer.json"))
    return {"kind": "tokenizer_json", "path": str(folder / "tokenizer.json"), "eos": "<|endoftext|>"}


@pytest.mark.slow
@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("mode", ["lm", "lm_vsl"])
def test_every_tokenizer_on_many_scripts(tmp_path: Path, name: str, mode: str) -> None:
    files = {"glob": "parquet/udhr_nfd.parquet"}
    dataset = {"name": "scripts", "mode": mode, "input": files, "sequence_length": 512}
    corpus = made(tmp_path, dataset, tokenizer(name))
    total = check(corpus)
    assert total.processed_files == total.successful_files == rows_in(files["glob"])
    if mode == "lm":
        assert total.unaccounted_tokens == 0
    held = load_tokenizer_of(partitions(corpus, "tokenizer")[0])
    used = partitions(corpus, "scripts_tokens")[0].record.statistics["tokenizer_backend"]
    assert used in ({"sentencepiece"} if held.definition is None else {"gigatoken", "fastokens", "tokenizers"})
    assert np.all(held.text_sizes()[0] >= held.text_sizes()[1])
