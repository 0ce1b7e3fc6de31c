"""Near-duplicates found by this project and by others: `python -m benchmarks.dedup_peers [--quick] [--json]`.

All read the same files, one process each, one after the other. CPU seconds and peak memory are those of the process
with its children, from reading the files to the answer; the answer is held against what is known of the corpus. Each
reads a third of the text first: the slope is what the rest takes, without the cost of starting. Corpora: generated
text, whose copies are known, and real code, of which any tool's pairs are compared exactly. A tool that cannot be
installed or run is a row that says why.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers.environment import python_of
from benchmarks.peers.exchange import Result, read_documents
from benchmarks.peers.process import MB, AbsentError, Cost, run
from benchmarks.peers.truth import Score, Truth, read_truth, score

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".peers"
MEGABYTES, QUICK_MEGABYTES = 60, 6
REAL_MEGABYTES, QUICK_REAL_MEGABYTES = 57, 3
PARTS = 3
"""The first size is one of so many parts of the text."""

START_SECONDS, SECONDS_PER_MB = 300, 20
# The figures are per core, and no tool may fetch anything while it is measured.
ONE_CORE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}


@dataclass(frozen=True)
class Peer:
    """A tool: the module of its runner, what to install for it, and what it does, in words for the page.

    The words for this project have a placeholder for its defaults (`default_words`).
    """

    name: str
    module: str
    requirements: tuple[str, ...]
    note: str


PEERS = (
    Peer(
        "corpus-assets",
        "own",
        (),
        "raw to `duplicates` with the defaults: {family} signatures, shingles of {shingles}, {bands}; {check}; "
        "short documents {short}",
    ),
    Peer(
        "datatrove",
        "datatrove",
        (
            "datatrove==0.10.1",
            "numpy==2.4.6",
            "orjson==3.13.0",
            "regex==2026.11.15",
            "spacy==3.8.18",
            "tokenizers==0.23.3",
            "xxhash==3.8.2",
        ),
        "its four blocks; shingles of 5 words, 16 buckets of 8; pairs are not checked",
    ),
    Peer(
        "text-dedup",
        "text_dedup",
        ("text-dedup==0.4.0", "datasets==5.2.0", "numpy==2.4.6", "pyarrow==26.0.1"),
        "its `minhash` module; shingles of 5 words, 128 permutations, threshold 0.8, short documents included; "
        "pairs are not checked",
    ),
    Peer(
        "rensa",
        "rensa",
        ("rensa==0.5.0",),
        "`RMinHash` and `RMinHashLSH` (16 bands of 8) in a Python loop; shingles of 13 characters; "
        "pairs are checked by their signatures",
    ),
    Peer(
        "datasketch",
        "datasketch",
        ("datasketch==2.0.0", "numpy==2.4.6"),
        "`MinHash.bulk` and `MinHashLSH` (threshold 0.8, 128 permutations) in a Python loop; shingles of 13 "
        "characters; pairs are not checked",
    ),
    Peer(
        "fast-dedup",
        "fast_dedup",
        ("fast-dedup==0.1.0",),
        "`MinHash` of 128 values in a Python loop; shingles of 13 characters; it has no index, so every pair is "
        "compared, and its cost grows with the square of the documents",
    ),
    Peer(
        "LSHBloom",
        "lshbloom",
        ("datasketch==2.0.0", "numpy==2.4.6", "pybloomfilter3==0.7.3"),
        "`MinHashLSHBloom` of datasketch (threshold 0.8, 128 permutations, error 1e-5) in a Python loop; shingles of "
        "13 characters; pairs are not checked, and it says only what it removes",
    ),
)

SECTION = """the same documents in `jsonl.gz`, one process per tool, from reading the files to the answer.
*Slope*: MB of text per CPU-second of what two thirds of the text take beyond the first third, without the cost of
starting; all other costs are of the whole process over the whole text. *Found*: of {pairs:,} pairs of documents that
are known copies and whose Jaccard similarity of character 13-grams is at least 0.8, those that end in one cluster; of
real code, of the pairs that any tool joined and that are so similar, without those of documents that a build with the
defaults drops as short. *Gone*: of these pairs, those of which one document at least is removed; of all others both
stay. A pair whose documents resemble two different kept ones is not found, but gone. *Lone removed*: documents removed
though nothing was copied from or to them, of {lone:,}; documents made of common sentences can resemble each other by
chance. *Look-alikes removed*: of {look_alikes:,} documents that share text with another one and are well below the
threshold.

{documents:,} documents ({text_mb:,} MB of text, {corpus} corpus):

{table}

{real}

{ratios}

What stands in the way of the goals of the slope: more than half of ours is `normalized_documents`, which reads, cleans
and stores all texts, because every stage is stored. A loop over a library has nothing like it.

