"""What each value of `dedup.rule` removes: `python -m benchmarks.containment [--quick]`.

Three corpora: the shared data; two editions of the documentation of Boost, from Debian packages that apt downloads; and
records of calls in one frame, made by a generator. `left` are kept documents that stand in another kept one by at least
0.95 of their shingles, among all pairs: a document with that share in another has one of its rarest twentieth of
shingles there.
"""

import argparse
import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import real_texts
from benchmarks.dedup_pairs import LABELLED
from benchmarks.dedup_real import QUICK_SOURCES, SOURCES
from benchmarks.peers.own import build
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.dedup.signatures.shingles import cleaned_bytes, shingle_hashes
from resources.formats.attributes import DUPLICATE, SHORT, attribute_rows
from resources.stage.partition import Partition

RULES: dict[str, dict[str, Any]] = {rule: {"rule": rule} for rule in ("similar", "contained", "either")}
LEFT_OUT: dict[str, dict[str, Any]] = {
    f"{rule}, template_share: 0.5": {"rule": rule, "template_share": 0.5} for rule in ("similar", "either")
}
LEAST = 0.95
RECORDS, QUICK_RECORDS = 20_000, 2_000
EDITIONS = ("libboost1.74-doc", "libboost1.81-doc")
QUICK_SHARE = 0.05
_FRAME_WORDS, _OWN_WORDS = 320, 30
Sets = list[NDArray[np.uint64]]


def records(count: int) -> Iterator[dict[str, str]]:
    """Calls of functions: one long description of the tools for all, and a question and a call of each one's own."""
    chance = random.Random("frame")
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(4000)]
    frame = " ".join(chance.choices(words, k=_FRAME_WORDS))
    for number in range(count):
        own = chance.choices(words, k=_OWN_WORDS)
        call = json.dumps({"name": own[0], "arguments": {own[1]: own[2], own[3]: own[4]}})
        yield {"id": f"call-{number}", "text": f"{frame}\nUser: {' '.join(own[5:])}\nAssistant: {call}"}


