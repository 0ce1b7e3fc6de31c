"""`corpus classifier`: the figures of a learned filter, and its file, which other corpora may use."""

from pathlib import Path
from typing import Any

from corpus_assets.classifiers.assets import classifier_asset
from corpus_assets.classifiers.training import FIGURES, SUFFIX
from corpus_assets.cli.console import output, print_json, print_line
from corpus_assets.corpus.corpus import Corpus
from resources.errors import ConfigError, NotBuiltError
from resources.stage.graph import did_you_mean
from resources.stage.partition import Partition


def run(config: Path | None, name: str, to: Path | None, *, force: bool, as_json: bool) -> None:
    """Prints the figures of a classifier; `to` gets its file."""
    corpus = Corpus.open(config, read_only=True)
    known = [one.name for one in corpus.config.classifiers]
    if name not in known:
        near, there = did_you_mean(name, known), ", ".join(known) or "none"
        raise ConfigError(f"no classifier named {name!r}{near}; corpus.yaml has: {there}")
    asset = classifier_asset(name)
    record = corpus.ledger.read(asset, None)
    if record is None:
        raise NotBuiltError(asset, None, f"{asset} is not built; run: corpus build --select +{asset}")
    held = Partition(corpus.storage, record)
    counted: dict[str, Any] = held.counters(FIGURES)
    if as_json:
        print_json({"name": name, **counted})
    else:
        for line in _lines(name, counted):
            print_line(output(), line)
    if to is not None:
        if to.exists() and not force:
            raise ConfigError(f"{to} exists; --force replaces it")
        to.write_bytes(held.content(SUFFIX, keep=False))
        if not as_json:
            print_line(output(), f"{to}: written; another corpus uses it with `model: {to.name}`")


def _lines(name: str, counted: dict[str, Any]) -> list[str]:
    figures, examples = counted["figures"], counted["examples"]
    parts = "; ".join(
        f"{part.replace('_', ' ')} {of['positive']:,} positive, {of['negative']:,} negative"
        for part, of in examples.items()
    )
    shown = ", ".join(f"{key} {figures[key]:.3f}" for key in ("precision", "recall", "f1", "auc", "ece", "brier"))
    bins = [
        f"  {one['low']:.1f} to {one['high']:.1f}: {one['examples']:,} examples, mean score {one['mean']:.3f}, "
        f"{one['positive']:.3f} of them positive"
        for one in figures["bins"]
    ]
    return [f"{name} ({counted['kind']}): {parts}", f"held out: {shown}", *bins]
