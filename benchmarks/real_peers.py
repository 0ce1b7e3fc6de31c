"""What datatrove and dolma need for steps of the benchmark of real texts, on a sample of its documents."""

import gzip
import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.dedup_peers import PEERS
from benchmarks.peers.environment import python_of
from benchmarks.peers.process import AbsentError, last_line, run
from benchmarks.taggers import PEERS as CACHE
from benchmarks.taggers import dolma_python
from corpus_assets.corpus.corpus import Corpus
from resources.formats.documents import Document
from resources.stage.partition import Partition

SAMPLE_BYTES = 10_000_000
FILES = 4
LIMIT = 900.0
ROOT = Path(__file__).resolve().parents[1]
TAGGERS = ("gopher_v2", "c4_v2", "pii_regex_with_counts_fast_v2", "char_length_v1")
"""Of dolma: its environment has no library for cld2."""
STEPS = {
    "taggers and filter": ("quality_attributes", "filtered_documents"),
    "near-duplicates": (
        *("minhashes", "band_keys", "exact_duplicates", "duplicate_pairs", "candidate_pairs", "verified_pairs"),
        *("cluster_roots", "cluster_members", "guarded_clusters", "components", "duplicates"),
    ),
}
"""Our stages that do what a step of another tool does."""


def documents(folder: Path) -> Iterator[Document]:
    """All normalized documents of a built corpus, shard by shard."""
    corpus = Corpus.open(folder / "corpus.yaml")
    for _, record in sorted(corpus.ledger.records("normalized_documents").items(), key=str):
        yield from Partition(corpus.storage, record).documents()


def text_bytes(folder: Path) -> int:
    """Bytes of all normalized texts of a built corpus."""
    return sum(len(document.text.encode()) for document in documents(folder))


def measure(folder: Path) -> dict[str, Any]:
    """CPU seconds by tool and step, over a sample that is written beside the corpus; or why there are none."""
    raw = folder / "sample" / "raw"
    size = write_sample(folder, raw, text_bytes(folder))
    return {
        "sample_mb": size / 1e6,
        "corpus-assets": _tried(lambda: ours(folder, raw)),
        "datatrove": _tried(lambda: datatrove(raw)),
        "dolma": _tried(lambda: dolma(raw)),
    }


def write_sample(folder: Path, raw: Path, whole: int) -> int:
    """Writes an even sample of the documents; returns the bytes of its texts."""
    step = max(1, whole // SAMPLE_BYTES)
    target = raw / "documents" / "sample"
    target.mkdir(parents=True)
    size = 0
    with ExitStack() as files:
        outs = [files.enter_context(gzip.open(target / f"part-{number}.jsonl.gz", "wb")) for number in range(FILES)]
        for number, document in enumerate(documents(folder)):
            if number % step == 0 and document.text.strip():
                size += len(document.text.encode())
                row = {"id": f"{number}", "text": document.text}
                outs[number // step % FILES].write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    return size


def ours(folder: Path, raw: Path) -> dict[str, float]:
    """CPU seconds of this project's jobs for each step, with one worker and compiled kernels."""
    from benchmarks import real

    place = folder / "sample" / "ours"
    (place / "raw").mkdir(parents=True)
    (place / "raw" / "code").symlink_to(raw / "documents" / "sample")
    real.write_config(place, 1)
    figures, _ = real.build(place)
    stages = figures["stages_cpu_s"]
    return {step: sum(stages.get(stage, 0) for stage in names) for step, names in STEPS.items()}


def datatrove(raw: Path) -> dict[str, float]:
    """CPU seconds of datatrove's own filters and its MinHash, in an environment that is made if it can be."""
    peer = next(peer for peer in PEERS if peer.name == "datatrove")
    python = python_of(CACHE / peer.name, peer.requirements)
    work = raw.parent / "datatrove"
    work.mkdir()
    log = work / "log"
    command = [str(python), "-m", "benchmarks.peers.real_datatrove", str(raw), str(work)]
    run(command, folder=work, log=log, limit=LIMIT, extra={"PYTHONPATH": str(ROOT)})
    return _numbers(last_line(log.read_text(encoding="utf-8", errors="replace")))


def dolma(raw: Path) -> dict[str, float]:
    """CPU seconds of dolma's taggers over the texts, without its reading and writing."""
    texts = []
    for file in sorted(raw.rglob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            texts += [json.loads(line)["text"] for line in lines]
    script = Path(__file__).parent / "peers" / "dolma_taggers.py"
    request = json.dumps({"taggers": TAGGERS, "texts": texts})
    command = [str(dolma_python(None)), str(script)]
    done = subprocess.run(command, input=request, capture_output=True, text=True, check=True, timeout=LIMIT)
    return {"taggers and filter": sum(_numbers(done.stdout.splitlines()[-1]).values())}


def _numbers(line: str) -> dict[str, float]:
    return {str(name): float(value) for name, value in json.loads(line).items()}


def _tried(measured: Any) -> dict[str, float] | str:
    try:
        found: dict[str, float] = measured()
    except (AbsentError, OSError, ValueError, subprocess.SubprocessError) as fault:
        said = getattr(fault, "stderr", "") or str(fault)
        return last_line(said)
    return found


def table(measured: Mapping[str, Any]) -> str:
    """One row per tool: MB of text per CPU-second of each step."""
    if not measured:
        return "Other tools were not measured."
    rows = [
        f"| tool, on {measured['sample_mb']:,.1f} MB of text | {' | '.join(STEPS)} |",
        f"|---|{'---:|' * len(STEPS)}",
    ]
    for name in ("corpus-assets", "datatrove", "dolma"):
        found = measured[name]
        if isinstance(found, str):
            reason = " ".join(found.split()).replace("|", "\\|")
            rows.append(f"| {name} | absent: {reason} |" + " |" * (len(STEPS) - 1))
            continue
        cells = [f"{measured['sample_mb'] / found[step]:,.2f}" if found.get(step) else "" for step in STEPS]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)
