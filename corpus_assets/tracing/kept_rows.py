"""The steps of a document before the mix: filter, short documents, duplicates, other attributes."""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from corpus_assets.dedup.documents.numbering import shard_source
from corpus_assets.dedup.shared import PAIR_THRESHOLD, stored_numbering
from corpus_assets.filter.assets import FILTERED, READ
from corpus_assets.filter.filtered_documents import CHANGES, Change
from corpus_assets.mix.kept import LEAVE_OUT, REASONS
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.origins import Origin, nth_row
from corpus_assets.tracing.resemblance import resemblance
from corpus_assets.tracing.step import Status, Step
from corpus_assets.tracing.tables import IDS, TEXTS, attribute_at, count_of, flag_at, id_at, rows_of_id
from resources.documents.names import document_name
from resources.formats.attributes import CLUSTER_SIZE, CONTAINED
from resources.formats.jsonl.compressions import JSONL
from resources.stage.partition import Partition
from resources.stage.settings import range_key

_CHANGE = msgspec.json.Decoder(Change)
_SHOWN = 10
_BLOCK = 1 << 20


def not_built(look: Look, stage: str, key: str | None, copy: int | None = None) -> Step:
    """Returns the step of a stage whose partition is missing."""
    words = f"it is not built ({look.state(stage, key)}): `corpus build`"
    return Step(stage, key, "unknown", words, copy=copy)


def filtered(look: Look, key: str, number: int, identifier: str) -> tuple[Step, int | None]:
    """Returns the step of the filter, and the number of the document among those that stayed; None if it did not."""
    made = look.partition(FILTERED, key)
    if made is None:
        return not_built(look, FILTERED, key), None
    stale = look.state(FILTERED, key)
    own, dropped = _changes(made, number) if made.has(CHANGES) else (None, np.empty(0, np.int64))
    if own is not None and own.id == identifier and own.dropped is not None:
        words = f"rule {own.dropped} dropped it: {own.found}" if own.found else f"rule {own.dropped} dropped it"
        details: dict[str, Any] = {"rule": own.dropped, "found": own.found}
        return Step(FILTERED, key, "dropped", words, own.dropped, stale=stale, details=details), None
    row = number - int(np.searchsorted(dropped, number))
    if row >= count_of(made) or id_at(made, row) != identifier:
        # It was made from other documents than the present ones.
        row = next(
            rows_of_id(made.array(TEXTS)["id_end"], made.array(IDS), identifier.encode("utf-8", "surrogatepass")), -1
        )
        if row < 0:
            return Step(FILTERED, key, "unknown", "it was made of other documents", stale=stale), None
    file = made.file(JSONL).path
    changed = (own.changed or {}) if own is not None and own.id == identifier else {}
    if not changed:
        return Step(FILTERED, key, "here", "no rule dropped or changed it", row=row, file=file, stale=stale), row
    words = "its text was changed: " + ", ".join(f"{count} by {rule}" for rule, count in changed.items())
    details = {"changed": changed, **_sizes(look, key, number, made, row)}
    return Step(FILTERED, key, "changed", words, row=row, file=file, stale=stale, details=details), row


def _changes(made: Partition, number: int) -> tuple[Change | None, Any]:
    """Returns the change of a document, if there was one, and the dropped rows, ascending."""
    own, dropped = None, []
    for line in made.lines(CHANGES):
        change = _CHANGE.decode(line)
        if change.row == number:
            own = change
        if change.dropped is not None:
            dropped.append(change.row)
    return own, np.array(dropped, np.int64)


def _sizes(look: Look, key: str, number: int, made: Partition, row: int) -> dict[str, int]:
    before = look.partition(READ, key)
    found = {} if before is None else {"bytes_before": int(before.array_rows(TEXTS, number, number + 1)["bytes"][0])}
    return {**found, "bytes": int(made.array_rows(TEXTS, row, row + 1)["bytes"][0])}


def number_before_filter(look: Look, key: str, row: int) -> int:
    """Returns the number of a document that stayed among those before the filter."""
    made = look.partition(FILTERED, key)
    if made is None or not made.has(CHANGES):
        return row
    return nth_row(row, _changes(made, -1)[1].astype(np.uint64))


def left_out_by(look: Look, key: str) -> list[str]:
    """Returns the attributes whose flagged documents the mix leaves out, in the order in which they are asked."""
    mixed = look.partition("mixed_pass1", key)
    if mixed is None:
        return list(look.corpus.settings.get(LEAVE_OUT))
    return list(mixed.record.parameters[LEAVE_OUT])


def is_left_out(look: Look, key: str, row: int) -> bool:
    """Returns whether an attribute keeps a document out of the mix."""
    asked = (look.partition(name, key) for name in left_out_by(look, key))
    return any(flag_at(attribute, row) for attribute in asked if attribute is not None)


def described(look: Look, key: str, row: int) -> Iterator[Step]:
    """Yields the steps of the attributes that decide whether a document is mixed; after one that drops it, no more.

    row: of the document among those that the filter kept.
    """
    for name in left_out_by(look, key):
        attribute = look.partition(name, key)
        if attribute is None:
            yield not_built(look, name, key)
            return
        if row >= (attribute.file(JSONL).rows or 0):
            words = "it was made of other documents: `corpus build`"
            yield Step(name, key, "unknown", words, stale=look.state(name, key))
            return
        step = _STEPS.get(name, _attribute)(look, attribute, row)
        yield step
        if step.status == "dropped":
            return


