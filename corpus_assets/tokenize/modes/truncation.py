"""How an example that is too long is shortened."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.options import PairTruncation

Sizes = NDArray[np.int64]


@dataclass(frozen=True)
class Cut:
    """The kept part of a conversation: pairs `first` to `first + k - 1`, int64 spans (k, 2) of the ids of
    their prompts and completions, and bool `ends` (k,): whether the end-of-text id follows.
    """

    first: int
    prompts: Sizes
    completions: Sizes
    ends: NDArray[np.bool_]


@dataclass(frozen=True)
class Frame:
    """Ids that stand around the texts of pairs: `every` in each pair, the `end` (0 or 1) after its completion not
    counted, and `opening` more in the first.
    """

    opening: int
    every: int
    end: int


def cut_pairs(prompts: Sizes, completions: Sizes, frame: Frame, capacity: int, rule: PairTruncation) -> Cut | None:
    """Returns a cut with which a conversation that is too long has at most `capacity` ids; None if the rule finds none.

    `prompts`, `completions`: ids (pairs,) of each pair's texts.
    prompt_start, prompt_end: prompts lose ids at that side, the earliest first, and one id of each stays.
    completion_end: pairs beyond the capacity are left out, and the completion that crosses it loses its end. The
    end-of-text id is not put there: it would teach to stop in the middle.
    oldest_turns: the earliest pairs are left out, as few as possible.
    """
    if rule == "completion_end":
        return _without_end(prompts, completions, frame, capacity)
    if rule == "oldest_turns":
        return _without_oldest(prompts, completions, frame, capacity)
    if rule == "discard":
        return None
    excess = frame.opening + int(_sizes(prompts, completions, frame).sum()) - capacity
    spare = np.maximum(prompts - 1, 0)
    if spare.sum() < excess:
        return None
    lost = np.clip(excess - (np.cumsum(spare) - spare), 0, spare)
    start, stop = (lost, prompts) if rule == "prompt_start" else (np.zeros_like(lost), prompts - lost)
    return Cut(0, np.stack([start, stop], 1), _whole(completions), np.ones(len(prompts), np.bool_))


def _without_oldest(prompts: Sizes, completions: Sizes, frame: Frame, capacity: int) -> Cut | None:
    from_here = frame.opening + np.cumsum(_sizes(prompts, completions, frame)[::-1])[::-1]
    fitting = np.flatnonzero(from_here <= capacity)
    if not fitting.size:
        return None
    first = int(fitting[0])
    ends = np.ones(len(prompts) - first, np.bool_)
    return Cut(first, _whole(prompts[first:]), _whole(completions[first:]), ends)


def _without_end(prompts: Sizes, completions: Sizes, frame: Frame, capacity: int) -> Cut | None:
    until_here = frame.opening + np.cumsum(_sizes(prompts, completions, frame))
    whole = int(np.count_nonzero(until_here <= capacity))
    used = int(until_here[whole - 1]) if whole else frame.opening
    kept = min(capacity - used - int(prompts[whole]) - frame.every, int(completions[whole]))
    count = whole + (kept > 0)
    if not count:
        return None
    spans = _whole(completions[:count])
    ends = np.ones(count, np.bool_)
    if kept > 0:
        spans[-1, 1] = kept
        ends[-1] = False
    return Cut(0, _whole(prompts[:count]), spans, ends)


def _whole(sizes: Sizes) -> Sizes:
    return np.stack([np.zeros_like(sizes), sizes], 1)


def _sizes(prompts: Sizes, completions: Sizes, frame: Frame) -> Sizes:
    return prompts + completions + frame.every + frame.end
