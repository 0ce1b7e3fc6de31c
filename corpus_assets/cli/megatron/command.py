"""`corpus megatron-cache`: writes index files for runs of Megatron, and says what they hold."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from corpus_assets.cli.console import errors, output, print_json, print_line
from corpus_assets.megatron_cache.blends import PARTS
from corpus_assets.megatron_cache.caches import Cache, Run, write_caches
from corpus_assets.megatron_cache.folder import cache_folder
from resources.errors import ConfigError
from resources.system_errors import raise_machine_error


def run(asked: Run, folder: Path, *, as_json: bool) -> None:
    """Writes the files, and prints one line for each dataset of the run."""
    with cache_folder(folder) as out:
        written = list(write_caches(asked, out))
    if as_json:
        print_json({"folder": str(folder), "caches": [one._asdict() for one in written]})
        return
    table = Table("part", "prefix", "samples", "epochs", "files", box=None, pad_edge=False)
    for one in written:
        epochs = "" if one.epochs is None else f"{one.epochs:,}"
        table.add_row(one.part, one.prefix or "all", f"{one.samples:,}", epochs, f"{one.base}-*")
    output().print(table)
    for one in written:
        if note := _shortfall(one):
            print_line(errors(), note, "note:")


def _shortfall(cache: Cache) -> str:
    """Says that a blend without weights ends early: Megatron draws from each of its prefixes once at most."""
    if cache.prefix is not None or cache.asked is None or cache.samples >= cache.asked:
        return ""
    return (
        f"{cache.part} has {cache.samples:,} of {cache.asked:,} samples: without weights Megatron draws every prefix "
        "once; weights before the prefixes let it begin again"
    )


def sizes_said(samples: str, part: str) -> list[int]:
    """Returns the samples of train, valid and test from words. part: which of them a single number is of."""
    numbers = [number.strip() for number in samples.split(",")]
    if not all(number.isdecimal() for number in numbers) or len(numbers) not in {1, len(PARTS)}:
        raise ConfigError(f"--samples {samples!r} is not valid; valid: one number, or three: 1000000,6400,3200")
    if len(numbers) == 1:
        return [int(numbers[0]) if one == part else 0 for one in PARTS]
    return [int(number) for number in numbers]


def tokenizer_in(file: Path) -> Mapping[str, Any]:
    """Returns the identifiers of a tokenizer: those in a description of Megatron, or the object of the file itself."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise_machine_error(error, "reading", file)
        raise ConfigError(f"--tokenizer {file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"--tokenizer {file} is no JSON: {error}") from None
    if isinstance(found, dict) and isinstance(members := found.get("datasets"), list) and members:
        found = members[0]
    if isinstance(found, dict) and "tokenizer" in found:
        found = found["tokenizer"]
    if not isinstance(found, dict) or "class" not in found:
        raise ConfigError(
            f"--tokenizer {file} names no tokenizer; valid: a *-description.txt of Megatron, or the object that it has "
            'under "tokenizer"'
        )
    return found


def place_of(places: Sequence[str]) -> Callable[[str], Path]:
    """Returns where the files of a prefix lie here. places: TRAINERS=OURS; the longest that fits is taken."""
    known = [tuple(place.rsplit("=", 1)) for place in places]
    for place in known:
        if len(place) < 2 or not all(place):
            raise ConfigError(f"--map {'='.join(place)!r} is not valid; valid: TRAINERS=OURS, such as /data=exports")

    def found(prefix: str) -> Path:
        fitting = [place for place in known if prefix.startswith(place[0])]
        if not fitting:
            return Path(prefix)
        theirs, ours = max(fitting, key=lambda place: len(place[0]))
        return Path(f"{ours}{prefix.removeprefix(theirs)}")

    return found
