"""The processing steps of a corpus's texts, in order, a sentence each, from its configuration."""

from collections.abc import Iterator, Mapping
from typing import Any

from corpus_assets.config.text_fixes import TextFixes

Values = Mapping[str, Any]
_NORMALIZED = {
    "nfc": "Texts were normalized to Unicode NFC.",
    "ftfy": "Texts were mended with ftfy and normalized to Unicode NFC.",
    "none": "Texts were taken as they are.",
}


def steps(settings: Values) -> list[str]:
    """Returns the steps from raw rows to the splits."""
    return list(_steps(settings)) if settings["sources"] else []


def _steps(settings: Values) -> Iterator[str]:
    if settings["sample"]:
        yield "These are only a sample of the rows, chosen by keyed hashes to try things on."
    if settings["remove"]:
        yield "Documents on takedown lists were removed before anything else was made of them."
    yield _NORMALIZED[settings["normalize"]["method"]] + _unfixed(settings["normalize"])
    yield from _filtered(settings)
    yield f"Documents with fewer than {settings['short_documents']['threshold']:,} characters were left out."
    if "duplicates" in settings["mix"]["leave_out"]:
        threshold = settings["dedup"]["threshold"]
        yield (
            f"Of documents with equal texts, and of near-duplicates (Jaccard similarity of {threshold} or more by "
            f"MinHash), one was kept: {_kept(settings['dedup'])}."
        )
    for name in settings["mix"]["leave_out"]:
        if name not in ("short_documents", "duplicates"):
            yield f"Documents that {name} flags were left out."
    uses = [f"{source['name']} {source['epochs']:g} times" for source in settings["sources"] if source["epochs"] != 1]
    if uses:
        yield f"Documents were used more or less often than once: {', '.join(uses)}."
    yield f"Documents were shuffled over {settings['mix']['chunks']:,} chunks by keyed hashes."
    holdout = settings["split"]["holdout"]
    part = f"{holdout['count']:,} documents" if isinstance(holdout, Mapping) else f"{holdout:.2%}"
    yield f"Held out for validation and test: {part} of each source; texts that are in it were taken out of train."


def _unfixed(normalize: Values) -> str:
    """Returns what ftfy was told of what it changes, where that is not as usual."""
    fixes = TextFixes.model_validate(normalize.get("ftfy") or {}).unlike_default()
    said = ", ".join(f"{key} {value}" for key, value in fixes.items())
    return f" It was told otherwise than usual: {said}." if said else ""


def _filtered(settings: Values) -> Iterator[str]:
    allowed = settings["licences"]["allow"]
    if allowed is not None:
        yield f"Documents were held back unless their licence is among: {', '.join(allowed)}."
    taggers = [name for entry in settings["attributes"] for name in entry.get("taggers", ())]
    if taggers:
        yield f"Documents were described by the taggers {', '.join(taggers)}."
    if given := [entry["name"] for entry in settings["attributes"] if "location" in entry]:
        yield f"Attributes of documents that others had made were added: {', '.join(given)}."
    if settings["filter"]:
        rules = settings["filter"].get("rules") or {}
        named = f": {', '.join(map(str, rules))}" if isinstance(rules, Mapping) and rules else ""
        yield f"Documents, and pieces of them, were removed by rules on these descriptions{named}."
        yield from _more_filtered(settings["filter"])
    for entry in settings["dedupers"]:
        if entry.get("kind") == "substrings":
            copies = "all but the first copy" if entry["keep"] == "first" else "every copy"
            what = f"Repeated substrings of {entry['min_length']} or more, {copies},"
            yield f"{what} were marked{_of_which(entry)} ({entry['name']})."
            continue
        if entry.get("kind") == "semantic":
            what = f"Documents that mean the same as one that is kept (cosine {entry['threshold']} or more)"
            yield f"{what} were marked{_of_which(entry)} ({entry['name']})."
            continue
        known = entry.get("against")
        what = "Repetitions" if known is None else f"Repetitions of what {', '.join(known)} have,"
        yield f"{what} by {entry['by']} were marked{_of_which(entry)} ({entry['name']})."
    if settings["benchmarks"]:
        names = ", ".join(entry["name"] for entry in settings["benchmarks"])
        done = {
            "report": "reported",
            "remove_document": "taken out with their documents",
            "remove_span": "cut out of their documents",
        }
        yield f"Items of the benchmarks {names} were looked for, and {done[settings['on_contamination']]}."


def _of_which(entry: Values) -> str:
    """Returns which documents a deduper looked at, in words; nothing for all."""
    globs = entry.get("glob")
    files = [f"files {', '.join([globs] if isinstance(globs, str) else globs)}"] if globs else []
    sources = [f"sources {', '.join(entry['sources'])}"] if entry.get("sources") else []
    return f" in {' of '.join([*files, *sources])}" if files or sources else ""


def _more_filtered(section: Values) -> Iterator[str]:
    """Yields what a filter does beside its rules."""
    if section.get("include"):
        yield f"Documents stayed only if one of these expressions matches them: {', '.join(section['include'])}."
    if section.get("exclude"):
        yield f"Documents were removed if one of these expressions matches them: {', '.join(section['exclude'])}."
    if section.get("min_text_length"):
        unit = "bytes" if section.get("compat") == "dolma" else "characters"
        yield f"Documents with texts of fewer than {section['min_text_length']:,} {unit} were removed."


def _kept(dedup: Values) -> str:
    """Returns which of equal documents stays, rule by rule."""
    first = f" ({', '.join(dedup['priority'])} first)" if dedup["priority"] else ""
    earliest = "that of the earliest source"
    words = {"source": f"{earliest}{first}", "longest": "the longest", "newest": "the newest", "first": earliest}
    return ", of several ".join(words[rule] for rule in dedup["keep"])
