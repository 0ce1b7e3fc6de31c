"""Source code through the stages of a shuffled dataset, one core: the part of `benchmarks.tokenize` on real code.

The code is what every machine with Python has: the standard library and the packages beside it.
"""

import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from benchmarks.stages import run_stages
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from resources.errors import CorpusError
from resources.formats.documents import Document, encode_document
from resources.hashing import keyed_hash

MEASURED = ("train_sequences", "train_tokens")
SMALLER = 4
"""Times as much text as the smaller corpus has."""
LONGEST = 1 << 20


def sources() -> list[tuple[str, str]]:
    """Returns names and texts of the Python files of this machine, in an order without a trend."""
    folders = dict.fromkeys(Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib"))
    found = {str(path): path for folder in folders for path in folder.rglob("*.py") if path.is_file()}
    names = sorted(found, key=lambda name: keyed_hash("code", 0, name))
    return [(name, text) for name in names if (text := _text(found[name])) is not None]


def _text(path: Path) -> str | None:
    if path.stat().st_size > LONGEST:
        return None
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        return None


def shuffled_rate(folder: Path, tokenizer: bytes, megabytes: int, end: str) -> dict[str, float]:
    """MB of code per CPU-second from documents to shuffled HDF5: the cost of more text, without the fixed cost.

    megabytes: of text at most. tokenizer: a `tokenizer.json`, whose end-of-text token is `end`.
    """
    path = folder / "tokenizer.json"
    path.write_bytes(tokenizer)
    texts = sources()
    configs = [_corpus(folder / str(part), _first(texts, megabytes * 1e6 / part), path, end) for part in (SMALLER, 1)]
    for config in configs:
        _prepare(config)
    costs = [run_stages([configs[0], *configs], stage)[1:] for stage in MEASURED]
    small, large = (cost["text_bytes"] / 1e6 for cost in costs[0])
    seconds = sum(more["cpu_seconds"] - less["cpu_seconds"] for less, more in costs)
    rate = round((large - small) / seconds, 1)
    return {"code_mb": round(large, 1), "code_to_shuffled_hdf5_mb_per_cpu_s": rate}


def _first(texts: Sequence[tuple[str, str]], size: float) -> Iterator[bytes]:
    """Yields as many documents as have so many bytes."""
    for name, text in texts:
        if (size := size - len(text.encode())) < 0:
            return
        yield encode_document(Document(name, text, "code"))


def _corpus(folder: Path, lines: Iterator[bytes], tokenizer: Path, end: str) -> Path:
    (folder / "raw").mkdir(parents=True)
    with (folder / "raw" / "code.jsonl").open("wb") as file:
        file.writelines(lines)
    config = {
        "name": "code",
        "sources": [{"name": "code", "location": "raw"}],
        "storage": {"root": "corpus", "sync": False},
        "engine": {"workers": 0, "memory": "1 GiB"},
        "tokenizer": {"kind": "tokenizer_json", "path": str(tokenizer), "eos": end},
        "datasets": [{"name": "train", "input": "decontaminated_train", "shuffle": True}],
    }
    path = folder / "corpus.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def _prepare(config: Path) -> None:
    """Computes all that the measured stages read."""
    corpus = Corpus.open(config)
    for stage in corpus.graph:
        if stage.name in MEASURED:
            return
        step = Step(corpus, stage)
        step.run()
        if failures := step.failures():
            raise CorpusError("\n".join(failures))
