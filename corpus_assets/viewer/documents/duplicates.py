"""Clusters of near-duplicates: a list, and in each the kept document beside the removed ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.containment.numbers import shares_of
from corpus_assets.dedup.containment.shared import HELD, UNITS
from corpus_assets.dedup.documents.numbering import Numbering, cluster_id, shard_source
from corpus_assets.dedup.shared import stored_numbering
from corpus_assets.dedup.signatures.sketches import estimate
from corpus_assets.html.comparing import compared
from corpus_assets.report.audit.result import build_of
from corpus_assets.report.audit.result import kept as kept_audit
from corpus_assets.report.audit.shown import COLUMNS, drawings, table
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.tables import TEXTS, count_of, id_at
from corpus_assets.viewer.browse import pages
from corpus_assets.viewer.lines import WHOLE, beginning, decoded
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.query import missing
from corpus_assets.viewer.reading import lines_at, lines_file
from corpus_assets.viewer.site import Asked, link, page, seen, short, way_link
from resources.documents.names import document_name, shown_id
from resources.documents.template_notes import of_templates
from resources.errors import NotBuiltError
from resources.hashing import keyed_hash
from resources.stage.partition import Partition

PER_PAGE = 10
MEMBERS = 20
COMPARED = 20_000
"""Characters of each text that are put side by side."""

_BLOCK = 1 << 20
_ASSET = "components"
Numbers = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class Clusters:
    """All clusters, largest first. kept: the document kept of each; sizes: its documents; position: of its shard."""

    partition: Partition
    numbering: Numbering
    table: Numbers
    kept: Numbers
    sizes: Numbers
    positions: NDArray[np.int64]

    @classmethod
    def of(cls, partition: Partition) -> "Clusters":
        """Reads which clusters there are, in blocks: two numbers of each are held."""
        numbering, table = stored_numbering(partition), partition.array("clusters.npy")
        found = [np.empty((0, 2), table.dtype)]
        for start in range(0, len(table), _BLOCK):
            block = table[start : start + _BLOCK]
            found.append(block[block[:, 0] == block[:, 1]][:, 1:])
        heads = np.concatenate(found)
        heads = heads[np.lexsort((heads[:, 0], -heads[:, 1].astype(np.int64)))]
        return cls(partition, numbering, table, heads[:, 0], heads[:, 1], numbering.shards_of(heads[:, 0]))

    def members(self, kept: int) -> list[int]:
        """Returns the documents of a cluster without the one kept, in order."""
        found: list[int] = []
        for start in range(0, len(self.table), _BLOCK):
            block = self.table[start : start + _BLOCK]
            found += block[(block[:, 1] == kept) & (block[:, 0] != kept), 0].tolist()
        return found

    def size_of(self, kept: int) -> int:
        """Returns how many documents a cluster has; 0 if that document is not kept of one."""
        places = np.flatnonzero(self.kept == kept)
        return int(self.sizes[places[0]]) if len(places) else 0


def _clusters(view: View) -> Clusters:
    if _ASSET not in view.corpus.graph.stages:
        raise missing("This corpus has no sources, so nothing is looked through for near-duplicates.")
    made = view.partition(_ASSET, None)
    if made is None:
        raise NotBuiltError(_ASSET, None, "Near-duplicates have not been looked for: components is not built.")
    return view.looks.get(f"clusters {made.record.digest}", lambda: Clusters.of(made))


def clusters(asked: Asked) -> str:
    """Shows the clusters, ten at a time: the largest first, or in a random order; of all sources, or kept of one."""
    view, query = asked.view, asked.query
    found = _clusters(view)
    sources = ["", *dict.fromkeys(found.numbering.sources)]
    source = query.one_of("source", sources)
    order = query.one_of("order", ["size", "random"])
    seed, start = query.number("seed"), query.number("from")
    chosen = np.arange(len(found.kept))
    if source:
        ours = np.array([one == source for one in found.numbering.sources])
        chosen = chosen[ours[found.positions]]
    if order == "random":
        chosen = chosen[np.random.default_rng(keyed_hash("clusters", seed)).permutation(len(chosen))]
    look = view.look()
    record = found.partition.record
    audit = kept_audit(view.corpus.storage, build_of(record))
    return page(
        asked,
        "duplicates.html",
        "Near-duplicates",
        clusters=[_row(look, found, place) for place in chosen[start : start + PER_PAGE].tolist()],
        source=source,
        sources=sources[1:],
        order=order,
        next_seed=seed + 1,
        removed=record.statistics.get("duplicates"),
        largest=record.statistics.get("largest"),
        number=len(found.kept),
        losses=_losses(record.numbers),
        by_template=list(of_templates(record.statistics, view.corpus.settings.values["dedup"]["template_share"])),
        judged=audit.judged if audit else 0,
        audit=table(audit) if audit else [],
        audit_columns=COLUMNS,
        drawings=drawings(audit) if audit else [],
        pages=pages(
            start,
            PER_PAGE,
            len(chosen),
            lambda at: link("duplicates", source=source, order=order, seed=seed or None, **{"from": at or None}),
        ),
    )


def _losses(numbers: Any) -> list[tuple[str, int, int, float]]:
    """Returns of each source how many documents were compared, how many went, and which share that is."""
    found = (numbers.get("losses") or {}).get("sources") or {}
    rows = ((name, int(one["documents"]), int(one["removed"])) for name, one in found.items())
    return [(name, documents, removed, removed / max(documents, 1)) for name, documents, removed in rows]


def _row(look: Look, found: Clusters, place: int) -> dict[str, Any]:
    kept, size = int(found.kept[place]), int(found.sizes[place])
    shard, row = found.numbering.locate(kept)
    text = _text(look, shard, row)
    others = found.members(kept)[:3] if size < 1000 else []
    return {
        "size": size,
        "source": shard_source(shard),
        "id": shown_id(_id(look, shard, row), 120),
        "href": link("duplicates", shard, row=row),
        "text": short(text, 300),
        "others": [
            {"name": _named(look, found.numbering, one), "href": link("duplicates", shard, row=row, member=n)}
            for n, one in enumerate(others)
        ],
        "more": size - 1 - len(others),
    }


def cluster(asked: Asked) -> str:
    """Shows one cluster: its documents, and the text of one of them beside that of the document kept."""
    view, query = asked.view, asked.query
    found = _clusters(view)
    shard = asked.path["shard"]
    if shard not in found.numbering.shards:
        raise missing(f"There is no shard {short(shard, 100)!r} among those that were compared.")
    row = query.number("row")
    kept = found.numbering.first(shard) + row
    size = found.size_of(kept)
    if not size or found.numbering.locate(kept) != (shard, row):
        raise missing(f"Row {row:,} of {short(shard, 100)} is kept of no cluster.")
    look, start = view.look(), query.number("from")
    members = found.members(kept)
    wanted = query.number("member", high=max(0, len(members) - 1))

    def here(member: int | None, at: int) -> str:
        return link("duplicates", shard, row=row, member=member, **{"from": at or None})

    shown = members[start : start + MEMBERS]
    alike = _resemblances(look, found.numbering, kept, [*shown, members[wanted]])
    held = _held(found.partition, [*shown, members[wanted]])
    other_shard, other_row = found.numbering.locate(members[wanted])
    texts = [_text(look, shard, row), _text(look, other_shard, other_row)]
    left, right = compared(*(text[:COMPARED] for text in texts))
    return page(
        asked,
        "cluster.html",
        f"Cluster {cluster_id(shard, row)}",
        name=cluster_id(shard, row),
        size=size,
        kept=_document(look, found.numbering, kept, alike, held),
        other=_document(look, found.numbering, members[wanted], alike, held),
        contained=found.partition.has(HELD),
        left=[(seen(text), same) for text, same in left],
        right=[(seen(text), same) for text, same in right],
        equal=bool(texts[0]) and texts[0] == texts[1],
        same_words=all(same for _, same in (*left, *right)),
        cut=COMPARED if max(map(len, texts)) > COMPARED else 0,
        members=[
            {**_document(look, found.numbering, one, alike, held), "compare": here(start + n, start)}
            for n, one in enumerate(shown)
        ],
        wanted=wanted - start,
        pages=pages(start, MEMBERS, len(members), lambda at: here(None, at)),
    )


def _document(
    look: Look, numbering: Numbering, number: int, alike: dict[int, float], held: dict[int, float]
) -> dict[str, Any]:
    shard, row = numbering.locate(number)
    made = look.partition(look.documents, shard)
    known = made is not None and row < count_of(made)
    return {
        "id": shown_id(_id(look, shard, row), 300),
        "source": shard_source(shard),
        "place": f"document {row:,} of {look.documents}/{shard}",
        "bytes": int(made.array_rows(TEXTS, row, row + 1)["bytes"][0]) if made is not None and known else None,
        "href": link("documents", look.documents, shard, row=row) if known else "",
        "why": way_link(shard_source(shard), _id(look, shard, row)),
        "alike": alike.get(number),
        "held": held.get(number),
    }


def _held(components: Partition, documents: list[int]) -> dict[int, float]:
    """Returns the share of its shingles that the kept one has, of each document that went for that reason."""
    if not components.has(HELD):
        return {}
    shares = shares_of(np.array(documents, dtype=np.uint64), components.array(HELD)).tolist()
    return {number: share / UNITS for number, share in zip(documents, shares, strict=True) if share}


def _named(look: Look, numbering: Numbering, number: int) -> str:
    shard, row = numbering.locate(number)
    return document_name(shard_source(shard), _id(look, shard, row), 100)


def _id(look: Look, shard: str, row: int) -> str:
    made = look.partition(look.documents, shard)
    return id_at(made, row) if made is not None and row < count_of(made) else f"row {row}"


def _text(look: Look, shard: str, row: int) -> str:
    made = look.partition(look.documents, shard)
    file = None if made is None else lines_file(made.record)
    if made is None or file is None or row >= (file.rows or 0):
        return ""
    (line,) = lines_at(made, look.corpus.storage, file, row, 1)
    value = decoded(line, WHOLE)
    return beginning(value) if isinstance(value, dict) else ""


def _resemblances(look: Look, numbering: Numbering, kept: int, others: list[int]) -> dict[int, float]:
    """Returns the similarity of documents to the kept one, 0 to 1, estimated from sketches; without unknown ones."""
    own = _sketch(look, numbering, kept)
    if own is None:
        return {}
    found = {}
    for number in dict.fromkeys(others):
        other = _sketch(look, numbering, number)
        if other is not None and other.shape == own.shape:
            bits = 8 * own.size
            found[number] = max(0.0, float(estimate(bits - int(np.unpackbits(own ^ other).sum()), bits)))
    return found


def _sketch(look: Look, numbering: Numbering, number: int) -> NDArray[np.uint8] | None:
    shard, row = numbering.locate(number)
    hashes = look.partition("minhashes", shard)
    if hashes is None or not hashes.has(".sketch.npy") or row >= (hashes.file(".sketch.npy").rows or 0):
        return None
    return np.asarray(hashes.array_rows(".sketch.npy", row, row + 1)[0])
