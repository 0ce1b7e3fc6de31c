"""Dolma's `mix` configurations as `filter`, or as `streams` if their rules differ or do not cover all documents."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.importer.documents import add_documents, are_all, narrowed
from corpus_assets.importer.dolma.tag import COMPAT, add_entry
from corpus_assets.importer.draft import Draft, GivenStream, key_prefix, usable_name

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


LARGEST = 2 << 30
"""Bytes of an output file, if the configuration does not say."""


def import_mix(draft: Draft, given: Mapping[str, Any], folder: Path) -> None:
    """Imports the documents and rules of all streams of a `mix` configuration; `add_mixes` turns them into entries."""
    draft.leave_all(given, REASONS)
    whole = given.get("shuffle", True) is not False
    for place, stream in enumerate(given.get("streams") or []):
        key = f"streams.{place}"
        sources = add_documents(draft, stream.get("documents") or [], f"{key}.documents", folder)
        rules, names = _rules(stream), _entries(draft, stream, key, sources)
        draft.streams.append(GivenStream(key, stream, sources, rules, names, whole))


def add_mixes(draft: Draft) -> None:
    """Adds the streams of all `mix` configurations: as the filter if all have equal rules and all documents.

    Otherwise as `streams`. Call it once all documents are known.
    """
    found = [_with_entries(draft, stream) for stream in draft.streams]
    filters = [_filter(stream) for stream in found]
    together: dict[str, list[str]] = {}
    for stream in found:
        for name, patterns in stream.sources.items():
            together.setdefault(name, []).extend(patterns)
    if any(one != filters[0] for one in filters) or (found and not are_all(draft, together)):
        for stream in found:
            if entry := _stream(draft, stream):
                draft.add("streams", entry)
        return
    if not all(stream.whole for stream in found):
        draft.leave("shuffle", REASONS["shuffle"])
    for stream in found:
        output = stream.values.get("output") or {}
        draft.leave_all(stream.values, STREAM, f"{stream.key}.")
        draft.leave_all(output, OUTPUT, f"{stream.key}.output.")
        for name in (name for name in output.get("discard_fields") or [] if name not in FIELDS):
            why = "they lie in files of their own" if name == "attributes" else f"valid: {', '.join(FIELDS)}"
            draft.leave(f"{stream.key}.output.discard_fields", f"{name!r}; {why}")
    if filters and filters[0]:
        draft.values["filter"] = {**filters[0], "compat": COMPAT}


def _with_entries(draft: Draft, stream: GivenStream) -> GivenStream:
    """Returns a stream without the attributes of entries that could not be imported.

    Its rules name the keys of files as they are read.
    """
    made = [name for name in stream.attributes if draft.entry("attributes", name) or draft.entry("dedupers", name)]
    for name in (name for name in stream.attributes if name not in made):
        draft.leave(f"{stream.key}.attributes: {name}", "what makes it was not taken over")
    files = [key_prefix(name) for name in made if "location" in (draft.entry("attributes", name) or {})]
    return stream._replace(attributes=made, rules=_with_read_keys(stream.rules, files))


def _with_read_keys(rules: Any, files: Sequence[str]) -> Any:
    """Returns rules in which a key that is only the name of its files is named as it is read.

    Dolma's deduper writes such keys (docs/attributes.md "Attributes of others"). files: the names, as in keys.
    """
    if isinstance(rules, dict):
        return {name: _with_read_keys(value, files) for name, value in rules.items()}
    if isinstance(rules, list):
        return [_with_read_keys(value, files) for value in rules]
    if isinstance(rules, str):
        for name in files:
            rules = re.sub(rf"((?:\battributes|@)(?:\.|\[\s*[\"'])){name}(?!\w)", rf"\1{name}__{name}__{name}", rules)
    return rules


def _filter(stream: GivenStream) -> dict[str, Any]:
    """Returns the rules of a stream as the filter of the corpus."""
    found = dict(stream.rules)
    if kept := [name for name in _discarded(stream) if name in FIELDS]:
        found["discard_fields"] = kept
    if stream.attributes and any(found.get(name) for name in ("include", "exclude", "span_replacement")):
        found["attributes"] = stream.attributes
    return found


def _discarded(stream: GivenStream) -> list[str]:
    return list((stream.values.get("output") or {}).get("discard_fields") or [])


def _stream(draft: Draft, stream: GivenStream) -> dict[str, Any] | None:
    """Returns a stream as an entry of `streams`; None if it has no documents, or cannot be expressed."""
    glob, whole = narrowed(draft, stream.sources), stream.whole
    if not stream.sources or glob is None:
        draft.leave(stream.key, "its patterns are not the same in each folder; make a stream of each")
        return None
    found = {
        "name": draft.free_name("streams", usable_name(str(stream.values.get("name") or ""), "stream")),
        "sources": list(stream.sources),
        **({"glob": glob} if glob else {}),
        "attributes": stream.attributes,
        **stream.rules,
        "discard_fields": [name for name in _discarded(stream) if name not in ("id", "text")],
        "compat": COMPAT,
    }
    for name in (name for name in _discarded(stream) if name in ("id", "text")):
        draft.leave(f"{stream.key}.output.discard_fields", f"{name!r}: without it a row is no document")
    output, codec = stream.values.get("output") or {}, (stream.values.get("compression") or {}).get("output")
    draft.leave_all({"path": output.get("path")}, {"path": "rows of streams lie in the store"}, f"{stream.key}.output.")
    if whole:
        found["max_size"] = int(output.get("max_size_in_bytes") or LARGEST)
        found["codec"] = "zst" if codec == "zst" else "gz"
    if codec not in (None, "gz", "zst" if whole else "gz"):
        draft.leave(f"{stream.key}.compression", STREAM["compression"])
    return found


def _rules(stream: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the filter, the replacements and the minimum text length of a stream."""
    given, output = stream.get("filter") or {}, stream.get("output") or {}
    found: dict[str, Any] = {name: list(given[name]) for name in ("include", "exclude") if given.get(name)}
    if found and given.get("syntax"):
        found["syntax"] = given["syntax"]
    if replaced := [_replacement(entry) for entry in stream.get("span_replacement") or []]:
        found["span_replacement"] = replaced
    if output.get("min_text_length"):
        found["min_text_length"] = int(output["min_text_length"])
    return found


