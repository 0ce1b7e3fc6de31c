"""The known copies of a corpus, and the agreement of a tool's answer with them."""

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.exchange import THRESHOLD, Name, Result, read_documents, shingles
from resources.documents.slimpajama_cleaning import clean

COPIES = ("near", "exact")


@dataclass(frozen=True)
class Truth:
    """`ids` by document number; `pairs`: copies at or above the threshold; `lone`: documents that are copied nowhere.

    `look_alikes` share text with another document, well below the threshold.
    """

    ids: Sequence[str]
    text_bytes: int
    pairs: Sequence[tuple[str, str]]
    lone: Set[str]
    look_alikes: Set[str]


@dataclass(frozen=True)
class Score:
    """`found` of the true pairs, and `gone`, of which one document at least is removed.

    Documents `removed` in all, of the lone ones, and of the look-alikes.
    """

    found: int
    gone: int
    removed: int
    lone_removed: int
    look_alikes_removed: int


def read_truth(raw: Path) -> Truth:
    """Truth of a corpus made with `truth.jsonl.gz`; holds the texts of its pairs in memory.

    A document is lone when no copy is made of it and none other has the same cleaned text by chance.
    """
    rows = list(_truth_rows(raw))
    known = [(row["id"], row["of"]) for row in rows if row["kind"] in COPIES]
    paired = {name for pair in known for name in pair}
    ids, size, digests, texts = [], 0, [], {}
    for name, text in read_documents(raw):
        ids.append(name)
        size += len(text.encode())
        digests.append(hashlib.blake2b(clean(text).encode(), digest_size=16).digest())
        if name in paired:
            texts[name] = text
    times = Counter(digests)
    unique = {name for name, digest in zip(ids, digests, strict=True) if times[digest] == 1}
    base = {row["id"] for row in rows if row["kind"] == "base"}
    return Truth(
        ids=ids,
        text_bytes=size,
        pairs=[pair for pair in known if jaccard(*(texts[name] for name in pair)) >= THRESHOLD],
        lone=(base & unique) - paired,
        look_alikes={row["id"] for row in rows if row["kind"] == "hard"} & unique,
    )


def _truth_rows(raw: Path) -> Iterator[dict[str, str]]:
    with gzip.open(raw / "truth.jsonl.gz") as lines:
        yield from map(json.loads, lines)


def jaccard(one: str, other: str) -> float:
    """Jaccard similarity of the two texts' sets of shingles; 0 when neither has any."""
    first, second = shingles(one), shingles(other)
    return len(first & second) / max(1, len(first | second))


def score(truth: Truth, result: Result) -> Score:
    """How an answer agrees with the truth.

    A pair is found when one cluster has both; where a tool only says what it removes, when it removes one of the two.
    Raises LookupError or TypeError for an answer that names documents that are not there.
    """
    known: dict[Name, str] = {name: name for name in truth.ids} | dict(enumerate(truth.ids))
    cluster: dict[str, int] = {}
    removed: set[str] = set()
    for number, found in enumerate(result):
        if isinstance(found, Sequence) and not isinstance(found, str):
            members = [known[member] for member in found]
            cluster.update(dict.fromkeys(members, number))
            removed.update(members[1:])
        else:
            removed.add(known[found])
    together = sum(one in cluster and cluster[one] == cluster.get(other) for one, other in truth.pairs)
    either = sum(one in removed or other in removed for one, other in truth.pairs)
    return Score(
        found=together if cluster else either,
        gone=either,
        removed=len(removed),
        lone_removed=len(removed & truth.lone),
        look_alikes_removed=len(removed & truth.look_alikes),
    )
