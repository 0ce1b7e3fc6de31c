"""Perplexity by small models: its definition, CCNet's normalization and buckets, and files that are no models."""

import sys
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
import sentencepiece

from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.attributes.taggers.labels.perplexity import borders_of, normalized, pieces_of
from resources.documents.kenlm_models import read_model
from resources.documents.tagger import Spans, Text
from resources.errors import BadFileError, StorageError
from resources.formats.documents import Document
from resources.outside_files import OutsideFile

UNIGRAMS = {
    "<unk>": -1.5,
    "</s>": -1.2,
    "the": -0.5,
    "river": -0.9,
    "▁the": -0.4,
    "▁riv": -0.8,
    "er": -1.0,
    "sea": -2.0,
}
ARPA = "\\data\\\nngram 1={count}\nngram 2=1\n\n\\1-grams:\n-99\t<s>\n{grams}\n\n\\2-grams:\n-0.1\tsea sea\n\n\\end\\\n"


def tagged(name: str, text: str, **held: Any) -> Spans:
    return BUILT_IN[name].tag(Text(Document("a", text, "s")), **held)


@pytest.fixture
def model(tmp_path: Path) -> Any:
    pytest.importorskip("kenlm", reason="the extra kenlm is not installed")
    grams = "\n".join(f"{score}\t{word}" for word, score in UNIGRAMS.items())
    (tmp_path / "model.arpa").write_text(ARPA.format(count=len(UNIGRAMS) + 1, grams=grams), encoding="utf-8")
    return BUILT_IN["perplexity"].files["model"]([OutsideFile(str(tmp_path / "model.arpa"))])


@pytest.fixture
def pieces(tmp_path: Path) -> Any:
    (tmp_path / "lines.txt").write_text("the river and the house\n" * 20 + "rivers of the north\n" * 20)
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "lines.txt"), model_prefix=str(tmp_path / "sp"), vocab_size=18, minloglevel=2
    )
    return pieces_of([OutsideFile(str(tmp_path / "sp.model"))])


def expected(words: list[list[str]]) -> float:
    """Perplexity by the unigrams of the model, with an end for each line."""
    scores = [UNIGRAMS.get(word, UNIGRAMS["<unk>"]) for line in words for word in [*line, "</s>"]]
    return round(float(10 ** (-sum(scores) / len(scores))), 1)


def test_it_is_the_perplexity_over_the_words_of_all_lines(model: Any) -> None:
    text = "the river the\n \nriver sky\n"
    ((start, end, score),) = tagged("perplexity", text, model=model)["perplexity"]
    assert (start, end) == (0, len(text))
    assert score == expected([["the", "river", "the"], ["river", "sky"]])
    assert tagged("perplexity", " \n", model=model) == {}


def test_pieces_of_the_normalized_text_and_their_bucket(model: Any, pieces: Any, tmp_path: Path) -> None:
    text = "The RIVER\nrivér"
    split = pieces.encode("the riverriver", out_type=str)
    score = tagged("ccnet_perplexity", text, model=model, tokenizer=pieces)["perplexity"][0][2]
    assert score == expected([split])
    for borders, bucket in ((f"{score} 999", "middle"), (f"{score + 0.1}\n999", "head"), (f"1 {score}", "tail")):
        (tmp_path / "borders").write_text(borders)
        found = tagged(
            "ccnet_bucket",
            text,
            model=model,
            tokenizer=pieces,
            borders=borders_of([OutsideFile(str(tmp_path / "borders"))]),
        )
        assert found == {bucket: [(0, len(text), score)]}
    assert tagged("ccnet_perplexity", "\n", model=model, tokenizer=pieces) == {}


def test_normalization_is_that_of_ccnet() -> None:
    assert normalized("  Él „1２3“ — fin…\t«ok»\u00ad ") == 'el "000"  -  fin..."ok"\u00ad'


@pytest.mark.parametrize(
    "content", [b"", b"no model\n" * 9, b"mmap lm http://kheafield.com/code format version 5\n\0xx"]
)
def test_a_file_that_is_no_model_is_named(tmp_path: Path, content: bytes) -> None:
    pytest.importorskip("kenlm", reason="the extra kenlm is not installed")
    (tmp_path / "bad.arpa").write_bytes(content)
    with pytest.raises(BadFileError, match=r"bad\.arpa.*no model that KenLM can read"):
        BUILT_IN["perplexity"].files["model"]([OutsideFile(str(tmp_path / "bad.arpa"))])


def test_a_file_that_is_no_tokenizer_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.model").write_bytes(b"no model" * 20)
    with pytest.raises(BadFileError, match=r"bad\.model.*no model of SentencePiece"):
        pieces_of([OutsideFile(str(tmp_path / "bad.model"))])


@pytest.mark.parametrize("content", ["", "300", "300 x", "600 300", "-1 5", "5 inf", "nan 5", "1 2 3"])
def test_borders_are_two_rising_numbers(tmp_path: Path, content: str) -> None:
    (tmp_path / "borders").write_text(content)
    with pytest.raises(BadFileError, match=r"borders.*two"):
        borders_of([OutsideFile(str(tmp_path / "borders"))])


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("ErrnoException because `-1 == (ret = open(name, 00))'. Too many open files while opening m", StorageError),
        ("FDException because `ret < 0'. Input/output error in m while reading 6 bytes in file m", StorageError),
        ("FDException because `ret < 0'. Is a directory in m while reading 6 bytes in file m", BadFileError),
        ('FormatLoadException. first non-empty line was "no model" not \\data\\. Byte: 8', BadFileError),
    ],
)
def test_a_model_that_the_machine_cannot_read_may_be_one(
    monkeypatch: pytest.MonkeyPatch, said: str, kind: type[Exception]
) -> None:
    """The library has no other errors than `OSError` without a number."""
    library = MagicMock()
    library.Model.side_effect = OSError(f"Cannot read model 'm' (util/file.cc:76 in int util::Open threw {said})")
    monkeypatch.setitem(sys.modules, "kenlm", library)
    with pytest.raises(kind, match=r"^m\.arpa: "):
        read_model("m", "m.arpa")
