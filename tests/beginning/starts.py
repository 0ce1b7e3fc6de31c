"""Begins a corpus with `corpus init`, and builds what it wrote."""

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from corpus_assets.cli.main import app
from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.reading.loading import load_config
from corpus_assets.corpus.corpus import Corpus
from resources.errors import CorpusError
from tests.data.building import build

_LINE = "the river of the town and a house in that street is for it with some people as was on"
WORDS = _LINE.split(" ")


def prose(seed: int, words: int = 60) -> str:
    """Sentences of English words, other ones for each seed."""
    return " ".join(
        f"{WORDS[(seed * 7 + place * place) % len(WORDS)]}{seed if place % 9 == 0 else ''}" for place in range(words)
    )


def rows(count: int = 30, **more: Any) -> list[dict[str, Any]]:
    """Documents with ids and texts."""
    return [{"id": f"d{number}", "text": prose(number), **more} for number in range(count)]


def write_jsonl(path: Path, values: Iterable[Mapping[str, Any]]) -> Path:
    """Writes rows as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in values), encoding="utf-8")
    return path


def begin(place: str | Path, output: Path, *more: str) -> Result:
    """Runs `corpus init`; a refusal is its message in `exception`."""
    return CliRunner().invoke(app, ["init", str(place), "--output", str(output), *more])


def begun(place: str | Path, output: Path, *more: str) -> CorpusConfig:
    """Runs `corpus init`, which must succeed, and returns what it wrote."""
    done = begin(place, output, *more)
    assert done.exception is None, done.exception
    return load_config(output)


def refused(place: str | Path, output: Path, *more: str) -> str:
    """Runs `corpus init`, which must refuse with a message and leave nothing behind; returns the message."""
    done = begin(place, output, *more)
    assert isinstance(done.exception, CorpusError), done.exception
    assert not output.parent.exists() or list(output.parent.iterdir()) == []
    return str(done.exception)


def built(file: Path) -> Corpus:
    """Builds what a file describes in this process, twice: the second time there is nothing to do."""
    small = file.with_name("small.yaml")
    text = file.read_text(encoding="utf-8")
    head, _, rest = text.partition("\nstorage:\n")
    lines = [line for line in rest.splitlines() if line.startswith("  root:")]
    small.write_text(f"{head}\nstorage:\n{lines[0]}\n  sync: false\nengine: {{workers: 0}}\n", encoding="utf-8")
    build(Corpus.open(small))
    corpus = Corpus.open(small)
    assert build(corpus) == {}
    return corpus


def exported(file: Path, dataset: str) -> list[dict[str, Any]]:
    """Rows of a dataset of JSON lines that was built."""
    root = file.parent / load_config(file).storage.root
    found: list[dict[str, Any]] = []
    for path in sorted((root / "exports" / dataset).glob("*.jsonl*")):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        found += map(json.loads, content.decode().splitlines())
    return found
