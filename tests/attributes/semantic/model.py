"""A small model: words of a few meanings, and a tokenizer that knows them; and what it says, in plain numbers."""

import json
import random
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

MEANINGS, SYNONYMS, DIMENSIONS = 60, 4, 24
WORDS = [f"m{meaning}s{synonym}" for meaning in range(MEANINGS) for synonym in range(SYNONYMS)]
VOCABULARY = {word: number for number, word in enumerate(["[UNK]", *WORDS])}


def vectors(seed: int = 0) -> NDArray[np.float32]:
    """Synonyms have nearly the same direction."""
    chance = np.random.default_rng(seed)
    meanings = chance.normal(size=(MEANINGS, DIMENSIONS)).repeat(SYNONYMS, axis=0)
    rows = meanings + 0.1 * chance.normal(size=meanings.shape)
    return np.concatenate([chance.normal(size=(1, DIMENSIONS)), rows]).astype(np.float32)


def safetensors(tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """The bytes of a safetensors file."""
    kinds = {"float32": "F32", "float16": "F16", "int64": "I64", "float64": "F64", "int8": "I8"}
    header, body = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.tobytes()
        place = [len(body), len(body) + len(raw)]
        header[name] = {"dtype": kinds[tensor.dtype.name], "shape": list(tensor.shape), "data_offsets": place}
        body += raw
    head = json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + body


def write_model(folder: Path, tensors: Mapping[str, NDArray[Any]] | None = None) -> Path:
    """A folder as model2vec writes it."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.safetensors").write_bytes(safetensors(tensors or {"embeddings": vectors()}))
    (folder / "config.json").write_text("{}")
    return folder


def sentence(chance: random.Random, meanings: Sequence[int]) -> str:
    """A text of these meanings, each by one of its words, with some that the model does not know."""
    words = [f"m{meaning}s{chance.randrange(SYNONYMS)}" for meaning in meanings]
    return " ".join([*words, *(f"other{chance.randrange(10**6)}" for _ in range(chance.randrange(3)))])


def texts(seed: int, count: int) -> list[str]:
    """Texts of which many mean what another one does."""
    chance = random.Random(seed)
    themes = [[random.Random(f"{theme}").randrange(MEANINGS) for _ in range(12)] for theme in range(count // 3)]
    return [sentence(chance, themes[chance.randrange(len(themes))]) for _ in range(count)]


def embedded(text: str) -> NDArray[np.float64]:
    """The direction of a text; zeros if no word is known."""
    known = [VOCABULARY[word] for word in text.split() if word in VOCABULARY]
    total = vectors().astype(np.float64)[known].sum(axis=0) if known else np.zeros(DIMENSIONS)
    return total / (np.linalg.norm(total) or 1.0)


def by_definition(given: Sequence[str], threshold: float, order: Sequence[int]) -> dict[int, tuple[int, float]]:
    """For each text that goes, the kept one that it resembles most, and the cosine. order: the preferred ones first.

    `AssertionError` if a cosine is so near the threshold that rounding would decide.
    """
    rows = [embedded(text) for text in given]
    kept: list[int] = []
    found: dict[int, tuple[int, float]] = {}
    for place in order:
        near = [(float(rows[place] @ rows[other]), other) for other in kept]
        best = max((cosine for cosine, _ in near), default=-1.0)
        assert abs(best - threshold) > 2e-4
        if not rows[place].any():
            continue
        if best >= threshold:
            found[place] = next((other, cosine) for cosine, other in near if cosine == best)
        else:
            kept.append(place)
    return found
