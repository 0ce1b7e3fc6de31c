"""Operations of a soak: those of the seed, each does what it says, and what they leave is judged."""

import random
from pathlib import Path
from typing import Any, cast

from tests.soak import soaking
from tests.soak.operations import LEAST_FILES, SERVICES, Operations


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
        *("secrets_said", "not_fresh", "differing", "tries_of_a_bad_file", "memory_mb"),
    )
    good = dict.fromkeys(names, 0)
    assert soaking.faults(good) == []
    assert soaking.faults({**good, "tries_of_a_bad_file": soaking.MOST_TRIES}) == []
    assert soaking.faults({**good, "differing": 2, "tries_of_a_bad_file": 3}) == [
        "differing is 2",
        "tries_of_a_bad_file is 3",
    ]
