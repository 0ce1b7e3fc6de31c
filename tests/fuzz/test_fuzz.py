"""Everything that reads what comes from outside raises its typed errors alone, whatever it is given."""

import gc
from pathlib import Path

import pytest

from tests.fuzz.harness import REGRESSIONS, Harness, harnesses
from tests.fuzz.mutations import changed
from tests.fuzz.running import INPUT_SECONDS, run

INPUTS = 40
"""Changed inputs of each harness here; `make fuzz` gives as many as fit into the time."""
NO_SOUND_SEED = {"classifier", "configuration"}
"""What follows the head of the one is that of libraries; the other is nothing but odd values."""


@pytest.mark.parametrize("name", harnesses())
def test_sound_inputs_are_sound(name: str) -> None:
    harness = harnesses()[name]
    assert harness.seeds()
    assert name in NO_SOUND_SEED or all(harness(content) for content in harness.seeds())


@pytest.mark.parametrize("name", harnesses())
def test_changed_inputs_raise_typed_errors_alone(name: str) -> None:
    harness = harnesses()[name]
    inputs = changed([*harness.seeds(), *harness.regressions], harness.words, name)
    assert len([harness(content) for content, _ in zip(inputs, range(INPUTS), strict=False)]) == INPUTS


def broken_off(harness: Harness, content: bytes) -> None:
    """Reads an input; an error stays in a cycle with its traceback until it is collected."""
    kept = None
    try:
        harness.read(content)
    except harness.typed as error:
        kept = error
    assert kept is None or kept.__traceback__


@pytest.mark.parametrize("file", sorted(REGRESSIONS.glob("*/*")), ids=lambda file: f"{file.parent.name}-{file.name}")
def test_what_once_broke_a_reader_is_refused_or_read(file: Path) -> None:
    broken_off(harnesses()[file.parent.name], file.read_bytes())
    gc.collect()  # Some broke when a cycle with their traceback was collected.


def test_changes_are_those_of_the_seed() -> None:
    def some(seed: int) -> list[bytes]:
        return [content for content, _ in zip(changed([b"abcdefgh"], [b"word"], seed), range(50), strict=False)]

    assert some(1) == some(1) != some(2)


def broken(content: bytes) -> None:
    if b"q" in content:
        raise KeyError("q")


def test_any_other_error_comes_out() -> None:
    harness = Harness("broken", broken, lambda: [b"a"])
    assert harness(b"a")
    with pytest.raises(KeyError):
        harness(b"q")


def test_a_run_tells_its_inputs(tmp_path: Path) -> None:
    (first, second) = run(["headers", "snapshot"], 60, 1, tmp_path, by_coverage=False, inputs=7)
    assert (first.name, first.runs, second.name, second.runs) == ("headers", 7, "snapshot", 7)
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]
    assert INPUT_SECONDS <= 10
