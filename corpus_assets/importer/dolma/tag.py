"""Dolma's `tag` configuration as entries of `attributes`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.importer.documents import add_documents
from corpus_assets.importer.draft import Draft, key_prefix, usable_name
from corpus_assets.importer.taggers import add_taggers
from resources.stage.graph import did_you_mean

COMPAT = "dolma"
REASONS = {
    "destination": "attributes lie in the store, under storage.root",
    "ignore_existing": "the plan knows what is fresh",
    "debug": "set `engine: {workers: 0}` for that",
    "dryrun": "`corpus plan` says what would be done",
    "profile": "records hold the seconds of every partition",
    "work_dir": "temporary files lie in the store",
    "skip_on_failure": "a document that a tagger fails at fails its shard, and the others go on",
}


def import_tag(draft: Draft, given: Mapping[str, Any], folder: Path) -> None:
    """Imports a `tag` configuration: documents, taggers, experiment and processes."""
    sources = add_documents(draft, given.get("documents") or [], "documents", folder)
    draft.leave_all(given, REASONS)
    for module in given.get("tagger_modules") or []:
        draft.leave("tagger_modules", f"{module!r}: write its taggers as functions (corpus docs attributes)")
    names = list(dict.fromkeys(given.get("taggers") or []))
    experiment = given.get("experiment")
    groups = {experiment: names} if experiment else {name: [name] for name in names}
    for name, taggers in groups.items():
        add_entry(draft, str(name), taggers, "taggers")
        if entry := draft.entry("attributes", usable_name(str(name), "attributes")):
            _add_read(draft, entry, sources)


def _add_read(draft: Draft, entry: dict[str, Any], sources: Mapping[str, list[str]]) -> None:
    """Records the documents that an entry describes; several configurations may share one entry."""
    read = next((known for _, other, known in draft.read if other is entry), None)
    if read is None:
        read = {}
        draft.read.append(("attributes", entry, read))
    for name, globs in sources.items():
        known = read.setdefault(name, [])
        known += (glob for glob in globs if glob not in known)


def add_entry(draft: Draft, experiment: str, taggers: Sequence[str], key: str) -> None:
    """Adds the built-in taggers to the entry of an experiment; others are left out.

    key: the key that names the taggers.
    """
    known = [name for name in taggers if _is_known(draft, name, key)]
    if not known:
        return
    name = usable_name(experiment, "attributes")
    if key_prefix(name) != key_prefix(experiment):
        draft.to_do.append(
            f"keys of {experiment!r} begin with {key_prefix(name)}__ now, not with {key_prefix(experiment)}__"
        )
    add_taggers(draft, name, known, compat=COMPAT)


def _is_known(draft: Draft, name: str, key: str) -> bool:
    if name not in BUILT_IN:
        near = did_you_mean(name, BUILT_IN)
        draft.leave(f"{key}: {name}", f"no tagger of this name is built in{near}")
    return name in BUILT_IN