def _replacement(entry: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: entry[name] for name in ("span", "replacement") if name in entry}
    scores = {name: float(entry[name]) for name in ("min_score", "max_score") if entry.get(name) is not None}
    return {**values, "syntax": entry.get("syntax") or "jsonpath", **scores}


def _entries(draft: Draft, stream: Mapping[str, Any], key: str, sources: Iterable[str]) -> list[str]:
    """Returns the attributes available to expressions, and reports those that nothing makes and that are nowhere.

    Adds taggers that expressions name, and entries with the files that lie beside `documents`, as Dolma lays them out.
    """
    names: list[str] = []
    for experiment in stream.get("attributes") or []:
        for tagger in dict.fromkeys(_named(str([stream.get("filter"), stream.get("span_replacement")]), experiment)):
            add_entry(draft, experiment, [tagger], f"{key}.attributes")
        name = usable_name(experiment, "attributes")
        made = [name] if "taggers" in (draft.entry("attributes", name) or {}) else []
        made += (one for one in draft.experiments.get(name, []) if draft.entry("dedupers", one))
        names += (one for one in made if one not in names)
        if not made and (name := _add_files(draft, experiment, sources, key)):
            names += [name] if name not in names else []
        elif not made:
            draft.leave(
                f"{key}.attributes: {experiment}",
                "nothing here says what makes it; import its tag or dedupe configuration together with this one, or "
                f"read its files by an entry of `attributes` with `location: .../attributes/{experiment}`",
            )
    return names


def _add_files(draft: Draft, experiment: str, sources: Iterable[str], key: str) -> str:
    """Adds the files of an experiment as an entry of `attributes`; returns its name.

    Returns an empty text if the documents are in no folder `documents`, or the name cannot be that of an entry.
    """
    name = usable_name(experiment, "attributes")
    places = {source: PurePath(str((draft.entry("sources", source) or {}).get("location", ""))) for source in sources}
    if key_prefix(name) != key_prefix(experiment) or not places or any(p.name != "documents" for p in places.values()):
        return ""
    found = {source: str(place.parent / "attributes" / experiment) for source, place in places.items()}
    entry = draft.entry("attributes", name)
    if entry is None:
        entry = {"name": name, "location": {}}
        draft.add("attributes", entry)
    entry["location"] |= found
    draft.take(f"{key}.attributes: {experiment}", "attributes[].location")
    draft.remind(f"see that the files of {experiment} are in {', '.join(sorted(set(entry['location'].values())))}")
    return name


def _named(expressions: str, experiment: str) -> Iterator[str]:
    """Yields the built-in taggers whose keys under an experiment occur in expressions."""
    by_key = {key_prefix(name): name for name in BUILT_IN}
    for match in re.finditer(rf"\b{re.escape(key_prefix(experiment))}__([A-Za-z0-9_]+?)__", expressions):
        if match[1] in by_key:
            yield by_key[match[1]]