def _attribute(look: Look, attribute: Partition, row: int) -> Step:
    name, flagged = attribute.record.asset, flag_at(attribute, row)
    words = f"{name} flags it, so it is not mixed" if flagged else f"{name} does not flag it"
    return _of_flag(look, attribute, row, words, flagged=flagged)


def _of_flag(look: Look, attribute: Partition, row: int, words: str, *, flagged: bool, **more: Any) -> Step:
    name, key = attribute.record.asset, attribute.key
    reason = REASONS.get(name, name) if flagged else None
    status: Status = "dropped" if flagged else "here"
    file = attribute.file(JSONL).path
    return Step(name, key, status, words, reason, row, file, stale=look.state(name, key), **more)


def _short(look: Look, attribute: Partition, row: int) -> Step:
    threshold = attribute.record.parameters["short_documents.threshold"]
    flagged = flag_at(attribute, row)
    details: dict[str, Any] = {"threshold": threshold}
    documents = look.partition(look.documents, attribute.key)
    shown = "its cleaned text"
    if documents is not None:
        details["cleaned"] = int(documents.array_rows(".lengths.npy", row, row + 1)["cleaned"][0])
        shown = f"its cleaned text of {details['cleaned']:,} characters"
    words = f"{shown} is {'shorter than' if flagged else 'at least'} {threshold}"
    return _of_flag(look, attribute, row, words, flagged=flagged, details=details)


def _duplicate(look: Look, attribute: Partition, row: int) -> Step:
    found = attribute_at(attribute, row)
    if found.kept is None:
        others = _in_its_stead(look, attribute.key or "", row)
        words = f"it is kept, and {others['cluster_size'] - 1} others are removed" if others else "it is no duplicate"
        return _of_flag(look, attribute, row, words, flagged=False, details=others)
    kept = found.kept
    size = int(found.attributes[CLUSTER_SIZE][0][2]) if CLUSTER_SIZE in found.attributes else 2
    other = document_after_filter(look, str(kept["shard"]), int(kept["row"]), str(kept["id"]))
    details: dict[str, Any] = {"cluster": kept["cluster"], "cluster_size": size}
    if CONTAINED in found.attributes:
        details["contained"] = found.attributes[CONTAINED][0][2]
    details |= _alike(look, attribute, row, str(kept["shard"]), int(kept["row"]))
    words = f"{_how(details)} {document_name(other.source, other.id)}, which is kept of {size} documents"
    return _of_flag(look, attribute, row, words, flagged=True, details=details, other=other)


def _how(details: dict[str, Any]) -> str:
    if details.get("equal"):
        return "its text is that of"
    if "contained" in details:
        return f"{details['contained']:.1%} of its shingles stand in"
    if "resemblance" not in details:
        return "it is a near-duplicate of"
    alike = f"resemblance {details['resemblance']:.3f}"
    threshold = details.get("threshold")
    if threshold is not None and details["resemblance"] < threshold:
        return f"it is, by way of others in its cluster, a near-duplicate ({alike}) of"
    return f"it is a near-duplicate ({alike}) of"


def _alike(look: Look, attribute: Partition, row: int, shard: str, kept_row: int) -> dict[str, Any]:
    own, kept = look.partition(look.documents, attribute.key), look.partition(look.documents, shard)
    verified = look.partition("verified_pairs", range_key(0))
    threshold = verified.record.parameters.get(PAIR_THRESHOLD) if verified is not None else None
    if own is None or kept is None or row >= count_of(own) or kept_row >= count_of(kept):
        return {}
    found = resemblance(look, (own, row), (kept, kept_row))
    return found if threshold is None or found.get("equal") else {**found, "threshold": threshold}


def document_after_filter(look: Look, shard: str, row: int, identifier: str) -> Origin:
    """Returns where a document comes from, given its row among those that the filter kept."""
    made = look.partition(READ, shard)
    if made is None:
        return Origin(shard_source(shard), identifier, shard)
    number = number_before_filter(look, shard, row) if look.documents == FILTERED else row
    known = number < count_of(made) and id_at(made, number) == identifier
    return look.origin(shard_source(shard), identifier, shard, number if known else None)


def _in_its_stead(look: Look, key: str, row: int) -> dict[str, Any]:
    """Returns the size of the cluster that a document is kept of, and some of the others; nothing if there is none."""
    whole = look.partition("components", None)
    if whole is None:
        return {}
    numbering = stored_numbering(whole)
    if key not in numbering.shards:
        return {}
    clusters, number = whole.array("clusters.npy"), numbering.first(key) + row
    block = numbering.block(clusters, key)
    place = int(np.searchsorted(block[:, 0], block.dtype.type(number)))
    if place == len(block) or int(block[place, 0]) != number or int(block[place, 1]) != number:
        return {}
    return {"cluster_size": int(block[place, 2]), "others": _others(look, numbering, clusters, number)}


def _others(look: Look, numbering: Any, clusters: Any, number: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for start in range(0, len(clusters), _BLOCK):
        block = clusters[start : start + _BLOCK]
        for member in block[(block[:, 1] == number) & (block[:, 0] != number), 0].tolist():
            shard, row = numbering.locate(member)
            documents = look.partition(look.documents, shard)
            if documents is not None and row < count_of(documents):
                found.append({"source": shard_source(shard), "id": id_at(documents, row), "shard": shard})
            if len(found) == _SHOWN:
                return found
    return found


_STEPS = {"short_documents": _short, "duplicates": _duplicate}
