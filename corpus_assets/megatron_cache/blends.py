"""What is blended, in which splits, and how many samples each part gives: the rules of megatron-core."""

import math
import re
from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from resources.errors import ConfigError

PARTS: Final = ("train", "valid", "test")
Bounds = tuple[float, float]


class Blend(NamedTuple):
    """Prefixes of `.bin` and `.idx`, as the trainer names them, and a weight of each or None."""

    prefixes: Sequence[str]
    weights: Sequence[float] | None


def blend_of(words: Sequence[str]) -> Blend:
    """Returns the blend that `--data-path` means by these words: prefixes, or weights and prefixes in turns."""
    if len(words) % 2:
        return Blend([word.strip() for word in words], None)
    weights = [_number(word) for word in words[::2]]
    if all(weight is None for weight in weights):
        return Blend([word.strip() for word in words], None)
    known = [weight for weight in weights if weight is not None and math.isfinite(weight) and weight > 0]
    if len(known) < len(weights):
        wrong = next(word for word, weight in zip(words[::2], weights, strict=True) if weight not in known)
        raise ConfigError(
            f"{wrong!r} stands where a weight should; valid: a number above 0 before each prefix, or none"
        )
    return Blend([word.strip() for word in words[1::2]], known)


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def normalized(weights: Sequence[float]) -> list[float]:
    """Returns weights of sum 1, with the rounding of megatron-core, which writes them into its descriptions."""
    numbers = np.array(weights, dtype=np.float64)
    return [float(weight) for weight in numbers / np.sum(numbers)]


def split_bounds(split: str) -> list[Bounds | None]:
    """Returns where each part begins and ends, as shares of the documents, for `--split`; None if it has none."""
    shares = [_number(word) for word in re.findall(r"[.0-9]+", split)]
    known = [share for share in shares if share is not None]
    if len(known) < len(shares) or not 1 <= len(known) <= len(PARTS) or not sum(known):
        raise ConfigError(f"--split {split!r} is not valid; valid: up to three shares of train, valid and test: 99,1,0")
    parts = normalized([*known, *[0.0] * (len(PARTS) - len(known))])
    # The first bound stays an integer: descriptions have it as 0, not 0.0.
    ends = reduce(lambda found, share: [*found, found[-1] + share], parts, list[float]([0]))
    return [(start, end) if end > start else None for start, end in pairwise(ends)]


def samples_of(weight: float, size: int, surplus: float) -> int:
    """Returns how many samples of one prefix a blend of `size` samples asks for."""
    return math.ceil(math.ceil(size * weight) * (1 + surplus))


def sizes_of_run(iterations: int, batch: int, eval_iterations: int, eval_interval: int) -> list[int]:
    """Returns the samples of train, valid and test that a run of Megatron-LM asks for."""
    evaluations = (iterations // eval_interval + 1) * eval_iterations
    return [iterations * batch, evaluations * batch, eval_iterations * batch]
