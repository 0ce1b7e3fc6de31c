"""Static embeddings: the vector of a text is the sum of the vectors of its tokens, in whole numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from tokenizers import Tokenizer

from corpus_assets.attributes.semantic.integers import MOST_DIMENSIONS
from corpus_assets.attributes.semantic.models import BATCH, ModelFiles, Sums
from corpus_assets.attributes.semantic.tensors import tensors_in
from resources.errors import ConfigError, raise_machine_fault
from resources.outside_files import OutsideFile

_LARGEST: Final = (1 << 15) - 1
_PIECE: Final = 1 << 14
"""Code points of a piece, which has at most four tokens for each: their whole numbers add up in 32 bits."""

_LARGEST_TOKENIZER: Final = 1 << 28
_TENSORS: Final = ("embeddings", "embedding.weight")


@dataclass(frozen=True)
class Static:
    """Static embeddings. table: of each token in whole numbers (tokens, d). unknown: the token of unknown words."""

    tokenizer: Tokenizer
    table: NDArray[np.int32]
    unknown: int | None

    @classmethod
    def read(cls, files: ModelFiles, key: str) -> "Static":
        """Reads a model; `ConfigError` names the configuration key, the file, and what is wrong with it."""
        tensors = tensors_in(OutsideFile(files.tensors), key)
        vectors = next((tensors[name] for name in _TENSORS if name in tensors), None)
        if vectors is None or vectors.ndim != 2 or not 0 < vectors.shape[1] <= MOST_DIMENSIONS:
            there = ", ".join(f"{name} {list(tensor.shape)}" for name, tensor in list(tensors.items())[:5]) or "nothing"
            raise ConfigError(
                f"{key}: {files.tensors} holds {there}; valid: `embeddings` or `embedding.weight` of tokens by 1 to "
                f"{MOST_DIMENSIONS:,} dimensions"
            )
        tokenizer = _tokenizer(files.tokenizer, key)
        rows = _of_tokens(vectors, tensors, tokenizer.get_vocab_size(), key, files)
        if not np.isfinite(rows).all():
            raise ConfigError(f"{key}: {files.tensors} holds numbers that are not finite")
        largest = float(np.abs(rows).max(initial=0.0)) or 1.0
        table = np.rint(rows / largest * _LARGEST).astype(np.int32)
        return cls(tokenizer, table, _unknown(tokenizer))

    def __call__(self, texts: Sequence[str]) -> Sums:
        """Returns the sum of the vectors of the known tokens of each text (n, dimensions)."""
        pieces, of = [], []
        for number, text in enumerate(texts):
            for piece in _pieces(text):
                pieces.append(piece)
                of.append(number)
        found = np.zeros((len(texts), self.table.shape[1]), dtype=np.int64)
        for start in range(0, len(pieces), BATCH):
            np.add.at(found, of[start : start + BATCH], self._sums(pieces[start : start + BATCH]))
        return found

    def _sums(self, pieces: list[str]) -> NDArray[np.int32]:
        """Returns the sum of the vectors of the known tokens of each piece."""
        encoded = self.tokenizer.encode_batch_fast(pieces, add_special_tokens=False)
        ids = [np.array(one.ids, dtype=np.int32) for one in encoded]
        if self.unknown is not None:
            ids = [one[one != self.unknown] for one in ids]
        ends = np.cumsum([0, *map(len, ids)])
        flat = np.concatenate([np.empty(0, np.int32), *ids])
        ones = np.ones(len(flat), dtype=np.int32)
        counts = csr_matrix((ones, flat, ends), shape=(len(pieces), len(self.table)))
        return np.asarray(counts @ self.table)


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


def _tokenizer(path: str, key: str) -> Tokenizer:
    content = OutsideFile(path).read(_LARGEST_TOKENIZER)
    if len(content) > _LARGEST_TOKENIZER:
        raise ConfigError(f"{key}: {path} has more than {_LARGEST_TOKENIZER:,} bytes")
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # The library raises plain exceptions.
        raise_machine_fault(f"{key}: {path}", error)
        raise ConfigError(f"{key}: {path} is no tokenizer that can be used: {error}") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _unknown(tokenizer: Tokenizer) -> int | None:
    name = getattr(tokenizer.model, "unk_token", None)
    return tokenizer.token_to_id(name) if name else None


def _of_tokens(
    vectors: NDArray[Any], tensors: dict[str, NDArray[Any]], tokens: int, key: str, files: ModelFiles
) -> NDArray[np.float32]:
    """Returns the vector of each token (tokens, d): tokens may share vectors (`mapping`), and weigh differently."""
    mapping, weights = tensors.get("mapping"), tensors.get("weights")
    rows = vectors.astype(np.float32)
    if mapping is not None:
        if mapping.ndim != 1 or (len(mapping) and not 0 <= int(mapping.min()) <= int(mapping.max()) < len(rows)):
            raise ConfigError(f"{key}: {files.tensors} has a mapping to vectors that it does not hold")
        rows = rows[mapping.astype(np.int64)]
    if weights is not None:
        if weights.shape != (len(rows),):
            raise ConfigError(f"{key}: {files.tensors} has {len(weights)} weights for {len(rows)} tokens")
        rows = rows * weights.astype(np.float32)[:, None]
    if len(rows) < tokens:
        raise ConfigError(
            f"{key}: {files.tensors} has vectors of {len(rows):,} tokens, and {files.tokenizer} has {tokens:,}; valid: "
            "a tokenizer of these vectors"
        )
    return rows
