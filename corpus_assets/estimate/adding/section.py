"""The section of `corpus.yaml` for a source that is not in it yet, as `corpus init` would write it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from corpus_assets.beginning.drafts import Draft, drafts_of
from corpus_assets.beginning.looking.look import Look, look_at
from corpus_assets.beginning.looking.places import place_named
from corpus_assets.beginning.sources import Section, sections_of
from corpus_assets.beginning.writing import locations_in, nothing_in
from corpus_assets.config import CorpusConfig
from resources.errors import ConfigError

OPTION: Final = "--add"
_PLACED: Final = ("location", "glob")
_MOST_NAMED: Final = 5


@dataclass(frozen=True)
class Asked:
    """A source that may be added: its name, and where its raw files lie."""

    name: str
    location: str


def asked_of(given: str, config: CorpusConfig) -> Asked:
    """Returns what `NAME=LOCATION` asks for; `ConfigError` if it is no such, or the name is taken."""
    name, equals, location = given.partition("=")
    if not (equals and name and location):
        raise ConfigError(f"{OPTION}: received {given!r}; valid is NAME=LOCATION, such as web=raw/web")
    if config.sample is not None:
        raise ConfigError(f"{OPTION}: this is a sample; ask for the corpus.yaml of the whole, {config.sample.of}")
    if not config.sources:
        raise ConfigError(f"{OPTION}: the corpus has no sources, only datasets with files of their own")
    taken = {source.name: "source" for source in config.sources}
    taken |= {dataset.name: "dataset" for dataset in config.datasets}
    taken |= {benchmark.name: "benchmark" for benchmark in config.benchmarks}
    if name in taken:
        raise ConfigError(f"{OPTION}: there is a {taken[name]} {name!r}; give the source a name of its own")
    return Asked(name, location)


def section_of(asked: Asked, file: Path, changes: Sequence[str], say: Callable[[str], None]) -> dict[str, Any]:
    """Returns the section of a source, relative to the folder of `file`, from a look at its raw files.

    changes: `sources.NAME.KEY=VALUE` each. With any, files that the look cannot read are no error: the build says what
    is wrong. `ConfigError` in a sentence if nothing can be read, or if there are several kinds of files.
    """
    say(f"looking at {asked.location}")
    place = place_named(asked.location, asked_by=OPTION)
    where = locations_in(place, file)
    plain = {"name": asked.name, "location": where("")}
    look = look_at(place)
    drafts = drafts_of(look.families, [folder for folder, _ in look.left.unlisted])
    sections = sections_of(place, drafts, where)
    documents = [(draft, one) for draft, one in zip(drafts, sections, strict=True) if one.is_document]
    if not documents:
        if look.files and changes:
            return plain
        raise ConfigError(_no_documents(look, sections))
    found = [_without_place(one) for _, one in documents]
    if len(documents) == 1:
        return {"name": asked.name, **documents[0][1].values}
    if any(one != found[0] for one in found):
        if changes:
            return plain
        raise ConfigError(_several(asked, documents))
    return {**plain, "glob": [glob for draft, _ in documents for glob in _globs(draft)], **found[0]}


def _without_place(section: Section) -> Mapping[str, Any]:
    return {key: value for key, value in section.values.items() if key not in _PLACED}


def _globs(draft: Draft) -> list[str]:
    return [f"{draft.folder}/{glob}".lstrip("/") for glob in draft.globs or ("**/*",)]


def _no_documents(look: Look, sections: Sequence[Section]) -> str:
    if not sections:
        return nothing_in(look)
    return (
        f"{OPTION}: {look.place.given!r} holds no documents; seen: {sections[0].notes[0]} Such rows are files of a "
        "dataset's own (`corpus init` writes one)"
    )


def _several(asked: Asked, documents: Sequence[tuple[Draft, Section]]) -> str:
    kinds = [f"{one.name} ({one.notes[0].partition(';')[0]})" for _, one in documents[:_MOST_NAMED]]
    more = f" and {len(documents) - _MOST_NAMED} more" if len(documents) > _MOST_NAMED else ""
    return (
        f"{OPTION}: {asked.location!r} holds files of several kinds, each a source of its own: {', '.join(kinds)}"
        f"{more}; give one folder of them, or say how to read them, such as --set sources.{asked.name}.glob='*.jsonl'"
    )
