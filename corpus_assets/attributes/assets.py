"""Stages of attributes: one per entry of `attributes`, whose taggers run together over every document of a shard."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
from typing_extensions import override

from corpus_assets.attributes.compiled import of_taggers
from corpus_assets.attributes.registry import named_tagger
from corpus_assets.attributes.tagging import Named, TaggerError, attributes_of, key_part
from corpus_assets.attributes.wheels import wheel_version
from resources.documents.looked_for import LookedFor, absent_names, numbers_of
from resources.documents.score_histograms import ScoreHistograms
from resources.documents.tagger import Load, Tagger
from resources.errors import BadFileError, ConfigError
from resources.formats.documents import Document
from resources.outside.agreed import MisreadError
from resources.outside_files import OutsideFile, outside_digest, require_digest
from resources.stage.declaration import Partitioning, Stage, same
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition
from resources.stage.task import Task

_READINGS = 4

Files = Mapping[str, Mapping[str, Sequence[str]]]
"""Paths by tagger and option."""

ATTRIBUTE_COLUMNS = {
    "id": "string: of the document in the same row",
    "attributes": "json: name of each attribute to its spans, [start, end, value] in code points",
    "source": "string: of the document",
}


@dataclass(frozen=True)
class Entry:
    """A configured entry for its stage, with taggers in the order of their names.

    place: its key in corpus.yaml, for messages.
    """

    name: str
    place: str
    taggers: tuple[Tagger, ...]
    compat: str | None

    def functions(self, files: Files, digests: Mapping[str, str]) -> list[Named]:
        """Returns the taggers' functions, and the keys that they fill.

        files: the files of each tagger by option. digests: the digest of each, by the recipe's key.
        """
        return [self._named(tagger, files.get(tagger.name, {}), digests) for tagger in self.taggers]

    def _named(self, tagger: Tagger, files: Mapping[str, Sequence[str]], digests: Mapping[str, str]) -> Named:
        loaders, held = tagger.loaders(self.compat), {}
        for option, paths in files.items():
            digest = digests[f"attributes.{self.name}.{option}.{tagger.name}"]
            held[option] = loaded(loaders[option], self.option_key(tagger, option), paths, digest)
        function = tagger.function(self.compat)
        prefix = f"{key_part(self.name)}__{key_part(tagger.name)}__"
        unread = sum(getattr(value, "unread_lines", 0) for value in held.values())
        return Named(tagger.name, prefix, partial(function, **held) if held else function, unread)

    @property
    def reads(self) -> dict[str, list[str]]:
        """Keys of the metadata that its taggers read, as `metadata.KEY`, by the place in corpus.yaml."""
        reading = {f"{self.place}.taggers: {tagger.name} reads": tagger.reads for tagger in self.taggers}
        return {place: [f"metadata.{key}" for key in keys] for place, keys in reading.items() if keys}

    def option_key(self, tagger: Tagger, option: str) -> str:
        """Returns the place of a tagger's option in corpus.yaml."""
        return f"{self.place}.options.{tagger.name}.{option}"


def names_of_metadata(document: Document) -> list[str]:
    """Returns the keys of a document's metadata that are not null, as `metadata.KEY`."""
    raw = bytes(document.metadata)
    return [f"metadata.{key}" for key, value in _FIELDS.decode(raw).items() if bytes(value) != b"null"] if raw else []


_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def attributes(task: Task, entry: Entry) -> None:
    """Runs taggers over a shard's documents; writes one row of attributes for each."""
    functions = entry.functions(task.run_options, task.parameters)
    looked_for = LookedFor("documents", entry.reads)
    scores = ScoreHistograms()
    with task.attributes(entry.name) as out:
        for row, document in enumerate(task.input("normalized_documents").documents()):
            try:
                found = attributes_of(document, functions)
            except TaggerError as error:
                raise BadFileError(f"{task.shard.label} (document {row}, id {document.id!r})", str(error)) from error
            out.add(document, found)
            scores.add(found)
            if looked_for.wants_any:
                looked_for.add(names_of_metadata(document))
    task.count(histograms=scores.histograms(), rows_in=out.rows, rows_out=out.rows, spans=scores.spans)
    task.count(**numbers_of(looked_for))
    if scores.uncounted:
        task.count(scores_without_histogram=scores.uncounted)
    if unread := {named.name: named.unread_lines for named in functions if named.unread_lines}:
        task.count(unread_lines_of_lists=unread)


_LOADED: dict[tuple[str, str], Any] = {}


