"""The n-grams of all benchmark items, as sorted arrays in which those of documents are looked up."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.contamination.folding import folding

NO_NGRAM = -1
FEWEST_ITEMS = 5
"""Fewest items of a set that make an n-gram a template by its share: two items with a common passage are not enough."""
FEWEST_OF_SMALL, SHARE_OF_SMALL = 3, 0.75
"""What makes one a template of a set of fewer items: so many of its items, and more than this share of them."""
BYTES_PER_WORD = 120
"""Bytes that `build_index` needs at most per word of the items."""
MOST_WORDS = (1 << 31) - 1
"""Words of all items that an index can number."""


class Rules(NamedTuple):
    """The rules of the search.

    words: of an n-gram.
    shortest: words of the n-grams of items of less than two n-grams.
    punctuation: `removed` or `separates`.
    item_limit, item_share: n-grams of more items, or of a larger share of the items of a set, are a template, and not
        searched for; the share counts only from `FEWEST_ITEMS` items on, or as `SHARE_OF_SMALL` says.
    fewest: words that an item must have to be searched for; one of fewer than `shortest` is searched for as a whole.
    numbers: `compared` or `equal`.
    """

    words: int
    shortest: int
    punctuation: str
    item_limit: int
    item_share: float = 1.0
    fewest: int = 3
    numbers: str = "compared"

    def ngram_of(self, words: int) -> int:
        """Returns how many words the n-grams of an item of so many words have; 0 for one that is not searched for."""
        if words < self.shortest:
            return words if words >= self.fewest else 0
        return self.shortest if words < 2 * self.words else self.words


class Index(NamedTuple):
    """N-grams by number, in the order of their keys, and their places in the items.

    keys, lengths, firsts: (n-grams,) key, number of words, and a place of these words in `words`.
    words: (words,) hashes of the words of all items, one item after another.
    items: (items + 1,) where each item begins there, and the end.
    ngrams: (words,) int32, the n-gram that begins at a word, or -1.
    places: where each n-gram occurs in `words`, n-gram by n-gram.
    ends: (n-grams,) where the places of each end in `places`.

    An n-gram has `Rules.words` words; `Rules.shortest` in items of less than two of these; all words of shorter items.
    """

    keys: NDArray[np.uint64]
    lengths: NDArray[np.uint8]
    firsts: NDArray[np.uint32]
    words: NDArray[np.uint64]
    items: NDArray[np.uint32]
    ngrams: NDArray[np.int32]
    places: NDArray[np.uint32]
    ends: NDArray[np.uint32]


def word_hashes(
    text: str, punctuation: str, numbers: str = "compared"
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Returns hash, beginning and end (in code points) of each word of a text."""
    from corpus_assets.contamination.kernels.words import hash_words

    return hash_words(np.frombuffer(text.encode(), dtype=np.uint8), *folding(punctuation, numbers))


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
        lengths[number] = length = rules.ngram_of(len(hashes))
        keys.append(ngram_keys(hashes, length) if length else keys[0])
    counts = [len(found) for found in keys[1:]]
    steps = np.arange(sum(counts)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = (np.repeat(starts[:-1], counts) + steps).astype(np.uint32)
    of_items = np.zeros(len(items), dtype=np.int64) if sets is None else np.asarray(sets, dtype=np.int64)
    occurrences = _sorted(np.concatenate(keys), places, np.repeat(lengths, counts))
    are_new = _are_new(items, of_items)
    others = _in_other_items(items, lengths, are_new, occurrences, rules)
    return _grouped(occurrences, words, starts, _Items(of_items, are_new, *others), rules)


class _Items(NamedTuple):
    """What tells templates.

    sets: (items,) the set of each. are_new: (items,) whether no item before it in the set has the same words.
    other_keys, other_items: key and item, once for each item that has an n-gram of `Rules.words` or `Rules.shortest`
        words, and is searched for by n-grams of the other length.
    """

    sets: NDArray[np.int64]
    are_new: NDArray[np.bool_]
    other_keys: NDArray[np.uint64]
    other_items: NDArray[np.int64]

    def counts(self, keys: NDArray[np.uint64], sets: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Returns how many other items have each n-gram; with `sets`, how many of the set beside it."""
        ours = np.zeros(len(keys), dtype=np.int64) if sets is None else sets
        theirs = np.zeros(len(self.other_keys), dtype=np.int64) if sets is None else self.sets[self.other_items]
        order = np.lexsort((theirs, self.other_keys))
        pairs = np.empty(len(order), dtype=[("key", np.uint64), ("set", np.int64)])
        pairs["key"], pairs["set"] = self.other_keys[order], theirs[order]
        wanted = np.empty(len(keys), dtype=pairs.dtype)
        wanted["key"], wanted["set"] = keys, ours
        return np.searchsorted(pairs, wanted, side="right") - np.searchsorted(pairs, wanted, side="left")


def _in_other_items(
    items: Sequence[NDArray[np.uint64]],
    lengths: NDArray[np.uint8],
    are_new: NDArray[np.bool_],
    occurrences: "_Occurrences",
    rules: Rules,
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Returns `other_keys` and `other_items` of items that equal none before."""
    from corpus_assets.contamination.kernels.search import ngram_keys

    other = {rules.words: rules.shortest, rules.shortest: rules.words}
    known = {length: occurrences.keys[occurrences.lengths == length] for length in other}
    keys, numbers = [occurrences.keys[:0]], [np.empty(0, dtype=np.int64)]
    for number in np.flatnonzero(are_new).tolist():
        length = other.get(int(lengths[number]), 0)
        if length == lengths[number] or not length or not len(known[length]):
            continue
        found = np.unique(ngram_keys(items[number], length))
        places = np.minimum(np.searchsorted(known[length], found), len(known[length]) - 1)
        keys.append(found[known[length][places] == found])
        numbers.append(np.full(len(keys[-1]), number))
    return np.concatenate(keys), np.concatenate(numbers)


def _are_new(items: Sequence[NDArray[np.uint64]], sets: NDArray[np.int64]) -> NDArray[np.bool_]:
    from corpus_assets.contamination.kernels.search import ngram_keys

    wholes = np.array([ngram_keys(words, len(words))[0] if len(words) else 0 for words in items], dtype=np.uint64)
    order = np.lexsort((wholes, sets))
    are_new = np.ones(len(items), dtype=np.bool_)
    are_new[order[1:]] = (wholes[order[1:]] != wholes[order[:-1]]) | (sets[order[1:]] != sets[order[:-1]])
    return are_new


class _Occurrences(NamedTuple):
    """Key, place and length of every n-gram of every item, in this order."""

    keys: NDArray[np.uint64]
    places: NDArray[np.uint32]
    lengths: NDArray[np.uint8]


def _sorted(keys: NDArray[np.uint64], places: NDArray[np.uint32], lengths: NDArray[np.uint8]) -> _Occurrences:
    order = np.lexsort((places, lengths, keys))
    return _Occurrences(keys[order], places[order], lengths[order])


def _grouped(
    given: _Occurrences, words: NDArray[np.uint64], starts: NDArray[np.uint32], of_items: _Items, rules: Rules
) -> tuple[Index, int]:
    """Returns the index in which equal n-grams have one number."""
    keys, places, lengths = given
    is_new = np.ones(len(keys), dtype=np.bool_)
    is_new[1:] = (keys[1:] != keys[:-1]) | (lengths[1:] != lengths[:-1])
    is_new[1:] |= _differ(words, places[:-1], places[1:], lengths[1:])
    groups = np.cumsum(is_new) - 1
    items = np.searchsorted(starts, places, side="right") - 1
    first_of_item = is_new.copy()
    first_of_item[1:] |= items[1:] != items[:-1]
    first_of_item &= of_items.are_new[items]
    counts = np.bincount(groups, weights=first_of_item, minlength=0) + of_items.counts(keys[is_new])
    is_template = (counts > rules.item_limit)[groups]
    is_template |= _forms_of_sets(groups, first_of_item, keys, items, of_items, share=rules.item_share)
    if rules.numbers == "equal":
        is_template |= _mostly_numbers(words, places, lengths, rules)
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
    keys: NDArray[np.uint64],
    items: NDArray[np.int64],
    of_items: _Items,
    *,
    share: float,
) -> NDArray[np.bool_]:
    """Returns which occurrences belong to an n-gram that more than a share of the items of their set has.

    groups, first_of_item, keys, items: (occurrences,) n-gram, whether it is the first one in an item that equals none
    before, key, and item.
    """
    sets = of_items.sets[items]
    sizes = np.bincount(of_items.sets[of_items.are_new], minlength=1)
    is_new = np.ones(len(groups), dtype=np.bool_)
    is_new[1:] = (groups[1:] != groups[:-1]) | (sets[1:] != sets[:-1])
    parts = np.cumsum(is_new) - 1
    counts = np.bincount(parts, weights=first_of_item, minlength=0) + of_items.counts(keys[is_new], sets[is_new])
    of_set = sizes[sets[is_new]]
    of_small = (counts >= FEWEST_OF_SMALL) & (counts > SHARE_OF_SMALL * of_set)
    is_form = (counts > share * of_set) & ((counts >= FEWEST_ITEMS) | of_small)
    return np.asarray(is_form[parts], dtype=np.bool_)


def _mostly_numbers(
    words: NDArray[np.uint64], places: NDArray[np.uint32], lengths: NDArray[np.uint8], rules: Rules
) -> NDArray[np.bool_]:
    """Returns which n-grams have more numbers than other words: where numbers are equal, any table holds these."""
    (number,) = word_hashes("0", rules.punctuation, rules.numbers)[0]
    sums = np.concatenate([[0], np.cumsum(words == number)])
    return np.asarray(sums[places + lengths] - sums[places] > lengths / 2, dtype=np.bool_)


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
