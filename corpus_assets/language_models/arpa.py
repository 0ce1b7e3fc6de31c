"""Language models in ARPA, the text form that KenLM and others read."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from corpus_assets.language_models.estimate import Block, Estimate, Numbers
from corpus_assets.language_models.tokens import UNKNOWN
from corpus_assets.language_models.vocabulary import Vocabulary

_NEVER = -99.0


def arpa(estimate: Estimate, words: Vocabulary) -> Iterator[bytes]:
    """Yields the pieces of a file."""
    sizes = {**estimate.sizes, 1: estimate.sizes[1] + 2}
    yield b"\\data\\\n" + b"".join(b"ngram %d=%d\n" % pair for pair in sorted(sizes.items()))
    before = 0
    for length, block in estimate.blocks():
        if length != before:
            yield b"\n\\%d-grams:\n" % length
            if length == 1:
                yield b"%s\t%s\t0\n" % (_logs(np.array([estimate.unknown]))[0].as_py(), UNKNOWN.encode())
            before = length
        yield _lines(block, words, is_last=length == estimate.order)
    yield b"\n\\end\\\n"


def _lines(block: Block, words: Vocabulary, *, is_last: bool) -> bytes:
    names, rows = words.named(block.words)
    ngrams = _joined([names.take(pa.array(column)) for column in rows.T], b" ")
    backoffs = [] if is_last else [_logs(block.backoff)]
    lines = _joined([_logs(block.probability), ngrams, *backoffs], b"\t")
    whole = _joined([lines, pa.repeat(pa.scalar(b"", pa.large_binary()), len(lines))], b"\n")
    return whole.buffers()[2].to_pybytes() if len(whole) else b""


def _joined(columns: list[pa.Array], between: bytes) -> pa.Array:
    from pyarrow.compute import binary_join_element_wise  # Takes a while to load.

    return binary_join_element_wise(*columns, pa.scalar(between, pa.large_binary()))


def _logs(shares: Numbers) -> pa.Array:
    """Returns the logarithms, with the digits that tell floats of 32 bits apart: KenLM keeps no more.

    That of nothing is -99, as SRILM writes it, since KenLM reads no infinite one.
    """
    with np.errstate(divide="ignore"):
        logs = np.where(shares > 0, np.minimum(np.log10(shares), 0.0), _NEVER) + 0.0
    return pa.array(logs.astype(np.float32)).cast(pa.string()).cast(pa.large_binary())
