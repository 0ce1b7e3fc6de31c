"""Stages of attributes: one per entry of `attributes`, whose taggers run together over every document of a shard."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from corpus_assets.attributes.compiled import of_taggers
from corpus_assets.attributes.registry import named_tagger
from corpus_assets.attributes.tagging import Named, TaggerError, attributes_of, key_part
from resources.errors import BadFileError
from resources.stage.declaration import Partitioning, Stage, same
from resources.stage.task import Task
from resources.tagger import Tagger

ATTRIBUTE_COLUMNS = {"id": "string", "attributes": "json", "source": "string"}


@dataclass(frozen=True)
class Entry:
    """A configured entry as its stage needs it, taggers in the order of their names."""

    name: str
    taggers: tuple[Tagger, ...]
    compat: str | None

    def functions(self) -> list[Named]:
        """Returns the taggers' functions, and the keys that they fill."""
        prefixes = {tagger.name: f"{key_part(self.name)}__{key_part(tagger.name)}__" for tagger in self.taggers}
        return [Named(tagger.name, prefixes[tagger.name], self._function(tagger)) for tagger in self.taggers]

    def _function(self, tagger: Tagger) -> Any:
        return tagger.dolma if self.compat == "dolma" and tagger.dolma else tagger.tag


def attributes(task: Task, entry: Entry) -> None:
    """Runs taggers over a shard's documents; writes one row of attributes for each."""
    functions = entry.functions()
    spans = 0
    with task.attributes(entry.name) as out:
        for row, document in enumerate(task.input("normalized_documents").documents()):
            try:
                found = attributes_of(document, functions)
            except TaggerError as error:
                raise BadFileError(f"{task.shard.label} (document {row}, id {document.id!r})", str(error)) from error
            out.add(document, found)
            spans += sum(map(len, found.values()))
    task.count(rows_in=out.rows, rows_out=out.rows, spans=spans)


def asset_name(entry: str) -> str:
    """Returns the asset of an entry of `attributes`."""
    return f"{entry}_attributes"


def attribute_stages(entries: Iterable[Mapping[str, Any]], known: Mapping[str, Tagger]) -> Iterator[Stage]:
    """Yields the stage of each entry. known: all taggers by name."""
    for place, values in enumerate(entries):
        names: Sequence[str] = sorted(values["taggers"])
        taggers = tuple(named_tagger(name, known, f"attributes.{place}.taggers") for name in names)
        yield _stage(Entry(values["name"], taggers, values["compat"]))


def _stage(entry: Entry) -> Stage:
    return Stage(
        name=asset_name(entry.name),
        group="attributes",
        description=f"Attributes of every document: {', '.join(tagger.name for tagger in entry.taggers)}.",
        partitioning=Partitioning.SHARD,
        compute=partial(attributes, entry=entry),
        code_version="1",
        io="documents",
        inputs=(same("normalized_documents"),),
        derived_parameters=partial(entry_parameters, entry=entry),
        kernels=partial(_kernels, entry=entry),
        columns=ATTRIBUTE_COLUMNS,
        kinds=("jsonl", "dolma"),
    )


def _kernels(_settings: Mapping[str, Any], entry: Entry) -> tuple[str, ...]:
    return of_taggers(tagger.name for tagger in entry.taggers)


def entry_parameters(_settings: Mapping[str, Any], entry: Entry) -> dict[str, Any]:
    """Returns what rows depend on: the version of each tagger, and whose values they have."""
    key = f"attributes.{entry.name}"
    versions = {f"{key}.taggers.{tagger.name}": tagger.version for tagger in entry.taggers}
    return {**versions, f"{key}.compat": entry.compat}
