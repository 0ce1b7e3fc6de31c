"""Dolma's `mix` configuration as `filter`."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.importer.documents import add_documents
from corpus_assets.importer.dolma_tag import COMPAT, add_entry
from corpus_assets.importer.draft import Draft, key_prefix, usable_name

REASONS = {
    "shuffle": "files keep their order; `mix` has its own",
    "work_dir": "temporary files lie in the store",
    "dryrun": "`corpus plan` says what would be done",
}
STREAM = {"compression": "the suffix of a file says how it is packed"}
OUTPUT = {
    "path": "filtered documents lie in the store, under storage.root",
    "max_size_in_bytes": "there is a file of filtered documents for each raw file",
}
FIELDS = ("added", "created", "metadata")


def import_mix(draft: Draft, given: Mapping[str, Any], folder: Path) -> None:
    """Takes over a `mix` configuration: documents of all streams, and the filter if all have the same."""
    draft.leave_all(given, REASONS)
    if given.get("shuffle") is False:
        draft.leave("shuffle", REASONS["shuffle"])
    filters = []
    for place, stream in enumerate(given.get("streams") or []):
        key = f"streams.{place}"
        add_documents(draft, stream.get("documents") or [], f"{key}.documents", folder)
        draft.leave_all(stream, STREAM, f"{key}.")
        draft.leave_all(stream.get("output") or {}, OUTPUT, f"{key}.output.")
        found, names = _filter(draft, stream, key), _entries(draft, stream, key)
        if names and any(found.get(name) for name in ("include", "exclude", "span_replacement")):
            found["attributes"] = names
        filters.append(found)
    if any(found != filters[0] for found in filters):
        draft.leave("streams", "each filters in its own way, and a corpus has one `filter`; make a corpus of each")
    elif filters and filters[0]:
        draft.values["filter"] = {**filters[0], "compat": COMPAT}


def _filter(draft: Draft, stream: Mapping[str, Any], key: str) -> dict[str, Any]:
    given, output = stream.get("filter") or {}, stream.get("output") or {}
    found: dict[str, Any] = {name: list(given[name]) for name in ("include", "exclude") if given.get(name)}
    if found and given.get("syntax"):
        found["syntax"] = given["syntax"]
    if replaced := [_replacement(entry) for entry in stream.get("span_replacement") or []]:
        found["span_replacement"] = replaced
    discarded = [name for name in output.get("discard_fields") or [] if name != "attributes"]
    for name in (name for name in discarded if name not in FIELDS):
        draft.leave(f"{key}.output.discard_fields", f"{name!r}; valid: {', '.join(FIELDS)}")
    if kept := [name for name in discarded if name in FIELDS]:
        found["discard_fields"] = kept
    if output.get("min_text_length"):
        found["min_text_length"] = int(output["min_text_length"])
    return found


def _replacement(entry: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: entry[name] for name in ("span", "replacement") if name in entry}
    scores = {name: float(entry[name]) for name in ("min_score", "max_score") if entry.get(name) is not None}
    return {**values, "syntax": entry.get("syntax") or "jsonpath", **scores}


def _entries(draft: Draft, stream: Mapping[str, Any], key: str) -> list[str]:
    """Returns the names of the attributes that expressions see, and says which of them nothing makes.

    Taggers that expressions name are added.
    """
    names = []
    for experiment in stream.get("attributes") or []:
        for tagger in dict.fromkeys(_named(str([stream.get("filter"), stream.get("span_replacement")]), experiment)):
            add_entry(draft, experiment, [tagger], f"{key}.attributes")
        name = usable_name(experiment, "attributes")
        if draft.entry("attributes", name) or draft.entry("dedupers", name):
            names.append(name)
        else:
            draft.leave(
                f"{key}.attributes: {experiment}",
                "nothing here says what makes it; import its tag or dedupe configuration together with this one",
            )
    return names


def _named(expressions: str, experiment: str) -> Iterator[str]:
    """Yields the built-in taggers whose keys of an experiment occur in expressions."""
    by_key = {key_prefix(name): name for name in BUILT_IN}
    for match in re.finditer(rf"\b{re.escape(key_prefix(experiment))}__([A-Za-z0-9_]+?)__", expressions):
        if match[1] in by_key:
            yield by_key[match[1]]
