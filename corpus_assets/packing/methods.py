"""All methods of packing by name, and their results for the same sequences."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from corpus_assets.packing.best_fit import best_fit
from corpus_assets.packing.first_fit import first_fit
from corpus_assets.packing.histogram import Histogram
from corpus_assets.packing.lpfhp import lpfhp
from corpus_assets.packing.nearest_previous import nearest_previous
from corpus_assets.packing.nnlshp import DEPTH, NoSolutionError, nnlshp
from corpus_assets.packing.packs import Packs
from corpus_assets.packing.spfhp import spfhp
from corpus_assets.packing.stream import stream_cut
from resources.errors import ConfigError


@dataclass(frozen=True)
class Method:
    """A method of packing.

    words: its name for people.
    pack: takes a histogram and a depth.
    cheap: True if its cost follows the number of different lengths alone.
    has_depth: whether a depth limits it.
    depth: that it takes where none is given.
    """

    words: str
    pack: Callable[[Histogram, int | None], Packs]
    cheap: bool = False
    has_depth: bool = True
    depth: int | None = None


METHODS: Mapping[str, Method] = {
    "stream_cut": Method("stream cut", stream_cut, cheap=True, has_depth=False),
    "best_fit": Method("best fit", best_fit, cheap=True),
    "first_fit_8": Method("first fit, 8 open", partial(first_fit, open_packs=8)),
    "first_fit_64": Method("first fit, 64 open", partial(first_fit, open_packs=64)),
    "spfhp": Method("SPFHP", spfhp, cheap=True),
    "lpfhp": Method("LPFHP", lpfhp, cheap=True),
    "nnlshp": Method("NNLSHP", nnlshp, depth=DEPTH),
    "nearest_previous": Method("nearest previous", nearest_previous, has_depth=False),
}
"""The methods by the names that `corpus packing --methods` takes."""

CHEAP = tuple(name for name, method in METHODS.items() if method.cheap)


@dataclass(frozen=True)
class Tried:
    """The result of a method. depth: the one used. packs: None if it was left out; why: the reason."""

    name: str
    depth: int | None
    packs: Packs | None
    why: str = ""


def chosen(names: Sequence[str]) -> list[str]:
    """Returns methods in their own order; none means all. ConfigError for an unknown name."""
    unknown = [name for name in names if name not in METHODS]
    if unknown:
        raise ConfigError(f"--methods {unknown[0]!r}; valid: {', '.join(METHODS)}")
    return [name for name in METHODS if name in names or not names]


def tried(histogram: Histogram, names: Iterable[str], depth: int | None = None) -> list[Tried]:
    """Returns the results of methods for the sequences of a histogram. depth: most sequences in a pack."""
    return [_tried(histogram, name, depth) for name in names]


def _tried(histogram: Histogram, name: str, depth: int | None) -> Tried:
    method = METHODS[name]
    used = (method.depth if depth is None else depth) if method.has_depth else None
    try:
        return Tried(name, used, method.pack(histogram, used))
    except NoSolutionError as error:
        return Tried(name, used, None, str(error))


def row_of(tried_: Tried, truncated: int = 0) -> dict[str, Any]:
    """Returns a row of the table of methods. truncated: ids that documents lost before the sequences were made."""
    head = {"method": tried_.name, "depth": tried_.depth}
    if tried_.packs is None:
        return {**head, "left_out": tried_.why}
    packs = tried_.packs
    return {
        **head,
        "rows": packs.count,
        "fill": round(packs.efficiency, 6),
        "sequences_per_row": round(packs.sequences_per_pack, 2),
        "cut": round(packs.cut),
        "truncated_tokens": packs.truncated + truncated,
        "padded_tokens": packs.padded,
        "empty_slots": packs.empty_slots,
    }
