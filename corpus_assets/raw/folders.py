"""Where raw files lie, by the settings: those of sources, of datasets with files of their own, and of benchmarks."""

from collections.abc import Iterator, Mapping
from typing import Any

from resources.shards import SourceFolder
from resources.stage.settings import Settings
from resources.storage.s3_client import S3Settings


def raw_folders(settings: Settings) -> Iterator[SourceFolder]:
    """Yields the place of each set of raw files, in the order in which shards are listed."""
    for source in settings.values["sources"]:
        yield _folder(source, "source", f"sources.{source['name']}")
    for files in settings.inputs():
        yield _folder(files, "dataset", f"datasets.{files['name']}.input")
    for files in settings.benchmarks():
        yield _folder(files, "benchmark", f"benchmarks.{files['name']}")


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
    )


def _globs(glob: str | list[str]) -> tuple[str, ...]:
    return (glob,) if isinstance(glob, str) else tuple(glob)
