"""Reading and checking `corpus.yaml`."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.datasets import Files
from corpus_assets.config.dedup import spelled_out
from corpus_assets.config.faults import faults, shown
from corpus_assets.config.profiles import PROFILES
from corpus_assets.config.section import expanded
from corpus_assets.config.strict_yaml import load_yaml
from resources.errors import ConfigError

MAX_CONFIG_BYTES = 4 << 20


def load_config(path: str | Path) -> CorpusConfig:
    """Reads and checks a `corpus.yaml`; `ConfigError` lists every fault: its key, what was received, what is valid."""
    file = Path(path)
    try:
        if file.stat().st_size > MAX_CONFIG_BYTES:
            raise ConfigError(f"{file}: {file.stat().st_size} bytes; a configuration has at most {MAX_CONFIG_BYTES}")
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8: {error}") from None
    config = parse_config(load_yaml(text, str(file)), str(file))
    _check_places(config, file)
    _require_different_sources(config, file)
    return config


def parse_config(values: Any, where: str = "corpus.yaml") -> CorpusConfig:
    """Checks plain values; a key that is not given takes its value from the chosen profile."""
    if not isinstance(values, dict):
        raise ConfigError(f"{where}: received {shown(values)}; valid is a mapping with at least `sources`")
    merged = _with_profile(values)
    try:
        return CorpusConfig.model_validate(merged)
    except ValidationError as error:
        found = "\n".join(f"  {fault}" for fault in faults(error, CorpusConfig, merged))
        raise ConfigError(f"{where}: cannot be used\n{found}") from None


def _check_places(config: CorpusConfig, file: Path) -> None:
    """Raises `ConfigError` if the store lies below a folder of raw files, or such a folder below the store."""
    root = (file.parent / expanded(config.storage.root)).resolve()
    given = {f"sources.{place}": source.location for place, source in enumerate(config.sources)}
    given |= {
        f"datasets.{n}.input": d.input.location for n, d in enumerate(config.datasets) if isinstance(d.input, Files)
    }
    given |= {f"benchmarks.{place}": benchmark.location for place, benchmark in enumerate(config.benchmarks)}
    for place, folder in given.items():
        location = (file.parent / expanded(folder)).resolve()
        if location.is_relative_to(root) or root.is_relative_to(location):
            raise ConfigError(
                f"{file}: cannot be used\n  {place}.location: received {folder!r}, which overlaps "
                f"storage.root {config.storage.root!r}; valid are two folders of which neither holds the other"
            )


def _require_different_sources(config: CorpusConfig, file: Path) -> None:
    """Raises `ConfigError` if two sources take the same files. Other overlaps are found when files are listed."""
    known: dict[tuple[Path, str], int] = {}
    for place, source in enumerate(config.sources):
        top = (file.parent / expanded(source.location)).resolve()
        for glob in [source.glob] if isinstance(source.glob, str) else source.glob:
            if (other := known.setdefault((top, glob), place)) != place:
                raise ConfigError(
                    f"{file}: cannot be used\n  sources.{place}.location: received {source.location!r} with glob "
                    f"{glob!r}, as in sources.{other}; valid are sources that share no file"
                )


def _with_profile(values: dict[str, Any]) -> dict[str, Any]:
    """Returns the values of the chosen profile, replaced by the user's values section by section and key by key."""
    profile = PROFILES.get(values["compat"], {}) if isinstance(values.get("compat"), str) else {}
    if profile and isinstance(minhash := values.get("minhash"), dict):
        with suppress(ValueError):  # The model finds the same fault again, and names its place.
            values = {**values, "minhash": spelled_out(minhash)}
    return _over(profile, values)


def _over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = {**below, **above}
    for key in below.keys() & above.keys():
        if isinstance(below[key], dict) and isinstance(above[key], dict):
            merged[key] = _over(below[key], above[key])
    return merged
