"""Taggers in MB of text per CPU-second on one core: `python -m benchmarks.taggers [--quick] [--json] [--dolma PYTHON]`.

Everything between a text and its row of attributes counts: the tagger, its rounding, and the encoded line. Each is
measured alone, and the five that everybody runs together once more in one pass. Five with the language of a text (extra
`cld2`) run over the texts of the shared data, where they lie beside the checkout. Beside them dolma 1.2.1 on an even
sample of the same texts, without its reading and writing: by the Python that `--dolma` names, else in an environment of
its own, which is made if it can be installed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.dedup_pairs import LABELLED
from benchmarks.dedup_real import QUICK_SOURCES, SOURCES, write_config
from benchmarks.minhash import load_texts
from benchmarks.peers.environment import python_of
from benchmarks.peers.process import AbsentError, run
from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.attributes.tagging import Named, attributes_of
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from resources.formats.attributes import attribute_line
from resources.formats.documents import Document
from resources.stage.partition import Partition

ALONE = (
    "gopher_v2",
    "c4_v2",
    "pii_regex_with_counts_fast_v2",
    "uniseg_length_v1",
    "uniseg_length_paragraphs_v1",
    "repetitions_v1",
    "char_length_v1",
    "bytes_length_v1",
)
TOGETHER = ("gopher_v2", "c4_v2", "pii_regex_with_counts_fast_v2", "char_length_v1", "repetitions_v1")
CLD2 = "cld2_en_doc_v2"
REAL = ("gopher_v2", "c4_v2", "pii_regex_with_counts_fast_v2", "char_length_v1", CLD2)
MEGABYTES, QUICK_MEGABYTES = 48, 2
SAMPLE, QUICK_SAMPLE = 400_000, 30_000
ROUNDS = 3
DOLMA = "dolma==1.2.1"
PEERS = Path(__file__).resolve().parents[1] / ".peers"


def seconds_of(taggers: Sequence[str], documents: Sequence[Document]) -> float:
    """CPU seconds of one pass, the least of several rounds."""
    named = [Named(name, f"measured__{name}__", BUILT_IN[name].tag) for name in taggers]
    attributes_of(documents[0], named)
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for document in documents:
            attribute_line(document.id, document.source, attributes_of(document, named))
        times.append(time.process_time() - started)
    return min(times)


def figures_of(texts: Sequence[str]) -> dict[str, float]:
    """MB of text per CPU-second by tagger, and of five together."""
    documents = [Document(str(number), text, "measured") for number, text in enumerate(texts)]
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    figures = {f"{name}_mb_per_cpu_s": megabytes / seconds_of([name], documents) for name in ALONE}
    return {**figures, "five_together_mb_per_cpu_s": megabytes / seconds_of(TOGETHER, documents)}


def real_figures(quick: bool) -> dict[str, float]:
    """MB of real text per CPU-second of five taggers together, and of CLD2 alone; nothing without texts or library."""
    if not LABELLED.is_dir() or not find_spec("pycld2"):
        print("the shared data or the extra cld2 is absent: no figures of real text", file=sys.stderr)
        return {}
    documents = real_documents(SOURCES[:QUICK_SOURCES] if quick else SOURCES)
    megabytes = sum(len(document.text.encode()) for document in documents) / 1e6
    return {
        "real_text_mb": megabytes,
        "real_five_mb_per_cpu_s": megabytes / seconds_of(REAL, documents),
        "real_cld2_mb_per_cpu_s": megabytes / seconds_of([CLD2], documents),
    }


def real_documents(sources: list[dict[str, str]]) -> list[Document]:
    """The normalized documents of sources of the shared data."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus.open(write_config(Path(folder), sources))
        for name in ("inventory", "raw_source", "normalized_documents"):
            step = Step(corpus, corpus.graph[name])
            step.run()
            assert not step.failures(), step.failures()
        records = corpus.ledger.records("normalized_documents")
        return [
            document
            for _, record in sorted(records.items())
            for document in Partition(corpus.storage, record).documents()
        ]


def sample(texts: Sequence[str], size: int) -> list[str]:
    """Texts taken evenly from all, of about so many code points together."""
    step = max(1, sum(map(len, texts)) // size)
    return [text for text in texts[::step] if text.strip()]


def dolma_python(given: str | None) -> Path:
    """The Python that has dolma; raises AbsentError if it cannot be installed. pip takes too long to resolve it."""
    if given:
        return Path(given)
    python = python_of(PEERS / "dolma", ["uv"])
    install = [str(python.with_name("uv")), "pip", "install", "--python", str(python), DOLMA]
    run(install, folder=PEERS, log=PEERS / "dolma.log", limit=900)
    return python


def measure_dolma(python: Path, texts: Sequence[str]) -> dict[str, float]:
    """The same figures of dolma's own taggers."""
    script = Path(__file__).parent / "peers" / "dolma_taggers.py"
    request = json.dumps({"taggers": ALONE, "texts": texts})
    done = subprocess.run([str(python), str(script)], input=request, capture_output=True, text=True, check=True)
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    return {name: megabytes / seconds for name, seconds in json.loads(done.stdout.splitlines()[-1]).items()}


def ratios(ours: Mapping[str, float], theirs: Mapping[str, float]) -> dict[str, float]:
    """How many times as fast we are."""
    return {f"ratio_{name}_vs_dolma": ours[f"{name}_mb_per_cpu_s"] / speed for name, speed in theirs.items()}


def measure(quick: bool, dolma: str | None = None) -> dict[str, Any]:
    """The figures, and the corpus that they are of; beside dolma where it can be installed.

    dolma: a Python that has it.
    """
    texts, kind = load_texts(QUICK_MEGABYTES if quick else MEGABYTES)
    figures = {**figures_of(texts), **real_figures(quick)}
    try:
        theirs = measure_dolma(dolma_python(dolma), sample(texts, QUICK_SAMPLE if quick else SAMPLE))
        figures |= ratios(figures, theirs)
    except (AbsentError, OSError, subprocess.CalledProcessError) as error:
        print(f"dolma is absent: {error}", file=sys.stderr)
    return {"corpus": kind, **{name: round(value, 2) for name, value in figures.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less text")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--dolma", metavar="PYTHON", help="a Python that has dolma 1.2.1")
    given = parser.parse_args()
    figures = measure(given.quick, given.dolma)
    if given.json:
        print(json.dumps(figures))
    else:
        print(f"{figures.pop('corpus')}, MB of text per CPU-second")
        print("\n".join(f"{name:48}{value:>10,}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
