"""An automaton that finds many terms in one pass over a text (Aho and Corasick 1975), ignoring case."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.characters import CODE_POINTS

_CASED = 0x10000
"""No letter beyond this has an ASCII letter as its lower case."""


class Automaton(NamedTuple):
    """The arrays that `kernels/c4.py` reads.

    classes: class of each code point, by its lower case; 0 for those of no term.
    moves: next state (states, classes).
    anywhere: marks of the terms that end in a state, found inside words too.
    whole, lengths: mark and length of the term of whole words that ends in a state; 0 for none.
    shorter: the next state with a shorter such term.
    """

    classes: NDArray[np.uint8]
    moves: NDArray[np.uint16]
    anywhere: NDArray[np.uint8]
    whole: NDArray[np.uint8]
    lengths: NDArray[np.uint16]
    shorter: NDArray[np.uint16]


@dataclass(frozen=True)
class Terms:
    """Lower-case terms and the mark (a bit) of each: those found anywhere, and those that must be whole words."""

    anywhere: Mapping[str, int]
    whole: Mapping[str, int]


def automaton(terms: Terms) -> Automaton:
    """Returns the automaton of some terms."""
    symbols = {symbol: number for number, symbol in enumerate(_symbols([*terms.anywhere, *terms.whole]), start=1)}
    children, fails = _trie([*terms.anywhere, *terms.whole], symbols)
    states = len(children)
    moves = np.zeros((states, len(symbols) + 1), dtype=np.uint16)
    anywhere, whole = np.zeros(states, dtype=np.uint8), np.zeros(states, dtype=np.uint8)
    lengths, shorter = np.zeros(states, dtype=np.uint16), np.zeros(states, dtype=np.uint16)
    for term, mark in terms.anywhere.items():
        anywhere[_state(term, children, symbols)] |= mark
    for term, mark in terms.whole.items():
        state = _state(term, children, symbols)
        whole[state], lengths[state] = mark, len(term)
    for state in _by_depth(children):
        fail = fails[state]
        anywhere[state] |= anywhere[fail]
        shorter[state] = fail if whole[fail] else shorter[fail]
        moves[state] = moves[fail] if state else 0
        for symbol, child in children[state].items():
            moves[state, symbol] = child
    return Automaton(_classes(symbols), moves, anywhere, whole, lengths, shorter)


def _symbols(terms: Iterable[str]) -> list[str]:
    return sorted({symbol for term in terms for symbol in term})


def _trie(terms: Iterable[str], symbols: Mapping[str, int]) -> tuple[list[dict[int, int]], list[int]]:
    """Returns the children of each state, and the state of its longest proper suffix."""
    children: list[dict[int, int]] = [{}]
    for term in terms:
        state = 0
        for symbol in term:
            if symbols[symbol] not in children[state]:
                children[state][symbols[symbol]] = len(children)
                children.append({})
            state = children[state][symbols[symbol]]
    fails = [0] * len(children)
    for state in _by_depth(children):
        for number, child in children[state].items():
            fail = fails[state]
            while fail and number not in children[fail]:
                fail = fails[fail]
            fails[child] = children[fail].get(number, 0) if state else 0
    return children, fails


def _by_depth(children: list[dict[int, int]]) -> Iterable[int]:
    waiting = deque([0])
    while waiting:
        state = waiting.popleft()
        yield state
        waiting.extend(children[state].values())


def _state(term: str, children: list[dict[int, int]], symbols: Mapping[str, int]) -> int:
    state = 0
    for symbol in term:
        state = children[state][symbols[symbol]]
    return state


def _classes(symbols: Mapping[str, int]) -> NDArray[np.uint8]:
    classes = np.zeros(CODE_POINTS, dtype=np.uint8)
    for code in range(_CASED):
        classes[code] = symbols.get(chr(code).lower(), 0)
    for symbol, number in symbols.items():
        classes[ord(symbol)] = number
    return classes
