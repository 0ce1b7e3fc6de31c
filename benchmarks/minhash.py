"""Signatures in MB of text per CPU-second, beside other libraries: `python -m benchmarks.minhash [--quick] [--json]`.

Everything between a text and its signature counts: cleaning, shingles, hashes. The others get the same cleaning and
shingles, and make the same number of values; datasketch the very same ones. Contenders take turns; the best of their
rounds counts.
"""

import argparse
import gzip
import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from datasketch import MinHash

from benchmarks.corpora import write_corpus
from benchmarks.stages import run_stage
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.dedup.signatures.minhash import sign
from corpus_assets.dedup.signatures.scheme import Family, SignatureScheme
from resources.documents.slimpajama_cleaning import clean
from resources.formats.documents import decode_document

MEGABYTES, QUICK_MEGABYTES = 48, 8
SLOW_MEGABYTES, QUICK_SLOW_MEGABYTES = 0.6, 0.15
ROUNDS = 3
AFFINE, OPH = SignatureScheme(), SignatureScheme(family="oph")

Contender = Callable[[Sequence[str]], object]


def load_texts(megabytes: int) -> tuple[list[str], str]:
    """Texts of a corpus, normalized, and what the corpus is."""
    with tempfile.TemporaryDirectory() as folder:
        config, kind = write_corpus(Path(folder), megabytes)
        names = [stage.name for stage in Corpus.open(config).graph]
        for name in names[: names.index("normalized_documents") + 1]:
            run_stage(config, name)
        texts: list[str] = []
        for path in sorted((Path(folder) / "corpus" / "documents").rglob("*.jsonl.gz")):
            with gzip.open(path) as lines:
                texts += [decode_document(line).text for line in lines]
    return texts, kind


def signed(scheme: SignatureScheme) -> Contender:
    """All signatures of a scheme."""
    return lambda texts: np.concatenate(list(sign(texts, scheme)))


def shingles(text: str) -> list[bytes]:
    cleaned = clean(text)
    return [cleaned[i : i + AFFINE.width].encode() for i in range(len(cleaned) - AFFINE.width + 1)]


def datasketch_update(texts: Sequence[str]) -> list[MinHash]:
    """The loop of datasketch's introduction: one call per shingle."""
    sketches = []
    for text in texts:
        sketch = MinHash(num_perm=AFFINE.permutations, seed=AFFINE.seed, scheme="affine32")
        for shingle in shingles(text):
            sketch.update(shingle)
        sketches.append(sketch)
    return sketches


def datasketch_bulk(texts: Sequence[str]) -> list[MinHash]:
    sketches = (shingles(text) for text in texts)
    made: list[MinHash] = MinHash.bulk(sketches, num_perm=AFFINE.permutations, seed=AFFINE.seed, scheme="affine32")
    return made


def rensa(texts: Sequence[str]) -> list[list[int]]:
    module = import_module("rensa")
    signatures = []
    for text in texts:
        sketch = module.RMinHash(AFFINE.permutations, AFFINE.seed)
        cleaned = clean(text)
        sketch.update([cleaned[i : i + AFFINE.width] for i in range(len(cleaned) - AFFINE.width + 1)])
        signatures.append(sketch.digest())
    return signatures


def measure(quick: bool) -> dict[str, Any]:
    texts, kind = load_texts(QUICK_MEGABYTES if quick else MEGABYTES)
    plain = [text for text in texts if text.isascii()]
    families: tuple[Family, ...] = ("affine32", "legacy", "oph")
    contenders: dict[str, Contender] = {family: signed(SignatureScheme(family)) for family in families}
    mixed_seconds, ascii_seconds = best_seconds(contenders, texts), best_seconds(contenders, plain)
    figures: dict[str, Any] = {"text_mb": round(_bytes(texts) / 1e6, 2), "corpus": kind}
    figures["ascii_mb"] = round(_bytes(plain) / 1e6, 2)
    for family in families:
        figures[f"{family}_mb_per_cpu_s"] = round(_bytes(texts) / 1e6 / mixed_seconds[family], 1)
        figures[f"{family}_ascii_mb_per_cpu_s"] = round(_bytes(plain) / 1e6 / ascii_seconds[family], 1)
    if not find_spec("rensa"):
        figures["note"] = "rensa is not installed: no comparison with it"
    megabytes = QUICK_SLOW_MEGABYTES if quick else SLOW_MEGABYTES
    return figures | ratios(_sample(texts, megabytes), "") | ratios(_sample(plain, megabytes), "_ascii")


def ratios(texts: Sequence[str], kind: str) -> dict[str, float | None]:
    """How many times faster `affine32` is than each of the others, on texts that they manage in a few seconds."""
    contenders: dict[str, Contender] = {
        "affine32": signed(AFFINE),
        "datasketch_update": datasketch_update,
        "datasketch_bulk": datasketch_bulk,
    }
    if find_spec("rensa"):
        contenders["rensa"] = rensa
    seconds = best_seconds(contenders, texts)
    names = ("datasketch_update", "datasketch_bulk", "rensa")
    taken = {name: seconds[name] / seconds["affine32"] if name in seconds else None for name in names}
    return {f"ratio{kind}_vs_{name}": ratio and round(ratio, 1) for name, ratio in taken.items()}


def best_seconds(contenders: Mapping[str, Contender], texts: Sequence[str]) -> dict[str, float]:
    """CPU seconds of the best round of each contender, in turns, after one on a few texts to load code."""
    for contender in contenders.values():
        contender(texts[:3])
    rounds = [{name: _seconds(contender, texts) for name, contender in contenders.items()} for _ in range(ROUNDS)]
    return {name: min(taken[name] for taken in rounds) for name in contenders}


def _seconds(contender: Contender, texts: Sequence[str]) -> float:
    start = time.process_time()
    contender(texts)
    return time.process_time() - start


def _sample(texts: Sequence[str], megabytes: float) -> list[str]:
    """Evenly spread texts, about that much of them."""
    return list(texts[:: max(1, round(_bytes(texts) / 1e6 / megabytes))])


def _bytes(texts: Sequence[str]) -> int:
    return sum(len(text.encode()) for text in texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_MEGABYTES} MB of text instead of {MEGABYTES}")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    figures = measure(given.quick)
    if given.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):32}{value if value is not None else '-':>12}")


if __name__ == "__main__":
    main()
