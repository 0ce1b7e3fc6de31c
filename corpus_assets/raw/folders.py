"""The places of raw files in the configuration: of sources, of datasets' own files, and of benchmarks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from corpus_assets.config.datasets.files import Files
from corpus_assets.config.datasets.modes import SECTIONS
from corpus_assets.token_files.registry import FORMATS
from resources.raw_places.data_suffixes import SUFFIXES
from resources.shard_names import CUT_SUFFIXES
from resources.shards.beside import Beside
from resources.shards.listing import SourceFolder
from resources.stage.settings import Settings
from resources.storage.s3.client import S3Settings


def raw_folders(settings: Settings) -> Iterator[SourceFolder]:
    """Yields the place of each set of raw files, in the order in which shards are listed."""
    for source in settings.values["sources"]:
        yield _folder(source, "source", f"sources.{source['name']}")
    datasets = {dataset["name"]: dataset for dataset in settings.values["datasets"]}
    for files in settings.inputs():
        passed_over = tuple(_not_cerebras(datasets[files["name"]]))
        yield replace(_folder(files, "dataset", f"datasets.{files['name']}.input"), passes_over=passed_over)
    for files in settings.benchmarks():
        yield _folder(files, "benchmark", f"benchmarks.{files['name']}")


def attribute_folders(settings: Settings) -> list[Beside]:
    """Returns the files of attributes beside the raw files of sources, for each entry of `attributes` that has some."""
    return [_beside(entry, settings.sources()) for entry in settings.values["attributes"] if "location" in entry]


def _beside(entry: Mapping[str, Any], sources: Sequence[str]) -> Beside:
    given = entry["location"]
    places = given if isinstance(given, Mapping) else dict.fromkeys(entry["sources"] or sources, given)
    key = f"attributes.{entry['name']}"
    keys = {name: f"{key}.location.{name}" if given is places else key for name in places}
    folders = {
        name: SourceFolder(
            f"attributes/{entry['name']}",
            place,
            ("**/*",),
            entry["format"],
            keys[name],
            "attribute",
            entry["follow_links"],
            S3Settings(**(entry["s3"] or {})),
        )
        for name, place in places.items()
    }
    return Beside(entry["name"], "attributes", folders, mirrored=given is not places)


def _folder(files: Mapping[str, Any], what: str, key: str) -> SourceFolder:
    return SourceFolder(
        files["name"],
        files["location"],
        _globs(files["glob"]),
        files["format"],
        key,
        what,
        files["follow_links"],
        S3Settings(**(files.get("s3") or {})),
        hidden=files["hidden"],
        grouping=FORMATS[files["format"]].group if files["format"] in FORMATS else None,
    )


def _not_cerebras(dataset: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the suffixes that Cerebras ignores or cannot use, with the reason; none without compat.

    Cerebras does not know `.jsonl.gz` either, but compressed JSON lines are accepted here.
    """
    if dataset.get("compat") != "cerebras":
        return
    for suffix, (rows, _) in SUFFIXES.items():
        if suffix not in CUT_SUFFIXES or rows in ("csv", "tsv", "warc", "warc.wet"):
            yield suffix, f"passed over, as Cerebras reads no {suffix}; `input.format: {rows}` and a `glob` read it"
    shape = SECTIONS[dataset["mode"]].shape_in(Files.model_construct(None, **dataset["input"]))
    if shape != "text":
        yield ".txt", f"passed over: a text file holds no {shape}, and Cerebras makes nothing of it"


def _globs(glob: str | list[str]) -> tuple[str, ...]:
    return (glob,) if isinstance(glob, str) else tuple(glob)