def loaded(load: Load, option: str, paths: Sequence[str], digest: str) -> Any:
    """Returns the loaded content of files; a worker reads them once for all taggers with the same reader.

    Raises `CorpusError` if they changed since the plan, and `MisreadError` if they are repeatedly misread. option: the
    configuration key that names them. digest: of their content.
    """
    require_digest(option, paths, digest)
    known = (_known_as(load), digest)
    if known not in _LOADED:
        found = _load(load, option, paths, digest)
        require_digest(option, paths, digest)
        _LOADED[known] = found
    return _LOADED[known]


def _load(load: Load, option: str, paths: Sequence[str], digest: str) -> Any:
    for _ in range(_READINGS - 1):
        with suppress(MisreadError):
            return load([OutsideFile(path) for path in paths])
        require_digest(option, paths, digest)
    return load([OutsideFile(path) for path in paths])


def _known_as(value: Any) -> str:
    """Returns a name of a function that is equal for its copies, since every job brings one."""
    if isinstance(value, partial):
        return f"{_known_as(value.func)} {[(key, _known_as(given)) for key, given in sorted(value.keywords.items())]}"
    return f"{value.__module__}.{value.__qualname__}" if callable(value) else repr(value)


def asset_name(entry: str) -> str:
    """Returns the asset of an entry of `attributes`."""
    return f"{entry}_attributes"


def attribute_stages(entries: Iterable[Mapping[str, Any]], known: Mapping[str, Tagger]) -> Iterator[Stage]:
    """Yields the stage of each entry that has taggers. known: all taggers by name."""
    for place, values in enumerate(entries):
        if "taggers" not in values:
            continue
        names, key = sorted(values["taggers"]), f"attributes.{place}"
        entry = Entry(
            values["name"],
            key,
            tuple(named_tagger(name, known, f"{key}.taggers") for name in names),
            values["compat"],
        )
        _require_options(entry, values["options"])
        yield _stage(entry)


def _require_options(entry: Entry, options: Mapping[str, Mapping[str, Any]]) -> None:
    """Raises `ConfigError` for an option that a tagger lacks, or does not have."""
    for tagger in entry.taggers:
        given = [option for option, value in options.get(tagger.name, {}).items() if value is not None]
        if unknown := [option for option in given if option not in tagger.files]:
            valid = ", ".join(tagger.files) or "none; leave it out"
            raise ConfigError(
                f"{entry.option_key(tagger, unknown[0])}: {tagger.name} has no such option; valid: {valid}"
            )
        if missing := [option for option in tagger.files if option not in given]:
            key = entry.option_key(tagger, missing[0])
            raise ConfigError(f"{key}: missing, but {tagger.name} needs it: the path of a local file")


@dataclass(frozen=True)
class EntryHooks(Hooks):
    """The hooks of the stage of an entry."""

    entry: Entry

    @override
    def derived_parameters(self, settings: Values) -> Values:
        """Returns the parameters of rows: versions of taggers and libraries, digests of files, and `compat`.

        `ConfigError` names a library that is not installed, or a file that cannot be read.
        """
        entry, key, files = self.entry, f"attributes.{self.entry.name}", self.run_options(settings)
        found: dict[str, Any] = {
            f"{key}.taggers.{tagger.name}": tagger.version_of(entry.compat) for tagger in entry.taggers
        }
        for tagger in entry.taggers:
            what = f"{entry.place}.taggers: {tagger.name}"
            found |= {f"{key}.wheels.{wheel}": wheel_version(wheel, tagger.extra, what) for wheel in tagger.wheels}
            for option, paths in files.get(tagger.name, {}).items():
                found[f"{key}.{option}.{tagger.name}"] = outside_digest(entry.option_key(tagger, option), paths)
        return {**found, f"{key}.compat": entry.compat}

    @override
    def run_options(self, settings: Values) -> Values:
        """Returns the paths of the files that its taggers read, by tagger and option."""
        (values,) = (values for values in settings["attributes"] if values["name"] == self.entry.name)
        return {
            name: {option: paths if isinstance(paths, list) else [paths] for option, paths in options.items() if paths}
            for name, options in values["options"].items()
        }

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return of_taggers((tagger.name for tagger in self.entry.taggers), self.entry.compat)

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterable[str]:
        return absent_names(partitions, settings)


def _stage(entry: Entry) -> Stage:
    return Stage(
        name=asset_name(entry.name),
        group="attributes",
        unit_in="documents",
        unit_out="documents",
        description=f"Attributes of every document: {', '.join(tagger.name for tagger in entry.taggers)}.",
        partitioning=Partitioning.SHARD,
        compute=partial(attributes, entry=entry),
        code_version="1",
        io="documents",
        inputs=(same("normalized_documents"),),
        hooks=EntryHooks(entry),
        columns=ATTRIBUTE_COLUMNS,
        kinds=("jsonl", "dolma"),
    )
