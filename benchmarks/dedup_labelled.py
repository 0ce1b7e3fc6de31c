"""Near-duplicates in natural texts: `python -m benchmarks.dedup_labelled [--quick] [--json] [--peers NAMES]`.

Sets of real documents whose copies are known by a label or by their origin (`benchmarks/labelled.py`). Every tool of
`benchmarks.dedup_peers` reads the same files, with the settings it has there. A pair counts as found if one cluster has
both documents. Precision, recall and F1 are of pairs. `gone` is the share of pairs of copies of which one at least is
removed, all that counts for training: a tool that splits a chain of versions need not join each pair. Where labels are
groups of versions, `ARI` is the adjusted Rand index between these and the clusters. A set or a tool that is absent is a
row that says why.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

from benchmarks import labelled
from benchmarks.dedup_peers import CACHE, PEERS, START_SECONDS, Peer, answer, chosen
from benchmarks.labelled import Labelled
from benchmarks.peers.environment import python_of
from benchmarks.peers.exchange import Name, Result
from benchmarks.peers.process import AbsentError as AbsentPeerError
from benchmarks.real_texts import AbsentError

SECONDS = 1800
SETS: Mapping[str, str] = {
    "pairs": "labelled pairs of the shared data, copies from a Jaccard similarity of 0.8 on",
    "licences": "licence texts through their history: versions of one licence are copies",
    "editions": "pages of two editions of the documentation of Boost (a tenth): pages of one path are copies",
    "untranslated": "pages of the GIMP's help in five languages: untranslated ones are copies of the English page",
}
REFERENCES = """Published values, which are not repeated here:

- CORE, 100,000 papers of which half are labelled as copies: macro F1 0.952 for the MinHash of text-dedup, by its page
  (github.com/ChenghaoMou/text-dedup). To repeat it: the data set `pinecone/core-2020-05-10-deduplication` of the
  Hugging Face hub (204 MB), title and abstract in lower case as the text, and its rule that a paper is right if all of
  its labelled copies are in its cluster.
- NEWS-COPY, newspaper articles labelled as reprints: adjusted Rand index 0.729 for the same MinHash, 0.937 for the best
  model of its authors (Silcock and others 2023, arxiv.org/abs/2210.04261). To repeat it: `chenghao/NEWS-COPY-eval` of
  the same hub. Its texts are read from scans, so copies differ in a tenth of the words, which a threshold of 0.8 is not
  for."""

_SHOWN = {"precision": "precision", "recall": "recall", "f1": "F1", "gone": "gone", "ari": "ARI"}
_HEADER = f"| set | tool | {' | '.join(_SHOWN.values())} |\n|---|---|{'---:|' * len(_SHOWN)}"


def measure(quick: bool, peers: Sequence[Peer] = PEERS, cache: Path = CACHE) -> dict[str, Any]:
    """Figures by set and tool, with the numbers of each set."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        for set_name, load in _sets(quick, cache / "packages", Path(name, "pages")).items():
            print(f"{set_name} ...", file=sys.stderr, flush=True)
            try:
                given = load()
            except AbsentError as fault:
                found[set_name] = {"absent": str(fault)}
                continue
            raw = Path(name, set_name)
            labelled.write(given, raw)
            numbers = {"documents": len(given.texts), "copies": len(given.copies)}
            found[set_name] = numbers | {"tools": {peer.name: _of_peer(peer, raw, given, cache) for peer in peers}}
    return found


def _sets(quick: bool, cache: Path, work: Path) -> dict[str, Callable[[], Labelled]]:
    return {
        "pairs": lambda: labelled.pairs(quick),
        "licences": lambda: labelled.licences(quick),
        "editions": lambda: labelled.editions(quick, cache, work),
        "untranslated": lambda: labelled.untranslated(quick, cache, work),
    }


def _of_peer(peer: Peer, raw: Path, given: Labelled, cache: Path) -> dict[str, Any]:
    print(f"  {peer.name} ...", file=sys.stderr, flush=True)
    try:
        python = python_of(cache / peer.name, peer.requirements) if peer.requirements else Path(sys.executable)
        with tempfile.TemporaryDirectory() as folder:
            _, result = answer(peer, python, raw, Path(folder), START_SECONDS + SECONDS)
        if removed := {one for one in result if isinstance(one, str)}:  # It only says what it removes.
            return dict.fromkeys(("precision", "recall", "f1", "ari")) | {"gone": gone(given, removed)}
        return scores(given, clusters_in(result, list(given.texts)))
    except (AbsentPeerError, OSError, ValueError, LookupError, TypeError) as fault:
        return {"absent": str(fault)}


