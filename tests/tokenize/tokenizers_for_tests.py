"""Tokenizers of the golden cases by the label that the cases give them, and a small one made here."""

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer, TokenizerSpec, load_tokenizer
from corpus_assets.tokenize.tokenizers.training import train_bpe
from tests.golden import shared

TEXTS = [
    "the cat sat on the mat",
    "<|endoftext|> is text",
    "naïve café 12345",
    "for i in range(10):\n    pass",
]
CONTROL = {"id": 0, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
_SET = ("golden", "cerebras")
_TYPES: dict[str, tuple[Any, bool]] = {
    "GPT2Tokenizer": ("gpt2", False),
    "NeoXTokenizer": ("neox", True),
    "HuggingFaceTokenizer": ("huggingface", True),
}
"""Kind of a tokenizer, and whether control tokens in texts are matched, by the name that Cerebras has for it."""
_TINY = ("golden", "cerebras", "tokenizers", "tiny")
_TINYHF = ("golden", "cerebras", "tokenizers", "tinyhf")
_HF_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
# Kind, whether control tokens in texts are matched (as Cerebras does), and where each file lies.
_LABELS: dict[str, tuple[Any, bool, dict[str, tuple[str, ...]]]] = {
    "gpt2": (
        "gpt2",
        False,
        {
            "vocab.bpe": ("tokenizers", "gpt2", "gpt2-vocab.bpe"),
            "encoder.json": ("tokenizers", "gpt2", "gpt2-encoder.json"),
        },
    ),
    "neox": ("neox", True, {"tokenizer.json": ("tokenizers", "neox", "neox-encoder.json")}),
    "tiny": ("neox", True, {"tokenizer.json": (*_TINY, "tokenizer.json")}),
    "tinyhf": ("huggingface", True, {name: (*_TINYHF, name) for name in _HF_FILES}),
    "tinyhf-as-neox": ("neox", True, {name: (*_TINYHF, name) for name in _HF_FILES[:2]}),
}


@cache
def load(label: str, *, eos: int | None = None, pad: int | None = None) -> LoadedTokenizer:
    """The tokenizer of a label; eos and pad replace its own, as the parameters eos_id and pad_id do.

    `gpt2sep` is GPT-2 with `<SEP>` as one more entry of its table. Skips the test when files are absent.
    """
    if label == "gpt2sep":
        return load("gpt2", eos=eos, pad=pad).with_token("<SEP>")
    kind, match, files = _LABELS[label]
    content = {name: shared(*parts).read_bytes() for name, parts in files.items()}
    return load_tokenizer(content, TokenizerSpec(kind, eos=eos, pad=pad, match_special_tokens=match))


def for_case(case: dict[str, Any]) -> LoadedTokenizer:
    """The tokenizer of a golden case, with the eos and pad that its parameters give."""
    given, tokenizer = case["processing"] | case["cli"], case["tokenizer"]
    kind, files = tokenizer["tokenizer_type"], tuple(tokenizer["files"])
    return _of_files(kind, files, given.get("eos_id"), given.get("pad_id"))


def as_published(case: dict[str, Any]) -> LoadedTokenizer:
    """The tokenizer of a golden case, with the eos and pad of its own files."""
    return _of_files(case["tokenizer"]["tokenizer_type"], tuple(case["tokenizer"]["files"]), None, None)


def files_of_case(files: Iterable[str]) -> list[Path]:
    """The files, or the folder, that a golden case lists: a path, then words that say whether it is in the set."""
    parts = ((_SET if "relative to this set" in words else (), Path(words.split()[0]).parts) for words in files)
    return [shared(*before, *path) for before, path in parts]


@cache
def _of_files(tokenizer_type: str, files: tuple[str, ...], eos: int | None, pad: int | None) -> LoadedTokenizer:
    content: dict[str, bytes] = {}
    for words, path in zip(files, files_of_case(files), strict=True):
        if path.is_dir():
            content |= {name: (path / name).read_bytes() for name in _HF_FILES if (path / name).exists()}
        elif tokenizer_type == "GPT2Tokenizer":
            content["vocab.bpe" if path.suffix == ".bpe" else "encoder.json"] = path.read_bytes()
        else:
            content["tokenizer.json"] = path.read_bytes()
            if "tokenizer_config.json" in words:
                content["tokenizer_config.json"] = (path.parent / "tokenizer_config.json").read_bytes()
    kind, match = _TYPES[tokenizer_type]
    found = load_tokenizer(content, TokenizerSpec(kind, eos=eos, pad=pad, match_special_tokens=match))
    for entry in re.findall(r'entry "([^"]+)"', " ".join(files)):
        found = found.with_token(entry)
    return found


def texts() -> list[str]:
    """The shared tokenizer texts."""
    return [json.loads(line)["text"] for line in shared("tokenizers", "texts.jsonl").open("rb")]


def template(before: int, token: str) -> dict[str, Any]:
    """A post-processor that puts one control token before a text."""
    mark = {"SpecialToken": {"id": token, "type_id": 0}}
    parts = [{"Sequence": {"id": name, "type_id": 0}} for name in "AB"]
    special = {token: {"id": token, "ids": [before], "tokens": [token]}}
    return {"type": "TemplateProcessing", "single": [mark, parts[0]], "pair": parts, "special_tokens": special}


BOS_TEMPLATE = template(1, "<|padding|>")


@cache
def trained() -> bytes:
    return train_bpe(TEXTS * 3, 300)


def changed(**parts: object) -> bytes:
    return json.dumps({**json.loads(trained()), **parts}).encode()


def loaded(spec: TokenizerSpec, raw: bytes | None = None, **siblings: object) -> LoadedTokenizer:
    files = {f"{name}.json": json.dumps(value).encode() for name, value in siblings.items()}
    return load_tokenizer({"tokenizer.json": raw or trained(), **files}, spec)
