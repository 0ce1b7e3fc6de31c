"""Where in the code the calls of a build are made, as far as their paths tell: so that one of each can be tried."""

import random
import re
from collections.abc import Sequence
from functools import partial
from pathlib import PurePath

from resources.stage.declaration import Stage

Place = tuple[str, str, str]
"""What computes a stage, empty if all stages do it alike; a kind of call; a kind of path."""

_DELETED = " (deleted)"
_MACHINERY = re.compile(r"corpus$|corpus/(\.|ledger|owner)|corpus\.yaml")
_OF_A_PLAN = "plan"


def exact_place(path: str) -> str:
    """A path without what is different in each build."""
    return re.sub(r"tmp/[^/]+|[0-9a-f]{16,}|\.[0-9]+\.|[0-9]+$", "*", path)


def code_of(stage: Stage) -> str:
    """What computes a stage: datasets share it."""
    function = stage.compute.func if isinstance(stage.compute, partial) else stage.compute
    return f"{function.__module__}.{function.__qualname__}"


def place_of(code: str, kind: str, path: str) -> Place:
    """The place of a call: the same for all partitions and datasets, and for what every stage does alike.

    code: what computes the stage, empty for a plan. kind: of the call. path: below the folder of the corpus.
    """
    role = _role(path)
    if not code:
        return (_OF_A_PLAN, kind, role)
    return ("" if _MACHINERY.match(role) else code, kind, role)


def _role(path: str) -> str:
    """The top folder, the depth and the ending of a path: what kind of file it is."""
    top, *below = path.split("/")
    if top == "corpus" and below:
        top, *below = f"{top}/{below[0]}", *below[1:]
    deleted = path.endswith(_DELETED) * _DELETED
    suffixes = PurePath(path.removesuffix(_DELETED)).suffixes[-2:] if below else []
    ending = "".join("" if re.search("[0-9]", suffix) else suffix for suffix in suffixes)
    return f"{top}{'/*' * len(below)}{ending}{deleted}"


def one_of_each(places: Sequence[Place], seen: set[Place], chance: random.Random) -> list[int]:
    """Numbers, from 1, of one call of each place that was not seen before; it is seen then. places: of all calls."""
    calls: dict[Place, list[int]] = {}
    for number, place in enumerate(places, 1):
        calls.setdefault(place, []).append(number)
    found = sorted(chance.choice(numbers) for place, numbers in calls.items() if place not in seen)
    seen.update(calls)
    return found