def clusters_in(result: Result, names: Sequence[str]) -> list[list[str]]:
    """The clusters of an answer by name; TypeError if it only says what it removes, LookupError for unknown names."""
    known: dict[Name, str] = {name: name for name in names} | dict(enumerate(names))
    return [[known[member] for member in cluster] for cluster in result]  # type: ignore[union-attr]


def scores(given: Labelled, clusters: Iterable[Sequence[str]]) -> dict[str, float | None]:
    """Precision, recall and F1 of pairs; the adjusted Rand index if labels are groups. clusters: the kept one first."""
    clusters = list(clusters)
    together = {pair for cluster in clusters for pair in combinations(sorted(cluster), 2)}
    right = len(together & given.copies)
    wrong = len(together - given.copies) if given.others is None else len(together & given.others)
    precision, recall = right / max(1, right + wrong), right / max(1, len(given.copies))
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    index = None if given.groups is None else adjusted_rand_index(given.groups, clusters)
    shown = {"precision": precision, "recall": recall, "f1": f1, "ari": index}
    shown["gone"] = gone(given, {name for cluster in clusters for name in cluster[1:]})
    return {name: None if value is None else round(value, 4) for name, value in shown.items()}


def gone(given: Labelled, removed: Set[str]) -> float:
    """The share of pairs of copies of which one at least is removed."""
    found = sum(one in removed or other in removed for one, other in given.copies)
    return round(found / max(1, len(given.copies)), 4)


def adjusted_rand_index(groups: Iterable[Sequence[str]], clusters: Iterable[Sequence[str]]) -> float:
    """Hubert and Arabie 1985. groups: all names, each in one; names in no cluster are clusters of their own."""
    groups = list(groups)
    of = {name: number for number, cluster in enumerate(clusters) for name in cluster}
    for group in groups:
        for name in group:
            of.setdefault(name, len(of) + len(groups) + sum(map(len, groups)))
    total = comb(sum(map(len, groups)), 2)
    both = Counter((number, of[name]) for number, group in enumerate(groups) for name in group)
    sizes = Counter(of[name] for group in groups for name in group)
    index = sum(comb(count, 2) for count in both.values())
    one, other = sum(comb(len(group), 2) for group in groups), sum(comb(count, 2) for count in sizes.values())
    expected = one * other / max(1, total)
    most = (one + other) / 2
    return 1.0 if most == expected else (index - expected) / (most - expected)


def table(measured: Mapping[str, Any]) -> str:
    """A row for each set and tool."""
    rows = [_HEADER]
    for name, found in measured.items():
        if "absent" in found:
            rows.append(f"| {name} | absent: {_plain(found['absent'])} |" + " |" * len(_SHOWN))
            continue
        rows += [f"| {name} | {tool} | {_shown(values)} |" for tool, values in found["tools"].items()]
    return "\n".join(rows)


def _shown(values: Mapping[str, Any]) -> str:
    if "absent" in values:
        return f"absent: {_plain(values['absent'])}" + " |" * (len(_SHOWN) - 1)
    return " | ".join("" if values[key] is None else f"{values[key]:.3f}" for key in _SHOWN)


def _plain(words: str) -> str:
    return " ".join(words.split()).replace("|", "\\|")[:200]


def section(measured: Mapping[str, Any]) -> str:
    """The tables of the page, and published values."""
    sets = [f"- {name}: {SETS[name]}{_numbers(found)}." for name, found in measured.items()]
    return "\n\n".join([table(measured), "\n".join(sets), REFERENCES])


def _numbers(found: Mapping[str, Any]) -> str:
    return "" if "absent" in found else f"; {found['documents']:,} documents, {found['copies']:,} pairs of copies"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="parts of the sets")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--peers", default=",".join(peer.name for peer in PEERS), help="names, by commas")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of environments and packages")
    given = parser.parse_args()
    try:
        peers = chosen(given.peers)
    except ValueError as fault:
        parser.error(str(fault))
    measured = measure(given.quick, peers, given.cache.absolute())
    print(json.dumps(measured) if given.json else section(measured))


if __name__ == "__main__":
    main()
