"""What the web UI shows of an asset before anything is built: description, columns, and values that it depends on."""

from collections.abc import Mapping
from typing import Any

import dagster as dg
import msgspec

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.shown.config_text import shown_text
from corpus_assets.orchestration.shown.markdown import fenced, table
from corpus_assets.orchestration.shown.pages import page
from resources.errors import CorpusError
from resources.stage.declaration import Partitioning, Stage

MAX_VALUE = 120
_PARTITIONS = {
    Partitioning.SHARD: "One partition per raw file.",
    Partitioning.BAND: "One partition per band.",
    Partitioning.RANGE: "One partition per range of keys or document numbers.",
    Partitioning.CHUNK: "One partition per chunk of the mix.",
    Partitioning.NONE: "It has no partitions.",
}
_OF_SOURCES = "source."


def description(stage: Stage) -> str:
    """Returns the description of an asset; the catalog shows its first line as it is."""
    what = f"{_PARTITIONS[stage.partitioning]} A run computes only what is not fresh, whatever is chosen."
    return f"{stage.description}\n\n{what} Algorithm version {stage.code_version}."


def definition_metadata(corpus: Corpus, stage: Stage) -> dict[str, Any]:
    """Returns columns, the values that an asset depends on, and links to the built partitions."""
    metadata: dict[str, Any] = {"look": dg.MetadataValue.url(page(stage.name)), "dagster/uri": corpus.storage.place}
    if stage.columns:
        metadata["dagster/column_schema"] = dg.TableSchema(
            columns=[_column(name, kind) for name, kind in stage.columns.items()]
        )
    if values := depends_on(corpus, stage):
        metadata["depends on"] = dg.MetadataValue.md(table(["parameter", "value"], list(values.items())))
    if stage.lists_shards:
        metadata["sources"] = dg.MetadataValue.md(_sources(corpus))
        metadata["corpus.yaml"] = dg.MetadataValue.md(fenced(shown_text(corpus.config), "yaml"))
    return metadata


def _column(name: str, kind: str) -> dg.TableColumn:
    typed, _, holds = kind.partition(": ")
    return dg.TableColumn(name, typed, holds or None)


def depends_on(corpus: Corpus, stage: Stage) -> dict[str, str]:
    """Returns the values that the content of an asset depends on, in words; of sources that differ, each one's."""
    settings = corpus.settings
    found: dict[str, str] = {}
    by_source: dict[str, dict[str, Any]] = {}
    for key in stage.parameters:
        if key.startswith(_OF_SOURCES):
            by_source[key] = {source: settings.get(key, source) for source in settings.sources()}
        else:
            found[key] = _words(settings.get(key))
    for section in settings.values["sources"] if stage.shard_set is None else ():
        for key, value in stage.hooks.source_parameters(section).items():
            by_source.setdefault(key, {})[section["name"]] = value
    found |= {key: _of_sources(values) for key, values in by_source.items()}
    try:
        found |= {key: _words(value) for key, value in settings.derived_parameters(stage).items()}
    except CorpusError as error:  # A file that the configuration names is missing: the plan says so.
        found["not known yet"] = str(error)
    return found


def _of_sources(values: Mapping[str, Any]) -> str:
    groups: dict[str, list[str]] = {}
    for source, value in values.items():
        groups.setdefault(_words(value), []).append(source)
    if len(groups) == 1:
        return next(iter(groups))
    return "; ".join(f"{', '.join(sources)}: {value}" for value, sources in groups.items())


def _words(value: Any) -> str:
    words = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return words if len(words) <= MAX_VALUE else f"{words[:MAX_VALUE]} ..."


def _sources(corpus: Corpus) -> str:
    """Returns a table of where the sources of a corpus come from."""
    heads = ["source", "location", "licence", "epochs"]
    rows = [[one.name, one.location, one.licence, f"{one.epochs:g}"] for one in corpus.config.sources]
    return table(heads, rows) if rows else "Every dataset reads files of its own."
