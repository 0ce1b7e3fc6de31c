"""Datasets for the trainer that was asked for, by what the files hold."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from corpus_assets.beginning.sources import Section
from corpus_assets.beginning.tokenizers import Chosen

PAGES: Final[Mapping[str, str]] = {
    "megatron": "trainers/megatron-lm",
    "hf": "trainers/hugging-face",
    "cerebras": "datasets",
    "olmo": "trainers/olmo-core",
    "litgpt": "trainers/litgpt",
    "trl": "trainers/trl-texts",
}
"""Trainers, and the page about each."""

_DOCUMENTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "megatron": {"format": "megatron"},
    "hf": {"format": "parquet", "sequence_length": 2048},
    "cerebras": {"mode": "lm", "sequence_length": 2048},
    "olmo": {"format": "olmo"},
    "litgpt": {"format": "litdata", "sequence_length": 2049},
}
_MASKED: Final[Mapping[str, Mapping[str, Any]]] = {
    "hf": {"format": "parquet", "reader": "transformers", "sequence_length": 2048},
    "olmo": {"format": "olmo", "sequence_length": 2048},
    "cerebras": {"sequence_length": 2048},
}
_NEMO: Final = {"format": "megatron_bridge", "sequence_length": 2048}
_LEAST_OF_TEMPLATE: Final = "### Response:\n"
"""What begins a response in the template that every tokenizer can write."""


def page_of(trainer: str | None) -> str:
    """Returns the page about a trainer."""
    return PAGES.get(trainer or "", "exports")


@dataclass(frozen=True)
class Entry:
    """An entry of `datasets`. is_ready: it can be built as it is; else it becomes a comment. notes: in sentences."""

    values: Mapping[str, Any]
    notes: Sequence[str] = ()
    is_ready: bool = True


def datasets_for(trainer: str | None, sections: Sequence[Section], tokenizer: Chosen | None) -> list[Entry]:
    """Returns the datasets. Those that need a tokenizer are ready only if one was given."""
    entries: list[Entry] = []
    if any(section.is_document for section in sections):
        entries += _of_documents(trainer, tokenizer)
    for section in sections:
        if not section.reading.is_text and not section.is_evaluation:
            entries += _of_files(trainer, section, tokenizer)
    return entries


def _of_documents(trainer: str | None, tokenizer: Chosen | None) -> Iterator[Entry]:
    texts = {"name": "texts", "format": "text", "input": "decontaminated_train"}
    if trainer is None:
        yield Entry(
            texts,
            [
                "The texts as JSON lines, for trainers that tokenize by themselves. Files for a trainer:",
                f"`corpus init --for {'|'.join(PAGES)} --tokenizer ...`, or `corpus docs exports`.",
            ],
        )
        return
    if trainer == "trl":
        yield Entry({**texts, "name": "trl"}, ["TRL tokenizes by itself: `rows: text` is for SFTTrainer."])
        yield Entry({**texts, "name": "trl_validation", "input": "validation"})
        return
    if tokenizer is None:
        yield Entry(texts, [f"Until there is a tokenizer: the texts as JSON lines. Files for {trainer} follow below."])
    ready = tokenizer is not None
    wanted = [] if ready else ["Fill in `tokenizer` above, then take these lines out of the comment:"]
    for split, suffix in (("decontaminated_train", ""), ("validation", "_validation")):
        named = {"name": f"{trainer}{suffix}", **_DOCUMENTS[trainer], "input": split}
        yield Entry(named, wanted if not suffix else (), ready)


def _of_files(trainer: str | None, section: Section, tokenizer: Chosen | None) -> Iterator[Entry]:
    """Yields the datasets of files of its own: conversations, pairs or preferences."""
    tokenized = _tokenized(trainer, section, tokenizer)
    if tokenized is None or not tokenized.is_ready:
        yield Entry(_texts(trainer, section), [*section.notes, *_reader(trainer, section)])
    if tokenized is not None:
        yield tokenized


def _texts(trainer: str | None, section: Section) -> dict[str, Any]:
    """Returns a dataset of the rows as texts, as trainers read them that tokenize by themselves."""
    reading, files = section.reading, dict(section.values)
    rows = {"pair": "prompt_completion", "pair_messages": "prompt_completion_messages"}.get(reading.kind, reading.kind)
    values: dict[str, Any] = {"name": section.name, "format": "text", "rows": rows}
    if reading.kind == "pair" and trainer == "litgpt":
        values["rows"] = "instruction"
        if reading.input:
            values["input_key"] = reading.input
            files["prompt_key"] = reading.prompt
    if reading.label and reading.label != "label":
        values["label_key"] = reading.label
    if trainer in ("megatron", "litgpt"):
        values["files"] = "jsonl"
    return {**values, "input": files}


def _reader(trainer: str | None, section: Section) -> Iterator[str]:
    """Yields what a trainer does with the texts."""
    kind = section.reading.kind
    if trainer in (None, "trl"):
        classes = {"preference": "DPOTrainer", "kto": "KTOTrainer"}.get(kind.removesuffix("_messages"), "SFTTrainer")
        yield f"Texts for trainers that tokenize by themselves, such as {classes} of TRL (`corpus docs texts`)."
    elif trainer == "megatron" and kind == "messages":
        yield "Megatron-LM reads them with --sft, and tokenizes by itself (`corpus docs trainers/megatron-sft`)."
    elif trainer == "litgpt" and kind == "pair":
        yield "LitGPT reads them with --data JSON, and tokenizes by itself (`corpus docs trainers/sft-texts`)."
    else:
        yield f"As texts: {trainer} has no files for them, or none without a tokenizer (`corpus docs texts`)."


def _tokenized(trainer: str | None, section: Section, tokenizer: Chosen | None) -> Entry | None:
    """Returns a dataset of ids; None if the trainer reads no such ids."""
    kind = section.reading.kind
    if kind == "pair":
        options = _NEMO if trainer == "megatron" else _MASKED.get(trainer or "")
        mode = "summarization"
    elif kind == "messages":
        options, mode = _MASKED.get(trainer or ""), "chat"
    elif kind.startswith("preference") and trainer == "cerebras":
        options, mode = _MASKED[trainer], "dpo"
    else:
        return None
    if options is None:
        return None
    name = section.name if tokenizer is not None else f"{section.name}_{trainer}"
    values: dict[str, Any] = {"name": name, "mode": mode, **options}
    notes = (
        list(section.notes)
        if tokenizer is not None
        else ["Fill in `tokenizer` above, and take this out of the comment:"]
    )
    if mode in ("chat", "dpo") and not (tokenizer and tokenizer.has_template):
        values["chat_template"] = "alpaca"
        notes.append("No chat template was found beside the tokenizer. `alpaca` needs no tokens of its own;")
        notes.append("`corpus docs datasets` has those of other models: take the one of yours.")
        if mode == "dpo":
            values["response_delimiter"] = _LEAST_OF_TEMPLATE
    return Entry({**values, "input": dict(section.values)}, notes, tokenizer is not None)
