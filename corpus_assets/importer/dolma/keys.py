"""Which key of corpus.yaml holds each key of the Dolma toolkit, and a reason for every key that none holds."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from corpus_assets.importer.dolma.dedupe import given_name
from corpus_assets.importer.draft import Draft, usable_name

_SOURCES = "sources[].location and glob"
_DEDUPERS = {
    "dedupe.name": "dedupers[].name",
    "dedupe.documents.key": "dedupers[].by",
    "dedupe.documents.attribute_name": "dedupers[].attribute",
    "dedupe.paragraphs.attribute_name": "dedupers[].attribute",
    "dedupe.paragraphs.paragraph_separator": "dedupers[].separator",
    "dedupe.paragraphs.by_ngram.ngram_length": "dedupers[].ngram.length",
    "dedupe.paragraphs.by_ngram.stride": "dedupers[].ngram.stride",
    "dedupe.paragraphs.by_ngram.overlap_threshold": "dedupers[].ngram.threshold",
    "dedupe.paragraphs.by_ngram.skip_short_paragraphs": "dedupers[].ngram.skip_short",
    "dedupe.skip_empty": "dedupers[].skip_empty",
    "dedupe.min_length": "dedupers[].min_length",
    "dedupe.min_words": "dedupers[].min_words",
}
_RULES = {
    "filter.include": "include",
    "filter.exclude": "exclude",
    "filter.syntax": "syntax",
    "output.min_text_length": "min_text_length",
    "output.discard_fields": "discard_fields",
    "span_replacement.span": "span_replacement[].span",
    "span_replacement.syntax": "span_replacement[].syntax",
    "span_replacement.min_score": "span_replacement[].min_score",
    "span_replacement.max_score": "span_replacement[].max_score",
    "span_replacement.replacement": "span_replacement[].replacement",
    "attributes": "attributes",
}
_STREAMS = {
    "name": "streams[].name",
    "output.max_size_in_bytes": "streams[].max_size",
    "compression.output": "streams[].codec",
}
TAKEN: Mapping[str, str] = {
    "documents": _SOURCES,
    "processes": "engine.workers",
    "taggers": "attributes[].taggers",
    "experiment": "attributes[].name",
    **_DEDUPERS,
    "bloom_filter.read_only": "dedupers[].against",
}
"""Our keys by those of `tag` and `dedupe`; entries of lists have no number."""
ONE_FILTER = "there is one filter for all documents, and no stream"


def name_all(draft: Draft, values: Mapping[str, Any]) -> None:
    """Records for every key of a configuration which of ours holds it; a key that is not known is left out.

    Call it once everything is imported.
    """
    if "dedupe" in values and not _has_deduper(draft, values):
        draft.leave("dedupe", "no entry could be made of it; the reasons are beside this one")
    for key, value in _leaves(values):
        plain = re.sub(r"\.\d+(?=\.|$)", "", key)
        if _is_left(draft, key):
            continue
        if (ours := _ours(draft, plain)) is not None:
            draft.take(key, ours)
        elif plain == "streams.name":
            draft.leave(key, ONE_FILTER)
        elif value in (None, False, 0, "", [], {}):
            draft.leave(key, f"{value!r} turns it off, so there is nothing to take over")
        else:
            draft.leave(key, "no key of the toolkit that is known here")


def _ours(draft: Draft, key: str) -> str | None:
    if not key.startswith("streams."):
        return "streams[].max_size" if key == "shuffle" and "streams" in draft.values else TAKEN.get(key)
    inside = key.removeprefix("streams.")
    if inside == "documents":
        return _SOURCES
    section = "streams[]" if "streams" in draft.values else "filter"
    if inside in _RULES:
        return f"{section}.{_RULES[inside]}"
    return _STREAMS.get(inside) if "streams" in draft.values else None


def _has_deduper(draft: Draft, values: Mapping[str, Any]) -> bool:
    name = usable_name(given_name(values["dedupe"] or {}), "duplicated")
    made = {entry["name"] for entry in draft.values.get("dedupers", [])}
    shared = {filled.entry["name"] for filled in draft.filters.values() if filled.entry}
    return bool(made & {*draft.experiments.get(name, ()), *(shared & {name})})


def _is_left(draft: Draft, key: str) -> bool:
    """Returns whether a key, or one above it, is left out."""
    parts = key.split(".")
    return any(".".join(parts[: end + 1]) in draft.left_out for end in range(len(parts)))


def _leaves(values: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Yields every value that is no mapping and no list of mappings, with its key."""
    if isinstance(values, Mapping) and values:
        for key, value in values.items():
            yield from _leaves(value, f"{above}.{key}" if above else str(key))
    elif isinstance(values, list) and any(isinstance(value, Mapping) for value in values):
        for place, value in enumerate(values):
            yield from _leaves(value, f"{above}.{place}")
    else:
        yield above, values
