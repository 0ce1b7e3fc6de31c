"""Stages of an entry of `attributes` with files: the content version of each file, and the rows made from it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from typing_extensions import override

from corpus_assets.attributes.assets import ATTRIBUTE_COLUMNS, asset_name
from corpus_assets.attributes.files.aligned import Beside, by_id, by_row, without
from corpus_assets.attributes.files.rows import RowKeys, given_rows
from corpus_assets.attributes.files.texts import is_left_out, moved
from corpus_assets.attributes.files.values import BadValueError, Keys, name_of, spans_of
from corpus_assets.config.selection.attributes import key_prefix
from corpus_assets.normalize import compiled
from corpus_assets.normalize.reading import READING, DocumentHooks, normalizer_of
from corpus_assets.raw.readers import Limits, RawFile
from resources.documents.looked_for import LookedFor, absent_names, numbers_of
from resources.documents.score_histograms import ScoreHistograms
from resources.errors import BadFileError
from resources.formats.attributes import Span
from resources.hashing import content_digest
from resources.shards.beside import ABSENT
from resources.stage.declaration import Input, Partitioning, Stage, same
from resources.stage.hooks import Values
from resources.stage.partition import Partition
from resources.stage.task import Task

_CONTENT = (
    *("format", "align", "id_key", "attributes_key", "keys", "flagged", "on_missing", "on_changed_text"),
    "longest_row",
)
"""Keys of an entry that its rows depend on."""

Spans = Mapping[str, Sequence[Span]]


@dataclass
class _Named:
    """The identity of a document."""

    id: str
    source: str


def attribute_file(task: Task, name: str) -> dict[str, str]:
    """Records the content digest of the file beside one raw file, and copies nothing; one for no file as well."""
    file = task.shard.file_beside(name)
    if file is None:
        digest, path = content_digest(b"none"), task.shard.path_digest()
    else:
        path = file.path_digest()
        if file.problem:
            digest, seen = content_digest(b"problem", file.problem.encode()), file.seen()
        else:
            digest, seen = file.digest_as_seen()
        task.seen |= seen
        task.count(bytes=file.bytes, file=file.label)
    task.segments |= {"file": digest, "name": path}
    return {"file": digest, "name": path}


def given_attributes(task: Task, name: str) -> None:
    """Writes the attributes that the file beside a raw file has for each document."""
    settings = _settings(task.parameters, name)
    rows = _Rows(task, name, settings)
    with task.attributes(name) as out:
        for beside in _aligned(task, name, settings):
            spans = rows.spans(beside)
            flagged = _is_flagged(spans, rows.flagging)
            out.add(_Named(beside.document.id, task.shard.source), spans, flagged=flagged)
            rows.count(beside, spans)
    rows.save(out.rows)


def _settings(parameters: Values, name: str) -> dict[str, Any]:
    return {key: parameters[f"attributes.{name}.{key}"] for key in _CONTENT}


def _aligned(task: Task, name: str, settings: Values) -> Iterator[Beside]:
    file = task.shard.file_beside(name)
    if file is None or is_left_out(task) or (file.problem == ABSENT and settings["on_missing"] == "skip"):
        return without(task)
    if file.problem:
        raise BadFileError(
            file.label, f"{file.problem}; it has the attributes of {task.shard.label}, looked for at {file.full_path}"
        )
    limits = Limits(line_bytes=settings["longest_row"])
    raw = RawFile(file.full_path, task.beside(files_asset(name), name).open)
    rows = given_rows(raw, settings["format"], limits, RowKeys.of(settings, f"attributes.{name}"))
    if settings["align"] == "id":
        return by_id(task, rows, file.full_path, skips=settings["on_missing"] == "skip")
    return by_row(task, rows, file.full_path)


class _Rows:
    """Makes the spans of documents from the values of one file, and counts them."""

    def __init__(self, task: Task, name: str, settings: Values) -> None:
        self._task = task
        self._keys = Keys(name)
        self._fix = normalizer_of(task.parameters)
        self._on_changed = settings["on_changed_text"]
        file = task.shard.file_beside(name)
        self._label = file.full_path if file else ""
        self._scores = ScoreHistograms()
        wanted = {f"attributes.{name}.keys": settings["keys"]} if settings["keys"] else {}
        self.flagging: Mapping[str, Any] | None = settings["flagged"]
        if self.flagging:
            self._flagging_key = self.flagging["attribute"]
            wanted[f"attributes.{name}.flagged.attribute"] = [self._flagging_key]
            self.flagging = {**self.flagging, "attribute": name_of(key_prefix(name), self._flagging_key)}
        self._taken: Sequence[str] | None = settings["keys"]
        self._looked_for = LookedFor("rows", wanted if file else {})
        self._without = self._moved = self._left_out = 0

    def spans(self, beside: Beside) -> Spans:
        """Returns the spans of a document; `BadFileError` names row and key of a value that is none."""
        document, row, values = beside
        if values is None:
            return {}
        if self._taken is not None:
            values = {key: values[key] for key in self._taken if key in values}
        try:
            found: Spans = spans_of(values, document.length, self._keys)
            return found if document.changed is None else self._in_changed(beside, found)
        except BadValueError as fault:
            raise BadFileError(f"{self._label} row {row} (id {document.id!r})", str(fault)) from None

    def _in_changed(self, beside: Beside, found: Spans) -> Spans:
        """Returns spans of a text that normalization changed, in the changed text."""
        assert beside.document.changed is not None
        if not any(found.values()):
            return found
        if self._on_changed == "fail":
            raise BadValueError(
                "normalization changed the text that its spans are of; `normalize.method: none` keeps texts, "
                "`on_changed_text: move` moves spans"
            )
        places = {place for spans in found.values() for start, end, _ in spans for place in (start, end)}
        known = moved(places, beside.document.changed, self._fix)
        self._moved += 1
        return {key: list(self._kept(key, spans, known)) for key, spans in found.items()}

    def _kept(self, key: str, spans: Sequence[Span], known: Mapping[int, int]) -> Iterator[Span]:
        for start, end, score in spans:
            if start in known and end in known:
                yield known[start], known[end], score
            elif self._on_changed == "skip":
                self._left_out += 1
            else:
                raise BadValueError(
                    f"the span [{start}, {end}] of {key} ends within characters that normalization changed; "
                    "`on_changed_text: skip` leaves it out"
                )

    def count(self, beside: Beside, spans: Spans) -> None:
        """Counts a document."""
        self._without += beside.values is None
        self._scores.add({key: held for key, held in spans.items() if held})
        if self._looked_for.wants_any and beside.values is not None:
            there = [key for key, value in beside.values.items() if value is not None]
            if self.flagging is not None and self.flagging["attribute"] in spans:  # Labels are parts of keys.
                there.append(self._flagging_key)
            self._looked_for.add(there)

    def save(self, rows: int) -> None:
        """Records the numbers."""
        count, scores = self._task.count, self._scores
        count(histograms=scores.histograms(), rows_in=rows, rows_out=rows, spans=scores.spans)
        count(documents_without_row=self._without, **numbers_of(self._looked_for))
        if scores.uncounted:
            count(scores_without_histogram=scores.uncounted)
        if self._moved:
            count(moved_texts=self._moved)
        if self._left_out:
            count(spans_left_out=self._left_out)


def _is_flagged(spans: Spans, flagging: Mapping[str, Any] | None) -> bool:
    if flagging is None:
        return any(score > 0 for held in spans.values() for _, _, score in held)
    least, below = flagging["min_score"], flagging["max_score"]
    return any(
        (least is None or score >= least) and (below is None or score < below)
        for _, _, score in spans.get(flagging["attribute"], ())
    )


@dataclass(frozen=True)
class FileHooks(DocumentHooks):
    """The hooks of the content versions of files. sources: those that have files."""

    name: str
    sources: tuple[str, ...]

    @override
    def source_parameters(self, source: Values) -> Values:
        """Returns whether a source has files of attributes."""
        return {f"attributes.{self.name}.has_files": source["name"] in self.sources}

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {}

    @override
    def reasons(self, settings: Values) -> Sequence[str]:
        return ()


@dataclass(frozen=True)
class GivenHooks(DocumentHooks):
    """The hooks of the rows."""

    name: str

    @override
    def derived_parameters(self, settings: Values) -> Values:
        (entry,) = (entry for entry in settings["attributes"] if entry["name"] == self.name)
        return {f"attributes.{self.name}.{key}": entry[key] for key in _CONTENT} | dict(
            super().derived_parameters(settings)
        )

    @override
    def reasons(self, settings: Values) -> Sequence[str]:
        return ()

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return compiled.of_documents(settings)

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterator[str]:
        """Yields sentences on names that no row has, on documents without a row, and on spans that were left out."""
        yield from absent_names(partitions, settings)
        totals = {
            key: sum(partition.record.statistics.get(key, 0) for partition in partitions)
            for key in ("rows_out", "moved_texts", "spans_left_out")
        }
        missing = sum(
            partition.record.statistics.get("documents_without_row", 0)
            for partition in partitions
            if partition.shard is not None and partition.shard.file_beside(self.name) is not None
        )
        if missing:
            yield f"attributes.{self.name}: {missing:,} of {totals['rows_out']:,} documents have no row of attributes"
        if totals["spans_left_out"]:
            yield (
                f"attributes.{self.name}: {totals['spans_left_out']:,} spans were left out, as normalization changed "
                "the characters at which they end"
            )


def files_asset(name: str) -> str:
    """Returns the asset with the content versions of an entry's files."""
    return f"{name}_attribute_files"


