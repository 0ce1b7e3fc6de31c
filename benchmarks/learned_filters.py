"""Learned filters beside the fastText library: `python -m benchmarks.learned_filters [--quick] [--json]`.

The texts of a corpus in two classes, by their own hash, so that nothing is learned and all of it is computed. MB of
text per CPU-second, the least of several rounds in turns: training with the same options by the stage's function and
by fastText's own `train_supervised` on a file that lies there; scoring by the tagger of each kind, from a document to
its span, and by fastText's `predict` of lines that are ready, one for one and in a list.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.minhash import load_texts
from benchmarks.printed import printed
from corpus_assets.classifiers import linear
from corpus_assets.classifiers.calibration import Calibration
from corpus_assets.classifiers.figures import figures_of
from corpus_assets.classifiers.model import NEGATIVE, POSITIVE, Head, Model, opened_body, score
from resources.documents.fasttext_models import LABEL, in_line, trained_model
from resources.documents.tagger import Text
from resources.formats.documents import Document
from resources.hashing import content_digest

MEGABYTES, QUICK_MEGABYTES, ROUNDS = 24, 2, 3
NGRAMS, BUCKETS, EPOCHS, CHARACTERS = 2, 1 << 18, 3, 1 << 20
OPTIONS: dict[str, Any] = {
    "lr": 0.1,
    "dim": 16,
    "epoch": EPOCHS,
    "wordNgrams": NGRAMS,
    "bucket": BUCKETS,
    "minCount": 2,
    "seed": 1,
}


def label_of(text: str) -> str:
    return POSITIVE if int(content_digest(text.encode())[:8], 16) % 2 else NEGATIVE


def seconds(work: Callable[[], Any]) -> float:
    """CPU-seconds, those of threads included."""
    started = time.process_time()
    work()
    return time.process_time() - started


def model_of(kind: Literal["linear", "fasttext"], body: bytes) -> Model:
    figures = figures_of(np.array([0.1, 0.9]), np.array([False, True]))
    head = Head(kind, CHARACTERS, NGRAMS, BUCKETS, Calibration("platt", 1.0, 0.0), figures, {})
    return Model(head, opened_body(kind, body, BUCKETS))


def measure(quick: bool) -> dict[str, Any]:
    import fasttext

    texts, corpus = load_texts(QUICK_MEGABYTES if quick else MEGABYTES)
    labels = [label_of(text) for text in texts]
    lines = [in_line(text) for text in texts]
    size = sum(len(text.encode()) for text in texts) / 1e6
    counts = (labels.count(NEGATIVE), labels.count(POSITIVE))
    shape = linear.Shape(NGRAMS, BUCKETS, EPOCHS, 0.1)

    def linear_body() -> bytes:
        pairs = [(text, label == POSITIVE) for text, label in zip(texts, labels, strict=True)]
        return linear.trained(lambda: iter(pairs), counts, shape)

    def fasttext_body() -> bytes:
        return trained_model(zip(labels, texts, strict=True), **OPTIONS)

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "examples.txt")
        file.write_text("".join(f"{LABEL}{one} {line}\n" for one, line in zip(labels, lines, strict=True)), "utf-8")
        models = {"fasttext": model_of("fasttext", fasttext_body()), "linear": model_of("linear", linear_body())}
        library = models["fasttext"].body
        works: dict[str, Callable[[], Any]] = {
            "train_fasttext": fasttext_body,
            "train_fasttext_library": lambda: fasttext.train_supervised(str(file), thread=1, verbose=0, **OPTIONS),
            "train_linear": linear_body,
            "score_fasttext": lambda: scored(models["fasttext"], texts),
            "score_fasttext_library": lambda: [library.predict(line, k=2) for line in lines],
            "score_fasttext_library_list": lambda: library.predict(lines, k=2),
            "score_linear": lambda: scored(models["linear"], texts),
        }
        least = dict.fromkeys(works, float("inf"))
        for _ in range(ROUNDS):
            for name, work in works.items():
                least[name] = min(least[name], seconds(work))
    found = {f"{name}_mb_per_cpu_s": round(size / taken, 1) for name, taken in least.items()}
    return {
        "corpus": corpus,
        "text_mb": round(size, 1),
        **found,
        "ratio_train_vs_library": round(least["train_fasttext_library"] / least["train_fasttext"], 2),
        "ratio_score_vs_library": round(least["score_fasttext_library"] / least["score_fasttext"], 2),
    }


def scored(model: Model, texts: Sequence[str]) -> None:
    for text in texts:
        score(Text(Document("a", text, "s")), model)


if __name__ == "__main__":
    printed(__doc__, measure)
