"""The n-grams of all benchmark items, as sorted arrays in which those of documents are looked up."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.contamination.folding import folding

NO_NGRAM = -1
FEWEST_ITEMS = 5
"""Fewest items of a set that make an n-gram a template by its share: two items with a common passage are not enough."""
BYTES_PER_WORD = 120
"""Bytes that `build_index` needs at most per word of the items."""
MOST_WORDS = (1 << 31) - 1
"""Words of all items that an index can number."""


class Rules(NamedTuple):
    """The rules of the search.

    words: of an n-gram.
    shortest: words that an item must have; one of fewer than an n-gram is looked for as a whole.
    punctuation: `removed` or `separates`.
    item_limit, item_share: n-grams of more items, or of a larger share of the items of a set, are a template, and not
        searched for; the share counts only from `FEWEST_ITEMS` items on.
    """

    words: int
    shortest: int
    punctuation: str
    item_limit: int
    item_share: float = 1.0


class Index(NamedTuple):
    """N-grams by number, in the order of their keys, and their places in the items.

    keys, lengths, firsts: (n-grams,) key, number of words, and a place of these words in `words`.
    words: (words,) hashes of the words of all items, one item after another.
    items: (items + 1,) where each item begins there, and the end.
    ngrams: (words,) int32, the n-gram that begins at a word, or -1.
    places: where each n-gram occurs in `words`, n-gram by n-gram.
    ends: (n-grams,) where the places of each end in `places`.

    N-grams of `Rules.words` words have keys of these words, short items keys of their first `Rules.shortest` words.
    """

    keys: NDArray[np.uint64]
    lengths: NDArray[np.uint8]
    firsts: NDArray[np.uint32]
    words: NDArray[np.uint64]
    items: NDArray[np.uint32]
    ngrams: NDArray[np.int32]
    places: NDArray[np.uint32]
    ends: NDArray[np.uint32]


def word_hashes(text: str, punctuation: str) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Returns hash, beginning and end (in code points) of each word of a text."""
    from corpus_assets.contamination.kernels.words import hash_words

    return hash_words(np.frombuffer(text.encode(), dtype=np.uint8), *folding(punctuation))


def build_index(
    items: Sequence[NDArray[np.uint64]], rules: Rules, sets: Sequence[int] | None = None
) -> tuple[Index, int]:
    """Returns the index of items, and how many n-grams it leaves out as a template.

    items: hashes of their words. sets: the number of the set of each, ascending; by default there is one set. Memory:
    about `BYTES_PER_WORD` bytes per word of the items.
    """
    from corpus_assets.contamination.kernels.search import ngram_keys

    starts = np.zeros(len(items) + 1, dtype=np.uint32)
    np.cumsum([len(words) for words in items], out=starts[1:])
    words = np.concatenate(items) if items else np.empty(0, dtype=np.uint64)
    keys: list[NDArray[np.uint64]] = [np.empty(0, dtype=np.uint64)]
    lengths = np.empty(len(items), dtype=np.uint8)
    for number, hashes in enumerate(items):
        whole = rules.shortest <= len(hashes) < rules.words
        lengths[number] = len(hashes) if whole else rules.words
        keys.append(ngram_keys(hashes[: rules.shortest], rules.shortest) if whole else ngram_keys(hashes, rules.words))
    counts = [len(found) for found in keys[1:]]
    steps = np.arange(sum(counts)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = (np.repeat(starts[:-1], counts) + steps).astype(np.uint32)
    of_items = np.zeros(len(items), dtype=np.int64) if sets is None else np.asarray(sets, dtype=np.int64)
    occurrences = _sorted(np.concatenate(keys), places, np.repeat(lengths, counts))
    return _grouped(occurrences, words, starts, of_items, rules)


class _Occurrences(NamedTuple):
    """Key, place and length of every n-gram of every item, in this order."""

    keys: NDArray[np.uint64]
    places: NDArray[np.uint32]
    lengths: NDArray[np.uint8]


def _sorted(keys: NDArray[np.uint64], places: NDArray[np.uint32], lengths: NDArray[np.uint8]) -> _Occurrences:
    order = np.lexsort((places, lengths, keys))
    return _Occurrences(keys[order], places[order], lengths[order])


def _grouped(
    given: _Occurrences, words: NDArray[np.uint64], starts: NDArray[np.uint32], sets: NDArray[np.int64], rules: Rules
) -> tuple[Index, int]:
    """Returns the index in which equal n-grams have one number. sets: the set of each item."""
    keys, places, lengths = given
    is_new = np.ones(len(keys), dtype=np.bool_)
    is_new[1:] = (keys[1:] != keys[:-1]) | (lengths[1:] != lengths[:-1])
    is_new[1:] |= _differ(words, places[:-1], places[1:], lengths[1:])
    groups = np.cumsum(is_new) - 1
    items = np.searchsorted(starts, places, side="right") - 1
    first_of_item = is_new.copy()
    first_of_item[1:] |= items[1:] != items[:-1]
    is_template = (np.bincount(groups, weights=first_of_item, minlength=0) > rules.item_limit)[groups]
    is_template |= _forms_of_sets(groups, first_of_item, sets[items], np.bincount(sets, minlength=1), rules.item_share)
    counting = np.flatnonzero(~is_template)
    is_first = np.ones(len(counting), dtype=np.bool_)
    is_first[1:] = groups[counting[1:]] != groups[counting[:-1]]
    numbers = (np.cumsum(is_first) - 1).astype(np.int32)
    ngrams = np.full(len(words), NO_NGRAM, dtype=np.int32)
    ngrams[places[counting]] = numbers
    kept = counting[is_first]
    index = Index(
        keys[kept],
        lengths[kept],
        places[kept],
        words,
        starts,
        ngrams,
        places=places[counting],
        ends=np.cumsum(np.bincount(numbers, minlength=0)).astype(np.uint32),
    )
    return index, int(is_new.sum()) - len(kept)


def _forms_of_sets(
    groups: NDArray[np.int64],
    first_of_item: NDArray[np.bool_],
    sets: NDArray[np.int64],
    sizes: NDArray[np.int64],
    share: float,
) -> NDArray[np.bool_]:
    """Returns which occurrences belong to an n-gram that more than a share of the items of their set has.

    groups, first_of_item, sets: (occurrences,) n-gram, whether it is the first one in the item, and set. sizes: items
    of each set.
    """
    is_new = np.ones(len(groups), dtype=np.bool_)
    is_new[1:] = (groups[1:] != groups[:-1]) | (sets[1:] != sets[:-1])
    parts = np.cumsum(is_new) - 1
    counts = np.bincount(parts, weights=first_of_item, minlength=0)
    most = share * sizes[sets[is_new]]
    return np.asarray(((counts > most) & (counts >= FEWEST_ITEMS))[parts], dtype=np.bool_)


def _differ(
    words: NDArray[np.uint64], left: NDArray[np.uint32], right: NDArray[np.uint32], lengths: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """Returns whether n-grams that begin at two places have different words."""
    found = np.zeros(len(left), dtype=np.bool_)
    last = len(words) - 1
    for step in range(int(lengths.max(initial=0))):
        inside = lengths > step
        ours, theirs = np.minimum(left + step, last), np.minimum(right + step, last)
        found |= inside & (words[ours] != words[theirs])
    return found
