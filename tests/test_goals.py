"""The goals at the head of the page of benchmarks: each is looked up in the section of its script."""

from importlib import import_module

from benchmarks import goals

PAGE = """# Benchmarks

## Stages

`python -m benchmarks.stages`: text.

| stage | ms per MB | MB per CPU-second |
|---|---:|---:|
| minhashes | 8.91 | 1,112.2 |
| pipeline | 46.29 | 19.6 |

## The driver

`python -m benchmarks.driver` builds.

| figure | value |
|---|---:|
| worker busy share | 0.9 |
| build fixed cpu s | 4.01 |
| one change share | not measured |
"""


def rows(page: str) -> dict[str, list[str]]:
    lines = [line for line in goals.section(page).splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]
    return {f"{cell[1]}: {cell[0].partition(' (')[0]}": cell[2:] for cell in cells}


def test_a_goal_is_met_missed_or_not_measured() -> None:
    found = rows(PAGE)
    assert found["stages: minhashes, MB per CPU-second"] == ["at least 200", "1,112.2", "met"]
    assert found["stages: pipeline, MB per CPU-second"] == ["at least 40", "19.6", "**missed**"]
    assert found["driver: worker busy share"] == ["at least 0.9", "0.9", "met"]
    assert found["driver: build fixed cpu s"] == ["at most 4", "4.01", "**missed**"]
    assert found["driver: one change share"] == ["at most 0.05", "", "not measured"]
    assert len(found) == len(goals.GOALS)


def test_a_goal_says_that_its_figure_is_of_small_inputs() -> None:
    found = rows(f"{PAGE}\n{goals.QUICK}: the inputs are small.\n")
    assert found["driver: worker busy share"][-1] == "met on small inputs (`--quick`)"
    assert found["driver: build fixed cpu s"][-1] == "**missed** on small inputs (`--quick`)"
    assert found["driver: one change share"][-1] == "not measured"
    assert found["stages: minhashes, MB per CPU-second"][-1] == "met"


def test_every_goal_is_of_a_script() -> None:
    for goal in goals.GOALS:
        assert import_module(f"benchmarks.{goal.script}").__doc__