{notes}"""

UNITS = {"char": "characters", "word": "words"}
CHECKS = {
    "none": "pairs are not checked",
    "signature": "pairs are checked by their sketches",
    "two_sided": "pairs are checked by their sketches and, where these are near the threshold, by their texts",
    "exact": "pairs are checked by their texts",
}

HEADER = (
    "| tool | slope, MB per CPU-second | MB per CPU-second | CPU s | wall s | peak memory, MB | found | gone "
    "| lone removed | look-alikes removed |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
)


def answer(peer: Peer, python: Path, raw: Path, folder: Path, limit: float) -> tuple[Cost, Result]:
    """One run of a peer in an empty folder; raises AbsentError."""
    work, out = folder / "work", folder / "answer.json"
    work.mkdir(parents=True)
    environment = dict.fromkeys(ONE_CORE, "1") | OFFLINE | {"PYTHONPATH": str(ROOT), "HF_HOME": str(folder / "hf")}
    command = [str(python), "-m", f"benchmarks.peers.{peer.module}", str(raw), str(out), str(work)]
    cost = run(command, folder=work, log=folder / "log", limit=limit, extra=environment)
    result: Result = json.loads(out.read_text(encoding="utf-8"))
    return cost, result


def measure_peer(peer: Peer, raw: Path, head: Path, cache: Path, limit: float) -> tuple[Cost, Result] | str:
    """Cost and answer of one peer, or why there is none; a first run on `head` compiles what has to be compiled."""
    try:
        python = python_of(cache / peer.name, peer.requirements) if peer.requirements else Path(sys.executable)
        with tempfile.TemporaryDirectory() as folder:
            answer(peer, python, head, Path(folder) / "first", limit)
            return answer(peer, python, raw, Path(folder) / "measured", limit)
    except (AbsentError, OSError, ValueError) as fault:
        return str(fault)


def measure(
    megabytes: int, peers: Sequence[Peer] = PEERS, cache: Path = CACHE, *, real: bool = False
) -> dict[str, Any]:
    """Figures of every peer on one corpus. real: on real code instead of generated text."""
    with tempfile.TemporaryDirectory() as folder:
        smaller, raw, head = (Path(folder) / name for name in ("smaller", "raw", "head"))
        _prepare(smaller, head, max(1, megabytes // PARTS), real=real)
        corpus = _prepare(raw, head, megabytes, real=real)
        limit = START_SECONDS + SECONDS_PER_MB * megabytes
        answers = {}
        for peer in peers:
            print(f"{peer.name} ...", file=sys.stderr, flush=True)
            first = measure_peer(peer, smaller, head, cache, limit)
            whole = first if isinstance(first, str) else measure_peer(peer, raw, head, cache, limit)
            answers[peer.name] = whole, first
        found = [whole[1] for whole, _ in answers.values() if not isinstance(whole, str)]
        truth = _truth(raw, found, real=real)
        part = sum(len(text.encode()) for _, text in read_documents(smaller)) / MB
    rows = {name: figures(whole, truth) | slope(whole, first, truth, part) for name, (whole, first) in answers.items()}
    return {
        "corpus": corpus,
        "documents": len(truth.ids),
        "text_mb": round(truth.text_bytes / MB, 2),
        "pairs": len(truth.pairs),
        "lone": len(truth.lone),
        "look_alikes": len(truth.look_alikes),
        "peers": rows,
    }


def _prepare(raw: Path, head: Path, megabytes: int, *, real: bool) -> str:
    """Write a corpus and its beginning; returns what it is."""
    # In a process of its own, like every peer: the memory of this process would count as theirs.
    more = ["real"] if real else []
    prepare = [sys.executable, "-m", "benchmarks.peers.corpus", str(raw), str(head), str(megabytes), *more]
    return subprocess.run(prepare, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout.strip()


def _truth(raw: Path, answers: Sequence[Result], *, real: bool) -> Truth:
    if not real:
        return read_truth(raw)
    from benchmarks.peers.real import real_truth  # Late: see `default_words`.

    return real_truth(raw, answers)


def slope(
    whole: tuple[Cost, Result] | str, first: tuple[Cost, Result] | str, truth: Truth, part: float
) -> dict[str, Any]:
    """MB of text per CPU-second beyond the first part, of so many MB."""
    if isinstance(whole, str) or isinstance(first, str):
        return {}
    seconds = whole[0].cpu_seconds - first[0].cpu_seconds
    return {"slope_mb_per_cpu_s": round((truth.text_bytes / MB - part) / max(seconds, 0.01), 2)}


def measure_both(peers: Sequence[Peer] = PEERS, cache: Path = CACHE, *, quick: bool = False) -> dict[str, Any]:
    """Figures on generated text, and under `real` on real code."""
    generated = measure(QUICK_MEGABYTES if quick else MEGABYTES, peers, cache)
    real = measure(QUICK_REAL_MEGABYTES if quick else REAL_MEGABYTES, peers, cache, real=True)
    return generated | {"real": real}


def ratios(measured: Mapping[str, Any]) -> dict[str, float | None]:
    """Our slope on real code over that of others, and our CPU seconds for all of it."""
    rows = measured["real"]["peers"]

    def of(name: str, key: str) -> float | None:
        value = rows.get(name, {}).get(key)
        return None if value is None else float(value)

    ours = of("corpus-assets", "slope_mb_per_cpu_s")
    found = {f"slope over {name}": of(name, "slope_mb_per_cpu_s") for name in ("datatrove", "rensa")}
    shown = {key: round(ours / other, 1) if ours and other else None for key, other in found.items()}
    return {**shown, "cpu s of real code": of("corpus-assets", "cpu_seconds")}


def figures(found: tuple[Cost, Result] | str, truth: Truth) -> dict[str, Any]:
    """One peer's cost and score, or `absent`."""
    if isinstance(found, str):
        return {"absent": found}
    cost, result = found
    try:
        scored: Score = score(truth, result)
    except (LookupError, TypeError) as fault:
        return {"absent": f"its answer makes no sense: {fault!r}"}
    rate = round(truth.text_bytes / MB / max(cost.cpu_seconds, 0.01), 2)
    return {"mb_per_cpu_s": rate, **asdict(cost), **asdict(scored)}


