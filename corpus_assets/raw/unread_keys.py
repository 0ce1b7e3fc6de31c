"""Keys of raw files that none of them has a use for: options of CSV without a table, an extractor without web pages."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from corpus_assets.config.file_formats import BLANK_LINE, given_options
from corpus_assets.raw.formats.names import resolve_format
from resources.documents.looked_for import missing
from resources.stage.partition import Partition


class _Use(NamedTuple):
    """What has a use for a key. verb: what such a file does, in words. rows: its formats."""

    verb: str
    rows: frozenset[str]


_TABLE: Final = _Use("is CSV or TSV", frozenset({"csv", "tsv"}))
_PAGES: Final = _Use("is WARC, which holds web pages", frozenset({"warc"}))
_KEYED: Final = frozenset({"json", "jsonl", "jsonl.zst.tar", "parquet", "arrow", "csv", "tsv"})
_JOINED: Final = _Use("has rows with keys", _KEYED)
# A name that is looked for in texts is counted there (`Seen`), one that takes the place of a record's own is not.
_NAMED: Final = _Use("has rows with keys", _KEYED | {"txt", "txt_list"})
_BY_SECTION: Final = {"csv": _TABLE, "html": _PAGES, "extractor": _PAGES}
_DEFAULTS: Final = {"text_key": ("text", _NAMED), "id_key": ("id", _NAMED), "text_separator": (BLANK_LINE, _JOINED)}


def unread_keys(partitions: Sequence[Partition], values: Mapping[str, Any], where: str, of: str) -> Iterator[str]:
    """Yields a sentence for each key that a section gives and that none of its files has a use for.

    partitions: of its raw files. values: the section of corpus.yaml. where: its place. of: whose files these are.
    """
    formats = Counter(
        resolve_format(partition.shard.path, values["format"]).rows for partition in partitions if partition.shard
    )
    there = [f"{rows} {count:,}" for rows, count in formats.most_common()]
    if values["ids"] == "derived" and values["id_key"] != _DEFAULTS["id_key"][0]:
        yield f"{where}.id_key: is not read, since `ids: derived` makes ids of file and row"
    for key, use in _given(values):
        if formats.keys().isdisjoint(use.rows):
            yield missing(f"{where}.{key}", formats.total(), f"files {of}", there, verb=use.verb)


def _given(values: Mapping[str, Any]) -> Iterator[tuple[str, _Use]]:
    """Yields the keys that are not as by default and that only some formats read."""
    for key in given_options(values["csv"], values.get("extractor"), values.get("html")):
        yield key, _BY_SECTION[key.partition(".")[0]]
    for key, (usual, use) in _DEFAULTS.items():
        if key == "id_key" and values["ids"] == "derived":
            continue
        if values.get(key, usual) != usual:
            yield key, use


def section_of(settings: Mapping[str, Any], what: str, name: str) -> tuple[Mapping[str, Any], str]:
    """Returns the section of corpus.yaml that says how raw files are read, and its place. what: whose files."""
    (found,) = (one for one in settings[f"{what}s"] if one["name"] == name)
    return (found["input"], f"datasets.{name}.input") if what == "dataset" else (found, f"{what}s.{name}")
