"""Changed copies of benchmark items, for `benchmarks.contamination_quality`."""

import ast
import io
import random
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

NAMES = ("Ottoline", "Bartholomew", "Zephyrine", "Thaddeus", "Marisol", "Ignatius", "Philippa", "Leopold", "Xanthe")
_NO_NAMES = re.compile(
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|May|June|July|August|September|October|"
    r"November|December|Mr|Mrs|Ms|Dr|If|The|A|An|I|In|On|At|It|He|She|They|How|What|There|Then|So|Each|After|Every"
)
_SPACES = (" ", "  ", "\n", "\t", "\u00a0", "\n\n", " \n ")
_SIGNS = re.compile(r"([-+*/=<>(),:;.\[\]{}%$])")
KEPT = 0.6


class Item(NamedTuple):
    """An item: question and answer, and the name of the function if it is code."""

    number: int
    question: str
    answer: str
    function: str = ""

    @property
    def text(self) -> str:
        """Both, as a benchmark with two text keys joins them."""
        return f"{self.question}\n\n{self.answer}" if self.answer else self.question


Change = Callable[[Item, random.Random], str | None]
"""Returns a changed copy of an item; None for one that has nothing to change."""


def recased(item: Item, chance: random.Random) -> str:
    return chance.choice((str.upper, str.lower, str.swapcase))(item.text)


def respaced(item: Item, chance: random.Random) -> str:
    return re.sub(r"\s+", lambda _: chance.choice(_SPACES), item.text)


def cut(item: Item, chance: random.Random) -> str:
    """So many words in a row, from anywhere."""
    words = list(re.finditer(r"\S+", item.text))
    count = int(len(words) * KEPT)
    first = chance.randint(0, len(words) - count)
    return item.text[words[first].start() : words[first + count - 1].end()]


def other_numbers(item: Item, chance: random.Random) -> str | None:
    changed = re.sub(r"\d+", lambda found: str(int(found.group()) + chance.randint(1, 99)), item.text)
    return changed if changed != item.text else None


def other_names(item: Item, chance: random.Random) -> str | None:
    """Words with a capital within a sentence are names, wherever they stand; of code the name of the function."""
    if item.function:
        return re.sub(rf"\b{item.function}\b", f"solve_{chance.randint(100, 999)}", item.text)
    names = {name for name in re.findall(r"(?<=[a-z,] )[A-Z][a-z]+", item.text) if not _NO_NAMES.fullmatch(name)}
    if not names:
        return None
    others = dict(zip(sorted(names), chance.sample(NAMES, len(NAMES)), strict=False))
    return re.sub(r"[A-Z][a-z]+", lambda found: others.get(found.group(), found.group()), item.text)


def signs_apart(item: Item, _: random.Random) -> str:
    """Spaces on both sides of each sign, as another notation has them."""
    return re.sub(r" +", " ", _SIGNS.sub(r" \1 ", item.text))


def other_variables(item: Item, _chance: random.Random) -> str | None:
    """Code whose parameters and variables have other names."""
    if not item.function:
        return None
    source = item.question + item.answer
    names = {node.arg for node in ast.walk(ast.parse(source)) if isinstance(node, ast.arg)}
    stored = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name))
    names |= {node.id for node in stored if isinstance(node.ctx, ast.Store)}
    others = {name: f"v{number}" for number, name in enumerate(sorted(names))}
    lines = source.splitlines(keepends=True)
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    for token in reversed(tokens):
        if token.type == tokenize.NAME and token.string in others:
            (row, start), (_, end) = token.start, token.end
            lines[row - 1] = lines[row - 1][:start] + others[token.string] + lines[row - 1][end:]
    return "".join(lines)


CHANGES: Mapping[str, Change] = {
    "exact": lambda item, _: item.text,
    "re-cased": recased,
    "re-spaced": respaced,
    "cut to 60 %": cut,
    "other numbers": other_numbers,
    "other names": other_names,
    "signs apart": signs_apart,
    "question alone": lambda item, _: item.question if item.answer else None,
    "answer alone": lambda item, _: item.answer or None,
    "other variables": other_variables,
}
CERTAIN = tuple(CHANGES)[:4]
"""The kinds that have a goal."""


def planted(text: str, plant: str) -> str:
    """The text with the plant in its middle, between two words."""
    middle = text.find(" ", len(text) // 2)
    middle = len(text) if middle < 0 else middle
    return f"{text[:middle]}\n{plant}\n{text[middle:]}"


def plants(items: list[Item], kind: str) -> Iterator[tuple[Item, str]]:
    """Every item that the kind can change, and its copy; the same at every call."""
    for item in items:
        copy = CHANGES[kind](item, random.Random(f"{kind} {item.number}"))
        if copy is not None and copy.strip():
            yield item, copy
