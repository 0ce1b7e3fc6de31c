"""Changed inputs by a seed: for machines without a fuzzer that is led by coverage."""

import random
from collections.abc import Callable, Iterator, Sequence

_NUMBERS = (
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    (1 << 63) - 1,
    (1 << 64) - 1,
)
_LONGEST = 1 << 16


def changed(seeds: Sequence[bytes], words: Sequence[bytes], seed: int | str) -> Iterator[bytes]:
    """Yields changed inputs without end; the same for the same seed."""
    chance = random.Random(seed)
    while True:
        content = bytearray(chance.choice(seeds))
        for _ in range(chance.choice((1, 1, 1, 2, 3, 5, 8))):
            chance.choice(_CHANGES)(content, chance, seeds, words)
        yield bytes(content[:_LONGEST])


Change = Callable[[bytearray, random.Random, Sequence[bytes], Sequence[bytes]], None]


def _place(content: bytearray, chance: random.Random) -> int:
    return chance.randrange(len(content) + 1)


def _flip(content: bytearray, chance: random.Random, *_: object) -> None:
    if content:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def _set(content: bytearray, chance: random.Random, *_: object) -> None:
    if content:
        content[chance.randrange(len(content))] = chance.randrange(256)


def _cut(content: bytearray, chance: random.Random, *_: object) -> None:
    start = _place(content, chance)
    del content[start : start + chance.choice((1, 4, 16, len(content)))]


def _repeat(content: bytearray, chance: random.Random, *_: object) -> None:
    start = _place(content, chance)
    content[start:start] = content[start : start + chance.choice((1, 4, 64))] * chance.choice((1, 2, 300))


def _number(content: bytearray, chance: random.Random, *_: object) -> None:
    start, width = _place(content, chance), chance.choice((1, 2, 4, 8))
    number = chance.choice(_NUMBERS) & ((1 << 8 * width) - 1)
    content[start : start + width] = number.to_bytes(width, chance.choice(("little", "big")))


def _word(content: bytearray, chance: random.Random, _: Sequence[bytes], words: Sequence[bytes]) -> None:
    start = _place(content, chance)
    if words:
        content[start : start + chance.choice((0, 0, 4))] = chance.choice(words)


def _splice(content: bytearray, chance: random.Random, seeds: Sequence[bytes], _: Sequence[bytes]) -> None:
    other = chance.choice(seeds)
    content[_place(content, chance) :] = other[chance.randrange(len(other) + 1) :]


_CHANGES: Sequence[Change] = (_flip, _flip, _set, _cut, _repeat, _number, _number, _word, _word, _splice)
