"""A golden set of the Dolma toolkit, as its own configurations describe it."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.golden import GOLDEN
from tests.golden.files import row_files

SET = GOLDEN / "dolma"
ABSENT = "no golden files of the Dolma toolkit"


@cache
def configs() -> dict[str, dict[str, Any]]:
    """Every configuration of a run, by the name of its file; none when the golden folder is absent."""
    files = sorted(file for file in (SET / "configs").glob("*") if file.suffix in (".yaml", ".yml", ".json"))
    return {file.name: dict(yaml.safe_load(file.read_text(encoding="utf-8"))) for file in files}


def streams() -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Every stream of a run of the mixer: file of its configuration, place there, and what it says."""
    for name, config in configs().items():
        yield from ((name, place, stream) for place, stream in enumerate(config.get("streams", [])))


@cache
def top() -> Path:
    """The folder with `documents` and `attributes`, where the toolkit puts the second beside the first."""
    listed = [config for config in configs().values() if "documents" in config] + [one for _, _, one in streams()]
    (found,) = {pattern.partition("/documents/")[0] for config in listed for pattern in config["documents"]}
    return SET / str(found)


def documents(*patterns: str) -> list[Path]:
    """The files of documents that fit patterns of the toolkit, by default all, in the order of their paths."""
    found = {file for pattern in patterns for file in SET.glob(pattern) if file.is_file()}
    return sorted(found) if patterns else row_files(top() / "documents")


def attributes(name: str) -> Path:
    """The folder of what a run said of the documents."""
    return top() / "attributes" / name
