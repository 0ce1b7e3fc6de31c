"""Operations of a soak: those of the seed, each does what it says, and what they leave is judged."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from resources.planning.planner import Status
from tests.soak import services, soaking
from tests.soak.operations import ALL, AT_REST, LEAST_FILES, RAW_FILES, SERVICES, Harm, Operations


class NoServer:
    """Stands where no services run."""

    def ask(self, query: str) -> None:
        raise ConnectionError(query)

    def processes(self, part: str) -> list[Any]:
        return []


def operations(folder: Path, seed: int = 1) -> Operations:
    (folder / "raw/books").mkdir(parents=True)
    (folder / "corpus/minhashes").mkdir(parents=True)
    (folder / "corpus/ledger").mkdir()
    (folder / "corpus/minhashes/a.npy").write_bytes(bytes(8))
    made = Operations(folder, cast(Any, NoServer()), random.Random(seed), {})
    made.first()
    return made


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (folder / "raw/books").iterdir()}


def test_operations_are_those_of_the_seed(tmp_path: Path) -> None:
    said = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / name).mkdir()
        made = operations(tmp_path / name, seed)
        said.append([made.one() for _ in range(40)])
    assert said[0] == said[1] != said[2]
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_each_does_what_it_says(tmp_path: Path) -> None:
    made = operations(tmp_path)
    before = files(tmp_path)
    assert len(before) == LEAST_FILES
    assert made.delete() == ""  # Else the source would have lost most of its files.
    assert made.add() in files(tmp_path).keys() - before.keys()
    edited = made.edit()
    assert files(tmp_path)[edited] != before.get(edited)
    now = files(tmp_path)
    assert made.touch() in now and files(tmp_path) == now
    gone = made.delete()
    assert gone not in files(tmp_path)
    while not (said := made.rename()):
        pass
    old, new = said.split()
    assert old not in files(tmp_path) and new in files(tmp_path)
    assert made.damage_output() == "corpus/minhashes/a.npy"
    assert (tmp_path / "corpus/minhashes/a.npy").read_bytes() != bytes(8)
    assert made.kill() == ""
    assert set(SERVICES) == {"daemon", "code_server", "web_server", "run", "worker"}


def test_what_is_not_as_it_must_be_is_named() -> None:
    names = (
        *("computed_in_vain", "not_as_planned", "bad_file_unexplained", "processes_left", "left_after_end"),
        *("secrets_said", "failed_ticks", "not_fresh", "differing", "tries_of_a_bad_file", "memory_mb", "ticks_behind"),
    )
    good = dict.fromkeys(names, 0)
    assert soaking.faults(good) == []
    assert soaking.faults({**good, "tries_of_a_bad_file": soaking.MOST_TRIES, "ticks_behind": 1}) == []
    assert soaking.faults({**good, "differing": 2, "tries_of_a_bad_file": 3, "ticks_behind": 2}) == [
        "differing is 2",
        "tries_of_a_bad_file is 3",
        "ticks_behind is 2",
    ]


def test_what_is_computed_otherwise_than_planned_is_named() -> None:
    def records(**made: str) -> Any:
        return {name: SimpleNamespace(created=when[0], recipe=when[1:]) for name, when in made.items()}

    due = {
        **{"fresh": Status.FRESH, "stale": Status.STALE, "new": Status.MISSING},
        **{"waits": Status.WAITING, "equal": Status.WAITING},
    }
    before = records(fresh="1a", stale="1a", waits="1a", equal="1a")
    right = records(fresh="1a", stale="2b", waits="2b", equal="1a", new="2a")
    assert soaking.unplanned(due, before, right) == []
    wrong = records(fresh="2a", stale="1a", waits="2b", equal="2a", new="2a", other="2a")
    assert soaking.unplanned(due, before, wrong) == [
        "fresh was fresh, and was computed",
        "stale was to be computed, and was not",
        "equal waited for what came out equal, and was computed",
        "other was not in the plan, and was computed",
    ]


def test_each_operation_of_all_is_tried_at_rest_too() -> None:
    assert set(AT_REST) == ALL.keys() > RAW_FILES.keys()


def test_what_is_computed_again_is_explained_by_a_loss_of_its_own_in_between() -> None:
    when = datetime(2026, 1, 1, 12, tzinfo=UTC)
    again = services.Again("minhashes", "books--a", when, when + timedelta(minutes=2), "- minhashes/books/a.npy (1 kB)")
    between = when + timedelta(minutes=1)
    assert again.mends(Harm(between, "minhashes/books/a.npy"))
    assert again.mends(Harm(between, "ledger/minhashes/books--a.json"))
    assert not again.mends(Harm(between, "minhashes/books/b.npy"))
    assert not again.mends(Harm(between, "ledger/band_keys/books--a.json"))
    assert not again.mends(Harm(when - timedelta(minutes=1), "minhashes/books/a.npy"))
    assert not again.mends(Harm(when + timedelta(minutes=3), "minhashes/books/a.npy"))
