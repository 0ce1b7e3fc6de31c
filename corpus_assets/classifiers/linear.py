"""Logistic regression over hashed n-grams of words."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

RATE: Final = 0.5
Labelled = Iterator[tuple[str, bool]]


def grams_of(text: str, longest: int, buckets: int) -> NDArray[np.uint32]:
    """Returns the bucket of each n-gram of a text in lower case."""
    from corpus_assets.classifiers.kernels.linear import bucketed_ngrams

    return bucketed_ngrams(np.frombuffer(text.lower().encode("utf-32-le"), np.uint32), longest, buckets)


class Shape(NamedTuple):
    """How a model is trained. longest: n-grams, in words. rate: size of the steps."""

    longest: int
    buckets: int
    epochs: int
    rate: float


def trained(examples: Callable[[], Labelled], counts: tuple[int, int], shape: Shape) -> bytes:
    """Returns the weights: float32 (buckets + 1,), the bias last.

    examples: yields texts and labels, always in the same order. counts: of negative and positive ones; both classes
    weigh the same together.
    """
    from corpus_assets.classifiers.kernels.linear import learn

    state = np.stack([np.zeros(shape.buckets + 1), np.ones(shape.buckets + 1)])
    of_class = [sum(counts) / (2 * count) for count in counts]
    for _ in range(shape.epochs):
        for text, label in examples():
            grams = grams_of(text, shape.longest, shape.buckets)
            learn(grams, float(label), of_class[label], shape.rate, state)
    weights: bytes = state[0].astype("<f4").tobytes()
    return weights


def weights_of(body: bytes, buckets: int) -> NDArray[np.float32]:
    """Returns the weights in a model; `ValueError` if they are not one finite number for each bucket."""
    if len(body) != 4 * (buckets + 1):
        raise ValueError(f"it has {len(body)} bytes of weights; valid for {buckets} buckets: {4 * (buckets + 1)}")
    found = np.frombuffer(body, "<f4")
    if not np.isfinite(found).all():
        raise ValueError("its weights are not all finite numbers")
    return found


def scores(weights: NDArray[np.float32], texts: Iterable[str], longest: int) -> NDArray[np.float64]:
    """Returns the log-odds of each text."""
    from corpus_assets.classifiers.kernels.linear import log_odds

    return np.array([log_odds(grams_of(text, longest, len(weights) - 1), weights) for text in texts], np.float64)