def measure(quick: bool) -> dict[str, Any]:
    """Documents, removed ones and those left of each corpus and rule; a sentence for a corpus that is not to be had."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        for name, sources in (
            ("shared", _shared(quick)),
            ("editions", _editions(Path(place), quick)),
            ("templates", _templates(Path(place), quick)),
        ):
            rules = {**RULES, **LEFT_OUT} if name == "templates" else RULES
            found[name] = sources if isinstance(sources, str) else _rules(Path(place) / name, sources, rules)
    return found


def _shared(quick: bool) -> list[dict[str, str]] | str:
    if not LABELLED.is_dir():
        return "the shared data is not beside the checkout"
    chosen = SOURCES[:QUICK_SOURCES] if quick else SOURCES
    return [source | {"location": str(LABELLED)} for source in chosen]


def _editions(place: Path, quick: bool) -> list[dict[str, str]] | str:
    cache, raw = place / "packages", place / "pages"
    cache.mkdir()
    try:
        for package in EDITIONS:
            files = real_texts.download(package, cache)
            real_texts.unpack(files, place / package)
            pages = real_texts.pages(place / package)
            chosen = (
                page for page in pages if not quick or real_texts.is_in(page[0].partition(package)[2], QUICK_SHARE)
            )
            real_texts.write_pages(chosen, raw / package, "pages")
    except real_texts.AbsentError as absent:
        return f"apt does not give the packages: {absent}"
    read = {"format": "warc", "extractor": "resiliparse"}
    return [{"name": name.replace(".", "-"), "location": str(raw / name), **read} for name in EDITIONS]


def _templates(place: Path, quick: bool) -> list[dict[str, str]]:
    raw = place / "calls"
    raw.mkdir()
    rows = records(QUICK_RECORDS if quick else RECORDS)
    (raw / "calls.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return [{"name": "calls", "location": str(raw)}]


def _rules(
    folder: Path, sources: Sequence[Mapping[str, str]], rules: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    folder.mkdir()
    found: dict[str, Any] = {}
    sets: dict[tuple[str, int], NDArray[np.uint64]] = {}
    for rule, dedup in rules.items():
        config: dict[str, Any] = {
            "sources": list(sources),
            "dedup": {**dedup, "max_loss": 1.0},
            "storage": {"root": "corpus", "sync": False},
            "engine": {"workers": 0, "memory": "1 GiB"},
        }
        (folder / "corpus.yaml").write_text(json.dumps(config), encoding="utf-8")
        corpus = Corpus.open(folder / "corpus.yaml")
        build(corpus)
        sets = sets or _sets(corpus)
        compared, gone = _fates(corpus)
        stay = sorted(compared - gone)
        found["documents"] = len(compared)
        found[f"{rule} removed"] = len(gone)
        found[f"{rule} left"] = left([sets[place] for place in stay])
    return found


def _fates(corpus: Corpus) -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
    """The places of documents that are not short, and of those that went."""
    compared, gone = set(), set()
    for shard in _partitions(corpus, "duplicates"):
        for row, attributes in enumerate(attribute_rows(shard.lines())):
            if DUPLICATE in attributes.attributes:
                gone.add((shard.key or "", row))
    for shard in _partitions(corpus, "short_documents"):
        for row, attributes in enumerate(attribute_rows(shard.lines())):
            if attributes.attributes[SHORT][0][2] < 1:
                compared.add((shard.key or "", row))
    return compared, gone & compared


def _sets(corpus: Corpus) -> dict[tuple[str, int], NDArray[np.uint64]]:
    return {
        (shard.key or "", row): shingle_hashes(cleaned_bytes(document.text), SignatureScheme())
        for shard in _partitions(corpus, "normalized_documents")
        for row, document in enumerate(shard.documents())
    }


def _partitions(corpus: Corpus, asset: str) -> Iterator[Partition]:
    records = corpus.planner().records(asset)
    return (Partition(corpus.storage, records[key]) for key in corpus.planner().partitions(corpus.graph[asset]))


def left(sets: Sets) -> int:
    """How many sets stand in another one by `LEAST`."""
    hashes, counts = np.unique(np.concatenate(sets), return_counts=True)
    # The places of a hash are those of the sets that have it, one after another.
    owners = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
    order = np.argsort(np.concatenate(sets), kind="stable")
    owners, starts = owners[order], np.cumsum(counts) - counts
    found = 0
    for number, own in enumerate(sets):
        if not len(own):
            continue
        places = np.searchsorted(hashes, own)
        rare = places[np.argsort(counts[places], kind="stable")[: len(own) - int(np.ceil(LEAST * len(own))) + 1]]
        if (counts[rare] > 1).any():
            others = Counter(other for place in rare for other in owners[starts[place] :][: counts[place]].tolist())
            others.pop(number, None)
            found += any(_holds(sets[other], own) for other in others)
    return found


def _holds(other: NDArray[np.uint64], own: NDArray[np.uint64]) -> bool:
    return len(np.intersect1d(other, own, assume_unique=True)) >= LEAST * len(own)


def section(figures: Mapping[str, Any]) -> str:
    """The table of the page, and a sentence for each corpus that is not to be had."""
    rows = ["| corpus | documents | rule | removed | left |", "|---|---:|---|---:|---:|"]
    said = []
    for name, found in figures.items():
        if isinstance(found, str):
            said.append(f"Not measured: {name}, since {found}.")
            continue
        for rule in (rule for rule in (*RULES, *LEFT_OUT) if f"{rule} left" in found):
            numbers = found["documents"], found[f"{rule} removed"], found[f"{rule} left"]
            rows.append(f"| {name} | {numbers[0]:,} | `{rule}` | {numbers[1]:,} | {numbers[2]:,} |")
    return "\n".join([*rows, *("", *said)] if said else rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    print(section(measure(parser.parse_args().quick)))
