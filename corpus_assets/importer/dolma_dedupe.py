"""Dolma's `dedupe` configuration as an entry of `dedupers`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpus_assets.importer.documents import add_documents
from corpus_assets.importer.dolma_tag import COMPAT
from corpus_assets.importer.draft import Draft, usable_name

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
    """Takes over a `dedupe` configuration: documents, what is compared, and the name of the attribute."""
    add_documents(draft, given.get("documents") or [], "documents", folder)
    draft.leave_all(given, REASONS)
    dedupe = given.get("dedupe") or {}
    harmless = {key: value for key, value in dedupe.items() if value not in (0, 1) or key not in PARTS}
    draft.leave_all(harmless, PARTS, "dedupe.")
    if (given.get("bloom_filter") or {}).get("read_only"):
        draft.leave("bloom_filter.read_only", "no deduper compares with an earlier filter; see contamination")
        return
    compared = _documents(draft, dedupe) if dedupe.get("documents") else _paragraphs(dedupe)
    if compared is None:
        return
    entry = {"name": usable_name(str(dedupe.get("name") or ""), "duplicated"), **compared}
    entry["skip_empty"] = bool(dedupe.get("skip_empty", False))
    entry |= {key: int(dedupe[key]) for key in ("min_length", "min_words") if dedupe.get(key)}
    if "min_words" in entry:
        draft.to_do.append("min_words turned deduplication off in Dolma; here it leaves out short texts")
    else:
        entry["compat"] = COMPAT
    draft.add("dedupers", entry)


def _documents(draft: Draft, dedupe: Mapping[str, Any]) -> dict[str, Any] | None:
    key = str(dedupe["documents"].get("key"))
    bare = key.removeprefix("$.")
    if key == bare or not (bare == "text" or bare.startswith("metadata.")):
        draft.leave("dedupe.documents.key", f"{key!r}; valid: $.text, or $.metadata.KEY")
        return None
    by = "url" if bare == "metadata.url" else bare
    return {"by": by, "attribute": dedupe["documents"].get("attribute_name")}


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