def given_stages(entries: Iterable[Mapping[str, Any]], sources: Sequence[str]) -> Iterator[Stage]:
    """Yields the two stages of each entry of `attributes` that has files. sources: all."""
    for entry in (entry for entry in entries if "location" in entry):
        name, place = entry["name"], entry["location"]
        having = tuple(place) if isinstance(place, Mapping) else tuple(entry["sources"] or sources)
        yield Stage(
            name=files_asset(name),
            group="attributes",
            unit_in="files",
            unit_out="files",
            description=f"Content version of the file with attributes {name} beside one raw file.",
            partitioning=Partitioning.SHARD,
            compute=partial(attribute_file, name=name),
            code_version="1",
            io="records",
            inputs=(Input("inventory", tracked=False),),
            looks_outside=True,
            beside=name,
            hooks=FileHooks(name, having),
            kinds=("file",),
        )
        yield Stage(
            name=asset_name(name),
            group="attributes",
            unit_in="documents",
            unit_out="documents",
            description=f"Attributes {name} of every document, which somebody else made.",
            partitioning=Partitioning.SHARD,
            compute=partial(given_attributes, name=name),
            code_version="1",
            io="documents",
            inputs=(same("raw_source"), same("normalized_documents"), same(files_asset(name))),
            parameters=READING,
            hooks=GivenHooks(name),
            columns=ATTRIBUTE_COLUMNS,
            kinds=("jsonl", "dolma"),
        )
