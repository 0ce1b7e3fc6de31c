"""Language models beside KenLM: `python -m benchmarks.language_models [--quick] [--json]`.

A model of words is trained on all texts of a corpus, by the stages themselves, and scores them (extra `kenlm`): MB of
text per CPU-second of `ngrams` (the n-grams of all shards), of `model` (the estimate and its file), of both as
`training`, and of `perplexity`, the stage of the tagger from documents to attributes, model and reading included.
`kenlm_score` is KenLM's own `Model.score` of lines that are ready, by the model that was trained; it is what the tagger
adds to. `lmplz` is KenLM's program for training, of a file of ready lines to the same model: it is in none of its
wheels, and is measured where one that was built is on the path.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from benchmarks.corpora import write_corpus
from benchmarks.dedupers import run_stage
from benchmarks.peers.process import run
from benchmarks.printed import printed
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.language_models.tokens import Split, lines_of, split_words
from corpus_assets.language_models.training import MODEL, read_trained
from resources.stage.partition import Partition

MEGABYTES, QUICK_MEGABYTES, ORDER = 16, 1, 5
LMPLZ, LMPLZ_SECONDS = "lmplz", 1800


def opened(folder: Path, megabytes: int) -> tuple[Corpus, str]:
    """A corpus of so much text with a model of all its sources, and what it is."""
    file, kind = write_corpus(folder, megabytes)
    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    model = {"name": "own", "sources": [source["name"] for source in config["sources"]], "order": ORDER}
    config |= {"language_models": [model], "attributes": [{"name": "lm", "taggers": ["own"]}]}
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    return Corpus.open(file), kind


def measure(quick: bool) -> dict[str, Any]:
    """The figures, and the corpus that they are of."""
    with tempfile.TemporaryDirectory() as folder:
        corpus, kind = opened(Path(folder), QUICK_MEGABYTES if quick else MEGABYTES)
        wanted = [stage.name for stage in corpus.graph.select(["+lm_attributes"])]
        costs = {name: run_stage(corpus, name) for name in wanted}
        record = corpus.ledger.records("own_language_model")[None]
        megabytes = costs["normalized_documents"]["text_bytes"] / 1e6
        taken = {
            "ngrams": costs["own_ngrams"]["cpu_seconds"],
            "model": costs["own_language_model"]["cpu_seconds"],
            "perplexity": costs["lm_attributes"]["cpu_seconds"],
            "kenlm_score": _by_kenlm(corpus),
        }
        taken["training"] = taken["ngrams"] + taken["model"]
        if program := shutil.which(LMPLZ):
            taken[LMPLZ] = _by_lmplz(corpus, program, Path(folder))
        file = Partition(corpus.storage, record).file(MODEL)
        return {
            "corpus": kind,
            "text_mb": round(megabytes, 1),
            "order": ORDER,
            "words": record.statistics["words"],
            "ngrams": record.statistics["rows_out"],
            "model_mb": round(file.bytes / 1e6, 1),
            **{f"{name}_mb_per_cpu_s": round(megabytes / max(cpu, 0.001), 2) for name, cpu in taken.items()},
            "perplexity_over_kenlm": round(taken["perplexity"] / taken["kenlm_score"], 2),
        }


def _by_kenlm(corpus: Corpus) -> float:
    """CPU-seconds of KenLM alone, for the lines of all documents."""
    trained = read_trained(Partition(corpus.storage, corpus.ledger.records("own_language_model")[None]))
    lines = list(_lines(corpus, trained.split))
    started = time.process_time()
    for line in lines:
        trained.model.score(line)
    return time.process_time() - started


def _by_lmplz(corpus: Corpus, program: str, folder: Path) -> float:
    """CPU-seconds of KenLM's program for a model of the lines of all documents."""
    text = folder / "lines.txt"
    text.write_text("".join(f"{line}\n" for line in _lines(corpus, split_words)), encoding="utf-8")
    options = ["-o", str(ORDER), "--discount_fallback", "-S", "1G", "-T", str(folder / "lmplz")]
    command = [program, *options, "--text", str(text), "--arpa", str(folder / "lmplz.arpa")]
    return run(command, folder=folder, log=folder / "lmplz.log", limit=LMPLZ_SECONDS).cpu_seconds


def _lines(corpus: Corpus, split: Split) -> Iterator[str]:
    for record in corpus.ledger.records("normalized_documents").values():
        for document in Partition(corpus.storage, record).documents():
            yield from map(" ".join, lines_of(document.text, split))


if __name__ == "__main__":
    printed(__doc__, measure)
