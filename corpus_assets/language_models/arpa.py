"""Language models in ARPA, the text form that KenLM and others read."""

import math
from collections.abc import Callable, Iterator

from corpus_assets.language_models.estimate import Block, Estimate
from corpus_assets.language_models.tokens import UNKNOWN
from corpus_assets.language_models.vocabulary import Vocabulary

_DIGITS, _NEVER = 7, -99.0


def arpa(estimate: Estimate, words: Vocabulary) -> Iterator[bytes]:
    """Yields the pieces of a file."""
    sizes = {**estimate.sizes, 1: estimate.sizes[1] + 2}
    yield b"\\data\\\n" + b"".join(b"ngram %d=%d\n" % pair for pair in sorted(sizes.items()))
    before = 0
    for length, block in estimate.blocks():
        if length != before:
            yield b"\n\\%d-grams:\n" % length
            if length == 1:
                yield b"%s\t%s\t0\n" % (_log(estimate.unknown), UNKNOWN.encode())
            before = length
        yield _lines(block, words.named(block.words).__getitem__, is_last=length == estimate.order)
    yield b"\n\\end\\\n"


def _lines(block: Block, name: Callable[[int], bytes], *, is_last: bool) -> bytes:
    probabilities, backoffs = block.probability.tolist(), block.backoff.tolist()
    rows = zip(block.words.tolist(), probabilities, backoffs, strict=True)
    if is_last:
        return b"".join(b"%s\t%s\n" % (_log(p), b" ".join(map(name, words))) for words, p, _ in rows)
    return b"".join(b"%s\t%s\t%s\n" % (_log(p), b" ".join(map(name, words)), _log(b)) for words, p, b in rows)


def _log(share: float) -> bytes:
    """Returns the logarithm; of nothing -99, as SRILM writes it, since KenLM reads no infinite one."""
    return b"%.*g" % (_DIGITS, min(0.0, math.log10(share) if share else _NEVER)) if share != 1 else b"0"
