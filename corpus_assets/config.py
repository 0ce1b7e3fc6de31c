"""`corpus.yaml`: the one typed schema. Strict: unknown keys, wrong types and impossible combinations are refused."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from corpus_assets.config_datasets import Dataset, Files, default_datasets
from corpus_assets.config_dedup import Dedup, MinHash, spelled_out
from corpus_assets.config_faults import faults, shown
from corpus_assets.config_section import Name, Section
from corpus_assets.config_sections import Engine, Mix, Normalize, ShortDocuments, Source, Split, Storage
from corpus_assets.config_tokenizers import Tokenizer, TrainedTokenizer
from corpus_assets.config_yaml import load_yaml
from resources.errors import ConfigError

MAX_CONFIG_BYTES = 4 << 20


class CorpusConfig(Section):
    """Everything a corpus is made from."""

    name: Name = "corpus"
    compat: Literal["slimpajama"] | None = Field(
        None, description="profile that reproduces a reference; it sets the values its documentation lists"
    )
    sources: list[Source] = Field(
        default=[],
        description="in order: of equal documents the earliest is kept; none if every dataset reads files of its own",
    )
    normalize: Normalize = Normalize()
    short_documents: ShortDocuments = ShortDocuments()
    minhash: MinHash = MinHash()
    dedup: Dedup = Dedup()
    mix: Mix = Mix()
    split: Split = Split()
    tokenizer: Tokenizer = TrainedTokenizer()
    datasets: list[Dataset] = Field(default_factory=default_datasets)
    stages: list[str] = Field(default_factory=list, description="modules with stages of your own (docs/own-stage.md)")
    engine: Engine = Engine()
    storage: Storage = Storage()

    @model_validator(mode="after")
    def _unique_names(self) -> "CorpusConfig":
        for what, names in (
            ("sources", [s.name for s in self.sources]),
            ("datasets", [d.name for d in self.datasets]),
        ):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"{what}: {', '.join(map(repr, twice))} named twice; names must differ")
        if both := sorted(
            {s.name for s in self.sources} & {d.name for d in self.datasets if isinstance(d.input, Files)}
        ):
            raise ValueError(f"datasets: {both[0]!r} reads files of its own and is named like a source; rename one")
        folded: dict[str, str] = {}
        for name in (dataset.name for dataset in self.datasets):
            if (other := folded.setdefault(re.sub("[-.]", "_", name), name)) != name:
                raise ValueError(f"datasets: {other!r} and {name!r} differ by '-', '.' and '_' only; rename one")
        return self

    @model_validator(mode="after")
    def _something_to_read(self) -> "CorpusConfig":
        if self.sources:
            return self
        if reads := [d.name for d in self.datasets if not isinstance(d.input, Files)]:
            raise ValueError(
                f"sources: none given, but dataset {reads[0]!r} reads a split of the corpus; give a source"
            )
        chosen = [d.tokenizer or self.tokenizer for d in self.datasets]
        if not chosen or any(isinstance(tokenizer, TrainedTokenizer) for tokenizer in chosen):
            raise ValueError(
                "sources: none given, so there is nothing to train a tokenizer on; give a source or another kind"
            )
        return self

    @model_validator(mode="after")
    def _known_priorities(self) -> "CorpusConfig":
        names = [source.name for source in self.sources]
        if unknown := [name for name in self.dedup.priority if name not in names]:
            raise ValueError(f"dedup.priority: no source named {unknown[0]!r}; valid: {', '.join(names)}")
        if len(set(self.dedup.priority)) < len(self.dedup.priority):
            raise ValueError("dedup.priority: a source is named twice")
        return self

    @model_validator(mode="after")
    def _one_holdout_for_compat(self) -> "CorpusConfig":
        own = [f"sources.{place}.holdout" for place, source in enumerate(self.sources) if source.holdout is not None]
        if self.split.method == "slimpajama" and own:
            raise ValueError(f"{', '.join(own)}: split.method slimpajama takes no holdout per source; leave it out")
        return self


PROFILES: dict[str, dict[str, dict[str, Any]]] = {
    "slimpajama": {
        "normalize": {"method": "ftfy"},
        "short_documents": {"threshold": 200},
        "minhash": {"family": "legacy", "permutations": 128, "seed": 1, "width": 13, "bands": 9, "rows": 13},
        "dedup": {
            "short_documents": "include",
            "exact_first": False,
            "verify": "none",
            "keep": ["first"],
            "guard": {"action": "off"},
            "max_loss": 1.0,
        },
        "mix": {"seed": 42, "order": "slimpajama"},
        "split": {"holdout": 0.0017, "method": "slimpajama"},
    }
}


def load_config(path: str | Path) -> CorpusConfig:
    """Read and check a `corpus.yaml`; `ConfigError` says every fault with its key, what was given and what is valid."""
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
    return config


def parse_config(values: Any, where: str = "corpus.yaml") -> CorpusConfig:
    """Check plain values, with the chosen profile under them."""
    if not isinstance(values, dict):
        raise ConfigError(f"{where}: received {shown(values)}; valid is a mapping with at least `sources`")
    merged = _with_profile(values)
    try:
        return CorpusConfig.model_validate(merged)
    except ValidationError as error:
        found = "\n".join(f"  {fault}" for fault in faults(error, CorpusConfig, merged))
        raise ConfigError(f"{where}: cannot be used\n{found}") from None


def _check_places(config: CorpusConfig, file: Path) -> None:
    """The corpus must not be among its own raw files, nor they among what it writes and removes."""
    root = (file.parent / config.storage.root).resolve()
    given = {f"sources.{place}": source.location for place, source in enumerate(config.sources)}
    given |= {
        f"datasets.{n}.input": d.input.location for n, d in enumerate(config.datasets) if isinstance(d.input, Files)
    }
    for place, folder in given.items():
        location = (file.parent / folder).resolve()
        if location.is_relative_to(root) or root.is_relative_to(location):
            raise ConfigError(
                f"{file}: cannot be used\n  {place}.location: received {folder!r}, which overlaps "
                f"storage.root {config.storage.root!r}; valid are two folders of which neither holds the other"
            )


def _with_profile(values: dict[str, Any]) -> dict[str, Any]:
    """The user's values over those of the chosen profile, section by section and key by key."""
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