def table(measured: Mapping[str, Any]) -> str:
    """One row per peer."""
    return "\n".join([HEADER, *(_row(name, row, measured) for name, row in measured["peers"].items())])


def _row(name: str, row: Mapping[str, Any], measured: Mapping[str, Any]) -> str:
    if "absent" in row:
        reason = " ".join(row["absent"].split()).replace("|", "\\|")
        return f"| {name} | absent: {reason} |" + " |" * 8
    found, gone = (f"{row[name] / max(1, measured['pairs']):.1%}" for name in ("found", "gone"))
    rate = f"{row['slope_mb_per_cpu_s']:,.2f}" if "slope_mb_per_cpu_s" in row else ""
    costs = f"{rate} | {row['mb_per_cpu_s']:,.2f} | {row['cpu_seconds']:,.1f} | {row['wall_seconds']:,.1f}"
    removed = f"{row['lone_removed']:,} | {row['look_alikes_removed']:,}"
    return f"| {name} | {costs} | {row['peak_rss_mb']:,.0f} | {found} | {gone} | {removed} |"


def section(measured: Mapping[str, Any]) -> str:
    """The text of the page after the name of this script."""
    words = default_words()
    shown = [peer for peer in PEERS if peer.name in measured["peers"]]
    notes = "\n".join(f"- {' '.join([peer.name, *_version(peer)])}: {peer.note.format(**words)}." for peer in shown)
    real = measured["real"]
    shown_ratios = [f"| {name} | {'' if value is None else value} |" for name, value in ratios(measured).items()]
    return SECTION.format(
        **{key: value for key, value in measured.items() if key != "real"},
        table=table(measured),
        real=f"{real['documents']:,} documents ({real['text_mb']:,} MB of text, {real['corpus']}):\n\n{table(real)}",
        ratios="\n".join(["| figure, on real code | value |", "|---|---:|", *shown_ratios]),
        notes=notes,
    )


def default_words() -> dict[str, str]:
    """The defaults of this project in words."""
    # Imported late: the memory of this process when it starts a peer would count as the peer's.
    from corpus_assets.config.selection.dedup import Dedup, MinHash

    signature, dedup = MinHash(), Dedup()
    return {
        "family": f"`{signature.family}`",
        "shingles": f"{signature.width} {UNITS[signature.unit]}",
        "bands": f"{signature.bands} bands of {signature.rows}",
        "check": CHECKS[dedup.verify],
        "short": {"exclude": "take no part", "include": "included"}[dedup.short_documents],
    }


def _version(peer: Peer) -> list[str]:
    return [requirement.partition("==")[2] for requirement in peer.requirements[:1]]


def chosen(names: str) -> list[Peer]:
    """Peers by name, in the order of the table; raises ValueError for a name that is none."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    known = [peer.name for peer in PEERS]
    if unknown := [name for name in wanted if name not in known]:
        raise ValueError(f"no peer named {unknown[0]!r}; valid: {', '.join(known)}")
    return [peer for peer in PEERS if peer.name in wanted]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_MEGABYTES} MB of text instead of {MEGABYTES}")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--megabytes", type=int, help="so many MB of text, of one corpus")
    parser.add_argument("--real", action="store_true", help="with --megabytes: of real code")
    parser.add_argument("--peers", default=",".join(peer.name for peer in PEERS), help="names, by commas")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of the virtual environments")
    given = parser.parse_args()
    try:
        peers = chosen(given.peers)
    except ValueError as fault:
        parser.error(str(fault))
    cache = given.cache.absolute()
    if given.megabytes:
        measured = measure(given.megabytes, peers, cache, real=given.real)
    else:
        measured = measure_both(peers, cache, quick=given.quick)
    print(json.dumps(measured) if given.json else "\n\n".join(map(table, (measured, *_real_of(measured)))))


def _real_of(measured: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [measured["real"]] if "real" in measured else []


if __name__ == "__main__":
    main()
