"""Imports files of a tool, and builds what comes out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.importer.draft import Draft
from corpus_assets.tokenize.tokenizers.training import train_bpe
from resources.formats.documents import Document
from tests.data.building import build, documents, open_corpus

Importer = Callable[[Sequence[Path], Path], Draft]
WORDS = (
    *("the", "corpus", "has", "many", "documents", "and", "each", "of", "them", "holds", "a", "few", "words"),
    *("that", "people", "wrote", "with", "care"),
)


def text(number: int, words: int = 120) -> str:
    """A text of its own: words in an order that the number gives."""
    steps = range(words)
    return " ".join(f"{WORDS[(number * 7 + step * (number % 5 + 1)) % len(WORDS)]}{number % 97}" for step in steps)


def write_tokenizer(file: Path) -> None:
    """Writes a small tokenizer.json with `<|endoftext|>`, `<|padding|>` and the tokens of FIM."""
    file.parent.mkdir(parents=True, exist_ok=True)
    tokens = ("<|endoftext|>", "<|padding|>", "<fim_prefix>", "<fim_middle>", "<fim_suffix>")
    file.write_bytes(train_bpe([text(number) for number in range(8)], 400, special_tokens=tokens))


def imported(importer: Importer, folder: Path, files: Mapping[str, str]) -> Draft:
    """What an importer makes of files in a folder."""
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    return importer([folder / name for name in files], folder)


def built(draft: Draft, folder: Path, **values: Any) -> Corpus:
    """The corpus of an import in its folder, completely built in this process. values: instead of those imported."""
    engine = {**draft.values.get("engine", {}), "workers": 0}
    corpus = open_corpus(folder, {**draft.values, "engine": engine, **values})
    build(corpus)
    return corpus


def texts(corpus: Corpus, asset: str) -> set[str]:
    """The texts of all documents of an asset."""
    found: Iterable[Document] = documents(corpus, asset)
    return {document.text for document in found}


def assert_all_named(draft: Draft, keys: Iterable[str]) -> None:
    """Every parameter is taken over or left with a reason."""
    named = {*draft.taken, *draft.left_out}
    missing = [key for key in keys if not any(key == one or one.endswith((f" {key}", f".{key}")) for one in named)]
    assert missing == []
