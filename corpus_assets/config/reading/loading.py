"""Reading and checking `corpus.yaml`."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.own_files import OwnFiles
from corpus_assets.config.reading.changes import with_changes
from corpus_assets.config.reading.extending import EXTENDS, Read, read_values
from corpus_assets.config.reading.faults import faults, in_brackets, kind_of
from corpus_assets.config.reading.language_configs import with_configs
from corpus_assets.config.reading.profiles import PROFILES
from corpus_assets.config.section import expanded
from corpus_assets.config.selection.dedup import spelled_out
from resources.errors import ConfigError
from resources.outside.looking import real_path
from resources.raw_places.addresses import scheme_of

MAX_FAULTS = 50
STORE = "corpus"
"""The store of a sample, below the folder of its corpus.yaml."""


Where = Callable[[str], str]
"""Says in words which file and line gives a dotted key; empty if there is but one file."""


@dataclass(frozen=True)
class Loaded:
    """A configuration, the plain values that give it, where these are written, and the files that were read."""

    config: CorpusConfig
    values: dict[str, Any]
    where: Where
    files: tuple[Path, ...]


def load_config(path: str | Path, changes: Sequence[str] = ()) -> CorpusConfig:
    """Returns the configuration of `loaded_config`."""
    return loaded_config(path, changes).config


def loaded_config(path: str | Path, changes: Sequence[str] = (), sources: Sequence[Mapping[str, Any]] = ()) -> Loaded:
    """Reads and checks a `corpus.yaml`; `ConfigError` lists every fault: its key, what was received, what is valid.

    A file may extend another one (`read_values`). A sample's file names the corpus.yaml of the whole (`sample.of`),
    which gives everything but the sample and the store; `sample.of` becomes an absolute path. changes: see
    `with_changes`. sources: sections of further sources, after those of the file.
    """
    file = Path(path)
    read = read_values(file)
    files, before = read.files, read.values
    if (whole := _whole_of(before, file)) is not None:
        read = read_values(whole)
        before, file, files = _as_sample(before["sample"], file, whole, read.values), whole, (*files, *read.files)
    values = with_changes(_with_sources(before, sources), changes)
    where = _where(read, before, values, len(sources))
    values, configs = with_configs(values, file.absolute().parent)
    config = parse_config(values, str(path), where)
    _check_places(config, file, where)
    _require_different_sources(config, file, where)
    return Loaded(config, values, where, (*files, *configs))


def _with_sources(values: Any, sources: Sequence[Mapping[str, Any]]) -> Any:
    return {**values, "sources": [*values["sources"], *sources]} if sources else values


def _where(read: Read, before: Any, values: Any, added: int) -> Where:
    """Returns where a key was given. added: number of further sources, which stand after those of the file."""
    whole = values.get("sources") if isinstance(values, dict) else None
    further = {str(len(whole) - place) for place in range(1, added + 1)} if isinstance(whole, list) else set()

    def where(key: str) -> str:
        if key.startswith("sources.") and key.split(".")[1] in further:
            return "--add"
        return "--set" if _at(before, key) != _at(values, key) else read.where(key)

    return where


def _at(values: Any, key: str) -> Any:
    for part in key.split("."):
        if isinstance(values, list) and part.isdigit() and int(part) < len(values):
            values = values[int(part)]
        else:
            values = values.get(part) if isinstance(values, dict) else None
    return values


def _whole_of(values: Any, file: Path) -> Path | None:
    """Returns the corpus.yaml of the whole corpus that a configuration samples; None if it is no sample."""
    section = values.get("sample") if isinstance(values, dict) else None
    of = section.get("of") if isinstance(section, dict) else None
    if not isinstance(of, str):
        return None
    if others := sorted(str(key) for key in values if key != "sample"):
        raise ConfigError(
            f"{file}: cannot be used\n  {others[0]}: with `sample.of`, all other sections are those of {of!r}; leave "
            "it out"
        )
    return Path(os.path.normpath(file.absolute().parent / expanded(of)))


def _as_sample(section: dict[str, Any], file: Path, whole: Path, values: Any) -> dict[str, Any]:
    """Returns the values of the whole with the sample, in a store beside its own file."""
    if not isinstance(values, dict) or "sample" in values:
        raise ConfigError(f"{file}: cannot be used\n  sample.of: {whole} is no configuration of a whole corpus")
    given = values.get("storage")
    storage = given if isinstance(given, dict) else {}
    sync = {"sync": storage["sync"]} if "sync" in storage else {}
    root = {"kind": "local", "root": str(file.absolute().parent / STORE)}
    theirs = storage.get("root", "corpus")
    if storage.get("kind", "local") == "local" and isinstance(theirs, str) and not theirs.startswith("s3://"):
        _require_apart(file, real_path(root["root"]), real_path(whole.parent / expanded(theirs)))
    name = f"sample-of-{values.get('name', 'corpus')}"[:48].rstrip("-.")
    return {**values, "name": name, "sample": {**section, "of": str(whole)}, "storage": {**root, **sync}}


def _require_apart(file: Path, ours: Path, theirs: Path) -> None:
    if ours.is_relative_to(theirs) or theirs.is_relative_to(ours):
        raise ConfigError(f"{file}: the store of this sample overlaps that of the whole; move it out of {theirs}")


def parse_config(values: Any, name: str = "corpus.yaml", where: Where = lambda _: "") -> CorpusConfig:
    """Checks plain values; absent keys take their values from the chosen profile. name: of the file, for errors."""
    if not isinstance(values, dict):
        raise ConfigError(f"{name}: received {kind_of(values)}; valid is a mapping with at least `sources`")
    if EXTENDS in values:
        raise ConfigError(f"{name}: {EXTENDS}: only a file can extend another one, neither --set nor a list can")
    merged = with_profile(values)
    try:
        return CorpusConfig.model_validate(merged)
    except ValidationError as error:
        found = "\n".join(f"  {fault}" for fault in islice(faults(error, CorpusConfig, merged, where), MAX_FAULTS))
        more = error.error_count() - MAX_FAULTS
        rest = f"\n  and {more:,} more" if more > 0 else ""
        raise ConfigError(f"{name}: cannot be used\n{found}{rest}") from None


def _check_places(config: CorpusConfig, file: Path, where: Where) -> None:
    """Raises `ConfigError` if the store contains a folder of raw files or a list, or lies inside one."""
    given = {f"sources.{place}": source.location for place, source in enumerate(config.sources)}
    given |= {
        f"datasets.{n}.input": d.input.location for n, d in enumerate(config.datasets) if isinstance(d.input, OwnFiles)
    }
    given |= {f"benchmarks.{place}": benchmark.location for place, benchmark in enumerate(config.benchmarks)}
    given |= {"remove": config.remove.location} if config.remove else {}
    for place, folder in given.items():
        if _overlap(file.parent, config.storage.root, folder):
            raise ConfigError(
                f"{file}: cannot be used\n  {place}.location: received {folder!r}, which overlaps "
                f"storage.root {config.storage.root!r}; valid are two places of which neither holds the other"
                f"{in_brackets(where(f'{place}.location'))}"
            )


def _overlap(folder: Path, one: str, other: str) -> bool:
    """Returns whether one of two places holds the other: folders, or addresses of one scheme."""
    if scheme_of(one) != scheme_of(other):
        return False
    if scheme_of(one):
        first, second = f"{one.rstrip('/')}/", f"{other.rstrip('/')}/"
        return first.startswith(second) or second.startswith(first)
    top, below = (real_path(folder / expanded(place)) for place in (one, other))
    return below.is_relative_to(top) or top.is_relative_to(below)


def _require_different_sources(config: CorpusConfig, file: Path, where: Where) -> None:
    """Raises `ConfigError` if two sources read the same files. Other overlaps are found when files are listed."""
    known: dict[tuple[Path | str, str], int] = {}
    for place, source in enumerate(config.sources):
        top = source.location if scheme_of(source.location) else real_path(file.parent / expanded(source.location))
        for glob in [source.glob] if isinstance(source.glob, str) else source.glob:
            if (other := known.setdefault((top, glob), place)) != place:
                raise ConfigError(
                    f"{file}: cannot be used\n  sources.{place}.location: received {source.location!r} with glob "
                    f"{glob!r}, as in sources.{other}; valid are sources that share no file"
                    f"{in_brackets(where(f'sources.{place}.location'))}"
                )


def with_profile(values: dict[str, Any]) -> dict[str, Any]:
    """Returns the values of the chosen profile, overridden by the user's values key by key in each section."""
    profile = PROFILES.get(values["compat"], {}) if isinstance(values.get("compat"), str) else {}
    if profile and isinstance(minhash := values.get("minhash"), dict):
        with suppress(ValueError):  # The model will find the same error and name its place.
            values = {**values, "minhash": spelled_out(minhash)}
    return _over(profile, values)


def _over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = {**below, **above}
    for key in below.keys() & above.keys():
        if isinstance(below[key], dict) and isinstance(above[key], dict):
            merged[key] = _over(below[key], above[key])
    return merged
