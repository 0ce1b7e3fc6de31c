"""Dolma's `dedupe` configuration as an entry of `dedupers`."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from corpus_assets.importer.documents import add_documents, are_all, narrowed
from corpus_assets.importer.dolma.tag import COMPAT
from corpus_assets.importer.draft import Draft, Filled, usable_name

_NAME = r"\.([A-Za-z_][\w-]*)|\[\s*'([^'.]+)'\s*\]|\[\s*\"([^\".]+)\"\s*\]"
_PATH = re.compile(rf"\$(?:{_NAME})+")
_FIELDS = ("text", "id", "added", "created")
_READ_ONLY = "bloom_filter.read_only"
_NAMES = {"name", "attribute"}
REASONS = {
    "bloom_filter": "texts are compared exactly; `bloom` of the entry is for corpora beyond that",
    "is_s3_volume": "the store writes every file at once",
    "compression": "the suffix of a file says how it is packed",
    "work_dir": "temporary files lie in the store",
    "dryrun": "`corpus plan` says what would be done",
}
PARTS = {
    "num_partitions": "one deduper sees everything, in bounded memory",
    "partition_index": "one deduper sees everything, in bounded memory",
    "file_partition": "one deduper sees everything, in bounded memory",
    "document_dir": "paths are those of the sources",
}


def import_dedupe(draft: Draft, given: Mapping[str, Any], folder: Path) -> None:
    """Imports a `dedupe` configuration: its documents, the compared field, and the name of the attribute."""
    sources = add_documents(draft, given.get("documents") or [], "documents", folder)
    draft.leave_all(given, REASONS)
    dedupe = given.get("dedupe") or {}
    harmless = {key: value for key, value in dedupe.items() if value not in (0, 1) or key not in PARTS}
    draft.leave_all(harmless, PARTS, "dedupe.")
    compared = _documents(draft, dedupe) if dedupe.get("documents") else _paragraphs(dedupe)
    if compared is None:
        return
    entry: dict[str, Any] = {"name": usable_name(given_name(dedupe), "duplicated"), **compared}
    entry["skip_empty"] = bool(dedupe.get("skip_empty", False))
    entry |= {key: int(dedupe[key]) for key in ("min_length", "min_words") if dedupe.get(key)}
    if "min_words" in entry:
        draft.to_do.append("min_words turned deduplication off in Dolma; here it leaves out short texts")
    else:
        entry["compat"] = COMPAT
    _add(draft, entry, given.get("bloom_filter") or {}, sources)


def given_name(dedupe: Mapping[str, Any]) -> str:
    """Returns the name of a deduper; the toolkit takes that of the attribute if there is none."""
    parts = [dedupe.get(key) or {} for key in ("documents", "paragraphs")]
    named = (part.get("attribute_name") for part in parts if isinstance(part, Mapping))
    return str(dedupe.get("name") or next((name for name in named if name), ""))


def is_read_only(given: Mapping[str, Any]) -> bool:
    """Returns whether a configuration only reads a filter that another one filled."""
    bloom = given.get("bloom_filter")
    return isinstance(bloom, dict) and bool(bloom.get("read_only"))


def _add(draft: Draft, entry: dict[str, Any], bloom: Mapping[str, Any], sources: dict[str, list[str]]) -> None:
    """Adds an entry. sources: the patterns of its documents by source."""
    compared = {key: value for key, value in entry.items() if key not in _NAMES}
    given, file = str(entry["name"]), str(bloom.get("file"))
    if not bloom.get("read_only"):
        if bloom.get("file") and _is_filled_already(draft, entry, file, sources):
            return
        draft.filters[file] = Filled(compared, {name: set(globs) for name, globs in sources.items()}, entry)
    elif (why := _why_not_against(draft.filters.get(file), compared, sources)) is not None:
        draft.leave(_READ_ONLY, why)
        return
    else:
        entry["against"] = list(draft.filters[file].sources)
        draft.filters[file].readers.append(entry)
    entry["name"] = draft.free_name("dedupers", given)
    draft.experiments.setdefault(given, []).append(entry["name"])
    draft.add("dedupers", entry)
    draft.read.append(("dedupers", entry, {name: list(globs) for name, globs in sources.items()}))


def _is_filled_already(draft: Draft, entry: Mapping[str, Any], file: str, sources: Mapping[str, list[str]]) -> bool:
    """Returns whether an equal entry fills the same filter; if so, that entry gets the documents of both."""
    filled = draft.filters.get(file)
    if filled is None or filled.entry is None:
        return False
    if filled.entry != entry:
        draft.leave(
            "bloom_filter.file",
            f"{filled.entry['name']} and {entry['name']} fill {file!r}; here each compares its own documents alone",
        )
        return False
    for _, _, read in (one for one in draft.read if one[1] is filled.entry):
        for name, globs in sources.items():
            known = read.setdefault(name, [])
            known += (glob for glob in globs if glob not in known)
            filled.sources.setdefault(name, set()).update(globs)
    return True


def narrow(draft: Draft) -> None:
    """Limits entries to the documents of their configurations, and leaves out entries for which this is impossible.

    Call it once all documents are known.
    """
    for section, entry, sources in draft.read:
        if entry not in draft.values.get(section, []) or are_all(draft, sources):
            continue
        if section == "attributes":
            draft.to_do.append(f"{entry['name']} describes all documents here, and in Dolma those of {_shown(sources)}")
        elif not sources or (globs := narrowed(draft, sources)) is None:
            why = f"patterns of {entry['name']} are not the same in each folder; give each folder the same"
            draft.leave("documents", why if sources else f"{entry['name']} has no documents that could be a source")
            draft.values["dedupers"].remove(entry)
        else:
            entry |= {"sources": list(sources), **({"glob": globs} if globs else {})}


def _shown(sources: Mapping[str, Iterable[str]]) -> str:
    return ", ".join(f"{name}: {' '.join(globs)}" for name, globs in sources.items()) or "no folder"


def check_against(draft: Draft) -> None:
    """Leaves out entries that would compare with more documents than filled their filter.

    Call it once all documents are known.
    """
    for filled in draft.filters.values():
        if filled.readers and filled.sources != _globs(draft, filled.sources):
            where = ", ".join(filled.sources)
            draft.leave(_READ_ONLY, f"sources {where} have more documents than those that filled the filter")
            for entry in filled.readers:
                draft.values["dedupers"].remove(entry)


def _globs(draft: Draft, names: Iterable[str]) -> dict[str, set[str]]:
    """Returns the patterns of sources by name."""
    found = {source["name"]: source["glob"] for source in draft.values["sources"] if source["name"] in set(names)}
    return {name: {glob} if isinstance(glob, str) else set(glob) for name, glob in found.items()}


def _why_not_against(filled: Filled | None, compared: Mapping[str, Any], sources: Iterable[str]) -> str | None:
    if filled is None or not filled.sources:
        return "import it together with the configuration that fills this filter"
    if filled.compared != compared:
        return "the configuration that fills this filter compares other things than this one"
    if both := sorted(filled.sources.keys() & set(sources)):
        return (
            f"its documents and those that fill the filter are both in source {both[0]}; give the latter a source of "
            "their own, and name that in `against`"
        )
    return None


def _documents(draft: Draft, dedupe: Mapping[str, Any]) -> dict[str, Any] | None:
    key = str(dedupe["documents"].get("key"))
    by = _compared(key)
    if by is None:
        draft.leave("dedupe.documents.key", f"{key!r}; valid: $.{', $.'.join(_FIELDS)}, or $.metadata.KEY")
        return None
    return {"by": by, "attribute": dedupe["documents"].get("attribute_name")}


def _compared(key: str) -> str | None:
    """Translates a JSONPath of names; returns None for other paths, and for the source, which gets a new name.

    Keys that are no fields of a document are looked up in its metadata.
    """
    if not _PATH.fullmatch(key):
        return None
    names = ["".join(found) for found in re.findall(_NAME, key)]
    if names in [[name] for name in _FIELDS]:
        return names[0]
    if names[0] in (*_FIELDS, "source") or names == ["metadata"]:
        return None
    inside = names[1:] if names[0] == "metadata" else names
    return "url" if inside == ["url"] else ".".join(["metadata", *inside])


def _paragraphs(dedupe: Mapping[str, Any]) -> dict[str, Any]:
    paragraphs = dedupe.get("paragraphs") or {}
    entry: dict[str, Any] = {"by": "paragraphs", "attribute": paragraphs.get("attribute_name")}
    if separator := paragraphs.get("paragraph_separator"):
        entry["separator"] = separator
    ngram = paragraphs.get("by_ngram") or {}
    if ngram.get("ngram_length"):
        entry["by"] = "ngrams"
        entry["ngram"] = {
            "length": int(ngram["ngram_length"]),
            "stride": max(1, int(ngram.get("stride") or 0)),
            "threshold": float(ngram.get("overlap_threshold", 1.0)),
            "skip_short": bool(ngram.get("skip_short_paragraphs", False)),
        }
    return entry
