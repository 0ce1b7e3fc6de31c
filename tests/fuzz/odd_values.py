"""Configurations of the pages in which any value is another one: of another type, of another size, or none."""

import copy
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import yaml

from corpus_assets.config.reading.loading import parse_config
from tests.fuzz.harness import Harness
from tests.house import TOP

ODD: tuple[Any, ...] = (
    *(3, -1, 0.5, True, None, "x", "", [], [3], ["a", "b"], [None], [[]], {}, {"a": 1}, {"name": 3}, [{}]),
    *([{"name": "a"}], 10**30, "1" * 50, float("nan")),
)
Place = tuple[str | int, ...]


@cache
def places() -> list[tuple[dict[str, Any], Place]]:
    """Returns every value of every block of configuration in the pages, by its place."""
    found: list[tuple[dict[str, Any], Place]] = []
    for page in sorted(TOP.glob("docs/**/*.md")):
        for block in re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            try:
                values = yaml.safe_load(block)
            except yaml.YAMLError:
                continue
            if isinstance(values, dict):
                whole = {"sources": [{"name": "a", "location": "raw"}], **values}
                found += [(whole, place) for place in _below(whole)]
    return found


def _below(value: Any, place: Place = ()) -> Iterator[Place]:
    yield place
    entries = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from _below(inner, (*place, key))


def changed(values: dict[str, Any], place: Place, odd: Any) -> Any:
    """Returns a configuration with another value at a place."""
    if not place:
        return odd
    whole: Any = copy.deepcopy(values)
    held = whole
    for key in place[:-1]:
        held = held[key]
    held[place[-1]] = odd
    return whole


def _read(content: bytes) -> None:
    number = int.from_bytes(content[:8], "little")
    number, kind = divmod(number, len(ODD))
    values, place = places()[number % len(places())]
    parse_config(changed(values, place, ODD[kind]))


HARNESSES = [
    Harness("configuration", _read, lambda: [(7 * n * len(ODD) * 1009).to_bytes(8, "little") for n in range(64)])
]
