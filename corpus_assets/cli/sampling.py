"""`corpus build --sample` and `--limit`: writes the corpus.yaml of a sample, in a folder of its own."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from corpus_assets.cli.console import errors, print_line
from corpus_assets.config.datasets.token_files import TOKEN_FORMATS
from corpus_assets.config.reading.strict_yaml import load_yaml
from corpus_assets.config.section import expanded
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.raw.format_options import format_options, format_parameters
from corpus_assets.raw.sampling import count_rows, share_of_rows
from resources.errors import ConfigError
from resources.shards.listing import Shard

_FILE = "corpus.yaml"
_HEAD = """\
# A sample of another corpus, as `corpus build --sample` or `--limit` wrote it. Everything else is taken from `of`.
# Every command takes this file: corpus show -c <this file> ...
"""


@dataclass(frozen=True)
class Asked:
    """The sample to write: a share of all rows, or up to `limit` rows of each source. root: its folder."""

    share: float | None = None
    limit: int | None = None
    root: Path | None = None
    seed: int = 0

    @property
    def name(self) -> str:
        """The suffix of the folder's name."""
        return f"sample-{self.limit}-per-source" if self.limit else f"sample-{(self.share or 1) * 100:g}-percent"

    def __str__(self) -> str:
        return f"up to {self.limit:,} rows of each source" if self.limit else f"{(self.share or 1):.4%} of all rows"


def share_in(given: str) -> float:
    """Returns the share for `1%` or `0.01`; `ConfigError` for anything else."""
    try:
        share = float(given.removesuffix("%")) / (100 if given.endswith("%") else 1)
    except ValueError:
        share = 0
    if not 0 < share <= 1:
        raise ConfigError(f"--sample: received {given!r}; valid: a share such as 1% or 0.01, more than 0 and at most 1")
    return share


def sample_config(
    config: Path | None, sample: str | None, limit: int | None, root: Path | None, seed: int, *, quiet: bool
) -> Path:
    """Writes the corpus.yaml of the sample for the options of `corpus build`, and returns its path.

    `ConfigError` unless exactly one of the options is given.
    """
    if (sample is None) == (limit is None):
        raise ConfigError("give either --sample or --limit")
    asked = Asked(None if sample is None else share_in(sample), limit, root, seed)
    if limit is not None and not quiet:
        print_line(errors(), "counting rows ...")
    file = write_sample_config(config, asked)
    if not quiet:
        print_line(errors(), f"a sample: {asked}; look at it with -c {_shown(file)}")
    return file


def _shown(file: Path) -> str:
    """Returns the shorter of an absolute path and the same path relative to the working folder."""
    return min(str(file), os.path.relpath(file), key=len)


def write_sample_config(config: Path | None, asked: Asked) -> Path:
    """Writes the corpus.yaml of a sample of a corpus, and returns its path.

    `ConfigError` if the folder holds anything else than a sample of this corpus.
    """
    whole = Corpus.open(config, read_only=True)
    if whole.config.sample is not None:
        raise ConfigError(f"{whole.file} is a sample already; give the corpus.yaml of the whole")
    folder = (asked.root or _beside(whole, asked.name)).absolute()
    _require_free(folder, whole.file)
    section: dict[str, Any] = {"of": os.path.relpath(whole.file, folder), "seed": asked.seed}
    if asked.limit:
        section["shares"] = _shares(whole, asked.limit, asked.seed)
    else:
        section["share"] = asked.share
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / _FILE
    file.write_text(_HEAD + yaml.safe_dump({"sample": section}, sort_keys=False), encoding="utf-8")
    return file


def _beside(whole: Corpus, name: str) -> Path:
    storage = whole.config.storage
    root = whole.folder / expanded(storage.root) if storage.kind == "local" else whole.folder / "corpus"
    return root.with_name(f"{root.name}-{name}")


def _require_free(folder: Path, whole: Path) -> None:
    """Raises `ConfigError` unless a folder is empty or holds a sample of a corpus."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    file = folder / _FILE
    values = load_yaml(file.read_text(encoding="utf-8"), str(file)) if file.is_file() else None
    sample = values.get("sample") if isinstance(values, dict) else None
    of = sample.get("of") if isinstance(sample, dict) else None
    if not isinstance(of, str) or (folder / of).resolve() != whole.resolve():
        raise ConfigError(f"{folder}: holds something else than a sample of {whole}; give another --root")


def _shares(whole: Corpus, limit: int, seed: int) -> dict[str, float]:
    """Returns the share of each source, and of each dataset's own files, that gives `limit` rows.

    All raw files are read, to count their rows.
    """
    listing, settings = whole.listing(), whole.settings
    found = {}
    for section in (*settings.values["sources"], *settings.inputs()):
        shards = [shard for shard in listing.shards if shard.source == section["name"]]
        found[section["name"]] = share_of_rows(limit, shards, partial(_rows, section=section), seed)
    return found


def _rows(shard: Shard, section: Mapping[str, Any]) -> int:
    if section["format"] in TOKEN_FORMATS:
        raise ConfigError(f"dataset {section['name']} reads ids, whose documents --limit cannot count; valid: --sample")
    options = format_options(format_parameters(section, "source"), "source")
    return count_rows(shard, section["format"], section["longest_row"], options)
