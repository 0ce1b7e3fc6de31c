"""Documents and examples without a row, in words for a person: their name, and the beginning of their text."""

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.ragged import Ids
from resources.formats.examples import Example, example_texts
from resources.stage.counts import beginning

Decode = Callable[[Ids], str]


_FIRST_IDS = 100


class Lists(Protocol):
    """Lists of ids, by number."""

    def __getitem__(self, number: int) -> Ids: ...


def of_text(name: str, text: str) -> str:
    """Returns a document in words. name: what it is called; may be empty."""
    return f"{name}: {beginning(text)}" if name else beginning(text)


def of_example(example: Example, why: str = "") -> str:
    """Returns an example in words, with its first text. why: what is wrong with it."""
    name = f"{example.source}/{example.id}"
    return of_text(f"{name}: {why}" if why else name, next(filter(None, example_texts(example)), ""))


def of_ids(decode: Decode | None, lists: Lists, chosen: NDArray[np.bool_]) -> Iterator[str]:
    """Yields in words the chosen ones (a mask) of documents of which only the ids are left; none without `decode`."""
    if decode is not None:
        yield from (beginning(decode(lists[number][:_FIRST_IDS])) for number in np.flatnonzero(chosen).tolist())
