"""Reports of takedown: how many entries name a document, and whether documents have URLs at all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.selection.takedown import Remove
from corpus_assets.takedown.keys import KINDS, URL, keys_with_url, names_of_metadata
from corpus_assets.takedown.lists import Entry
from resources.documents.looked_for import LOOKED_FOR, LookedFor, missing
from resources.formats.documents import Document
from resources.stage.partition import Partition

ENTRIES: Final = ".entries.npy"
"""Suffix of the derived file with the entry number of each key of the list, in the order of the keys."""

MET: Final = ".met.npy"
"""Suffix of the derived file with the positions in the list of the keys of a shard's rows, if there are any."""

BY_KIND: Final = "entries_by_kind"
"""Statistic of the list: number of entries by kind of name: id, pair, URL, or digest."""

_PLACE: Final = "remove.url_keys"
_WORDS: Final = dict(zip(KINDS, ("ids", "sources and ids", "URLs", "digests"), strict=True))


def entry_numbers(keys: Mapping[bytes, Entry]) -> NDArray[np.uint32]:
    """Returns the entry number of each key, in the order of `packed`."""
    owners = [keys[key].where for key in sorted(keys)]
    numbers = {where: number for number, where in enumerate(dict.fromkeys(owners))}
    return np.array([numbers[where] for where in owners], dtype=np.uint32)


def looked_for_urls(url_keys: Sequence[str]) -> LookedFor:
    """Returns a counter of documents with a URL under each key, and under any."""
    together = [] if len(url_keys) == 1 else [_any(url_keys)]
    return LookedFor("documents", {_PLACE: [*url_keys, *together]})


def _any(url_keys: Sequence[str]) -> str:
    return " or ".join(url_keys)


def count_urls(counts: LookedFor, document: Document, url_keys: Sequence[str]) -> None:
    """Counts a document."""
    had = keys_with_url(document, url_keys)
    counts.add(names_of_metadata(document) if counts.needs_names else (), [*had, *([_any(url_keys)] if had else [])])


def list_notes(
    listed: Partition, keys: Iterable[Partition], found: Iterable[Partition], settings: Mapping[str, Any]
) -> Iterator[str]:
    """Yields how many entries of the list name a document, and which entries could not be compared.

    keys: of all files of sources and of datasets' own. found: the named rows of the same files.
    """
    kinds = listed.record.statistics.get(BY_KIND, {})
    numbers = listed.array(ENTRIES)
    if not len(numbers):
        yield "remove.location: the lists name nothing"
        return
    named, entries = len(np.unique(numbers[_met(found)])), len(np.unique(numbers))
    by = ", ".join(f"{_WORDS[kind]} {count:,}" for kind, count in kinds.items())
    yield f"remove.location: {named:,} of {entries:,} entries of the list name a document (entries: {by})"
    if kinds.get(URL):
        yield from _url_notes(keys, settings["remove"]["url_keys"])


def _met(found: Iterable[Partition]) -> NDArray[np.uint32]:
    """Returns the positions in the list of all keys that any row has."""
    met = [np.empty(0, np.uint32)]
    for partition in found:
        if partition.has(MET):
            met.append(np.asarray(partition.array(MET)))
    return np.unique(np.concatenate(met))


def _url_notes(keys: Iterable[Partition], url_keys: Sequence[str]) -> Iterator[str]:
    """Yields the sources without a URL in any document, and configured keys that no document has."""
    owners: dict[str, tuple[list[int], dict[str, None]]] = {}
    by_key = dict.fromkeys(url_keys, 0)
    for partition in keys:
        assert partition.shard is not None, "the partitions of shards are given with their raw files"
        for numbers in partition.record.statistics.get(LOOKED_FOR, {}).values():
            counts, there = owners.setdefault(partition.shard.source, ([0, 0], {}))
            found = numbers["found"][_PLACE]
            counts[:] = [one + other for one, other in zip(counts, found[_any(url_keys)], strict=True)]
            there |= dict.fromkeys(numbers["there"])
            for key in url_keys:
                by_key[key] += found[key][0]
    shown = ", ".join(map(repr, url_keys))
    for owner, ((having, rows), there) in owners.items():
        if rows and not having:
            yield missing(f"{_PLACE} {shown}", rows, f"documents of {owner}", there, of="metadata")
    if any(by_key.values()) and list(url_keys) != Remove.model_fields["url_keys"].default:
        rows = sum(counts[1] for counts, _ in owners.values())
        names = dict.fromkeys(name for _, there in owners.values() for name in there)
        for key in (key for key, count in by_key.items() if not count):
            yield missing(f"{_PLACE} {key!r}", rows, "documents", names, of="metadata")
