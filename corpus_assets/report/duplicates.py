"""Near-duplicates: numbers from the record of `components`, and some clusters with their texts. Repeated substrings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.html.comparing import Pieces, compared
from corpus_assets.report.model import Boilerplate, Cluster, Duplicates, Semantic, Substrings
from corpus_assets.report.records import Built, source_of, summed
from corpus_assets.report.texts import Place, beginning, read, shown
from resources.documents.template_notes import of_templates
from resources.formats.documents import Document
from resources.hashing import keyed_hash
from resources.stage.partition import Partition

COMPONENTS = "components"
LARGEST, RANDOM, MEMBERS = 6, 10, 2
_LOSSES, _SIZES, _PAIRS, _EXACT = "losses", "cluster_sizes", "who_duplicates_whom", "removed_exact"
_MOST_PAIRS = 2000
_GUARD = (
    "suspicious_clusters",
    "split_clusters",
    "documents_kept_by_splits",
    "kept_documents_joined",
    "unexamined_clusters",
)
_OF_SEMANTIC = ("rows_out", "compared", "flagged")
_OF_SUBSTRINGS = ("rows_out", "spans", "characters", "flagged", "boilerplate_spans")
_BOILERPLATE = 20
Members = NDArray[np.unsignedinteger[Any]]


def duplicates(built: Built, documents: str, share: float | None) -> Duplicates | None:
    """Returns the findings; None without deduplication.

    documents: the asset whose texts were compared. share: `dedup.template_share`.
    """
    for components in built.get(COMPONENTS, ()):
        numbers = components.record.statistics
        pairs, left_out = _largest_pairs(numbers.get(_PAIRS))
        return Duplicates(
            clusters=numbers.get("clusters", 0),
            removed=numbers.get("duplicates", 0),
            largest=numbers.get("largest", 0),
            sources=_losses(components),
            sizes=_sizes(numbers.get(_SIZES)),
            pairs=pairs,
            pairs_left_out=left_out,
            exact=numbers.get(_EXACT),
            contained=numbers.get("removed_contained"),
            shares=numbers.get("contained_shares", {}),
            by_template=list(of_templates(numbers, share)),
            templates=next((one.record.statistics["shingles"] for one in built.get("templates", ())), None),
            guard={name: numbers[name] for name in _GUARD if name in numbers},
            samples=_samples(components, built.get(documents, ())),
        )
    return None


def _losses(components: Partition) -> dict[str, dict[str, int]]:
    found = components.record.counters.get(_LOSSES, {})
    return {source: dict(loss) for source, loss in found.get("sources", {}).items()}


def _sizes(sizes: Any) -> dict[str, int] | None:
    """Returns the number of clusters by words for their size; counts are by powers of two, or by size."""
    if sizes is None:
        return None
    if isinstance(sizes, Mapping):
        return {str(size): int(count) for size, count in sizes.items()}
    return {power_of_two(place): int(count) for place, count in enumerate(sizes) if count}


def power_of_two(place: int) -> str:
    """Returns the sizes that the entry of a list counts: `0`, `1`, `2-3`, `4-7` and so on."""
    if place < 2:
        return str(place)
    return f"{1 << (place - 1)}-{(1 << place) - 1}"


def _largest_pairs(
    pairs: Mapping[str, Mapping[str, int]] | None,
) -> tuple[dict[str, dict[str, int]] | None, int]:
    """Returns the pairs of sources with most documents, and how many documents all others have together."""
    if pairs is None:
        return None, 0
    ordered = sorted(
        ((count, gone, kept) for gone, of in pairs.items() for kept, count in of.items()),
        key=lambda found: (-found[0], found[1:]),
    )
    chosen: dict[str, dict[str, int]] = {}
    for count, gone, kept in ordered[:_MOST_PAIRS]:
        chosen.setdefault(gone, {})[kept] = count
    return chosen, sum(count for count, _, _ in ordered[_MOST_PAIRS:])


def _samples(components: Partition, documents: Sequence[Partition]) -> list[Cluster]:
    """Returns the largest clusters and some by keyed hash, each with a few of its documents."""
    rows = components.array("clusters.npy")
    if not len(rows):
        return []
    chosen = _chosen_clusters(rows)
    members = _members_of(rows, [kept for kept, _, _ in chosen])
    place_of = _Places(components)
    texts = read(documents, (place_of(number) for kept, _, _ in chosen for number in (kept, *members[kept])))
    return [
        _cluster(size, texts[place_of(kept)], [texts[place_of(number)] for number in members[kept]], how)
        for kept, size, how in chosen
    ]


def _chosen_clusters(rows: NDArray[Any]) -> list[tuple[int, int, str]]:
    """Returns kept document, size and manner of choice of some clusters. Memory: a few bytes per cluster."""
    own = np.flatnonzero(rows[:, 0] == rows[:, 1])
    sizes = rows[own, 2].astype(np.int64)
    largest = np.lexsort((own, -sizes))[:LARGEST].tolist()
    hashed = (keyed_hash("report cluster", number, len(own)) % len(own) for number in range(RANDOM))
    chosen = dict.fromkeys(largest, "largest")
    for place in hashed:
        chosen.setdefault(place, "at random")
    return [(int(rows[own[place], 0]), int(sizes[place]), how) for place, how in chosen.items()]


def _members_of(rows: NDArray[Any], kept: Sequence[int]) -> dict[int, list[int]]:
    """Returns some of the removed documents for each kept one, by keyed hash."""
    belongs = np.flatnonzero(np.isin(rows[:, 1], np.array(kept, rows.dtype)))
    found: dict[int, list[int]] = {number: [] for number in kept}
    for member, of in rows[belongs, :2].tolist():
        if member != of:
            found[of].append(member)
    return {
        number: sorted(sorted(gone, key=lambda member: keyed_hash("report member", 0, member))[:MEMBERS])
        for number, gone in found.items()
    }


class _Places:
    """Looks up shard and row of document numbers, which count through all shards."""

    def __init__(self, components: Partition) -> None:
        shards = components.json("shards.json")
        self._names = [shard["shard"] for shard in shards]
        self._starts = np.cumsum([0, *(shard["rows"] for shard in shards)], dtype=np.uint64)

    def __call__(self, number: int) -> Place:
        shard = int(np.searchsorted(self._starts, np.uint64(number), side="right")) - 1
        return self._names[shard], number - int(self._starts[shard])


def _cluster(size: int, kept: Document, removed: Sequence[Document], how: str) -> Cluster:
    """Returns a cluster whose removed texts are marked where the kept one differs; the kept one beside the first."""
    original, cut = beginning(kept.text)
    pieces: list[tuple[str, str]] = [(original, "")]
    others = []
    for place, document in enumerate(removed):
        text, short = beginning(document.text)
        left, right = map(_marked, compared(original, text))
        pieces = left if place == 0 else pieces
        others.append(shown(document, right, cut=short))
    return Cluster(size, shown(kept, pieces, cut=cut), others, how)


def _marked(pieces: Pieces) -> list[tuple[str, str]]:
    return [(text, "" if both else "only here") for text, both in pieces]


def substrings(built: Built, configuration: Mapping[str, Any]) -> list[Substrings]:
    """Returns the findings of each entry of `dedupers` with `kind: substrings`."""
    return list(_of_each_entry(built, configuration))


def _of_each_entry(built: Built, configuration: Mapping[str, Any]) -> Iterator[Substrings]:
    for entry in configuration["dedupers"]:
        partitions = built.get(f"{entry['name']}_attributes", ()) if entry.get("kind") == "substrings" else ()
        sources: dict[str, dict[str, int]] = {}
        found: list[Boilerplate] = []
        for one in partitions:
            numbers, source = one.record.statistics, source_of(one) or ""
            counted = {key: numbers[key] for key in _OF_SUBSTRINGS if key in numbers}
            sources[source] = summed([sources.get(source, {}), counted])
            found += [Boilerplate(**row, source=source) for row in numbers.get("boilerplate", ())]
        if partitions:
            found.sort(key=lambda one: (-one.documents, -one.length))
            yield Substrings(entry["name"], entry["min_length"], entry["boilerplate"], sources, found[:_BOILERPLATE])


def semantic(built: Built, configuration: Mapping[str, Any]) -> list[Semantic]:
    """Returns the findings of each entry of `dedupers` with `kind: semantic`."""
    return list(_of_meanings(built, configuration))


def _of_meanings(built: Built, configuration: Mapping[str, Any]) -> Iterator[Semantic]:
    for entry in configuration["dedupers"]:
        partitions = built.get(f"{entry['name']}_attributes", ()) if entry.get("kind") == "semantic" else ()
        sources: dict[str, dict[str, int]] = {}
        scores: dict[str, int] = {}
        for one in partitions:
            numbers, source = one.record.statistics, source_of(one) or ""
            sources[source] = summed([sources.get(source, {}), {key: numbers[key] for key in _OF_SEMANTIC}])
            scores = summed([scores, numbers["scores"]])
        if partitions:
            yield Semantic(entry["name"], entry["threshold"], sources, dict(sorted(scores.items())))
