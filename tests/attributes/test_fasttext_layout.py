"""Models of fastText that are cut or damaged are refused before the library reads them."""

import io
import struct
import sys
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.attributes.fasttext_layout import ModelError, check_layout
from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.attributes.taggers.fasttext import model_of
from resources.documents.fasttext_models import opened_model, trained_model
from resources.errors import BadFileError, StorageError
from resources.outside_files import OutsideFile

WORDS = ["the", "of", "fleuve"]
LABELS = ["__label__en", "__label__fr"]
DIM = 4


def model_bytes(words: int = len(WORDS), kind: int = 3, bucket: int = 8, quantized: bool = False) -> bytes:
    """A model in the layout of fastText, with vectors of zeros."""
    head = struct.pack("<ii12id", 793712314, 12, DIM, 5, 5, 1, 5, 1, 3, kind, bucket, 2, 3, 100, 1e-4)
    head += struct.pack("<3i2q", words + len(LABELS), words, len(LABELS), 100, -1)
    entries = [*((word, 0) for word in WORDS), *((label, 1) for label in LABELS)]
    head += b"".join(word.encode() + b"\0" + struct.pack("<qb", 7, number) for word, number in entries)
    rows = len(WORDS) + bucket
    quantizer = struct.pack("<4i", DIM, 2, 2, 2) + bytes(DIM * 256 * 4)
    packed = b"\0" + struct.pack("<2qi", rows, DIM, rows * 2) + bytes(rows * 2) + quantizer
    plain = struct.pack("<2q", rows, DIM) + bytes(rows * DIM * 4)
    output = struct.pack("<2q", len(LABELS), DIM) + bytes(len(LABELS) * DIM * 4)
    return head + bytes([quantized]) + (packed if quantized else plain) + b"\0" + output


@pytest.mark.parametrize("quantized", [False, True])
def test_a_model_that_ends_early_or_late_is_refused(quantized: bool) -> None:
    whole = model_bytes(quantized=quantized)
    check_layout(io.BytesIO(whole))
    for end in range(0, len(whole), 1 if len(whole) < 2000 else 7):
        with pytest.raises(ModelError):
            check_layout(io.BytesIO(whole[:end]))
    with pytest.raises(ModelError, match="bytes after its end"):
        check_layout(io.BytesIO(whole + b"\0"))


@given(place=st.integers(0, len(model_bytes()) - 1), mask=st.integers(1, 255))
def test_any_damage_is_an_error_or_a_model_of_the_same_size(place: int, mask: int) -> None:
    damaged = bytearray(model_bytes())
    damaged[place] ^= mask
    try:
        check_layout(io.BytesIO(damaged))
    except ModelError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x1f\x8b" + bytes(5000), "no model of fastText"),
        (model_bytes(kind=1), "a model of word vectors"),
        (model_bytes()[:150], r"is damaged: it has an early end"),
        (model_bytes(bucket=0), "n-grams in 0 buckets"),
        (model_bytes(words=2), "a word as entry 2 of its dictionary"),
        (model_bytes(words=2**30), "a label as entry 3 of its dictionary"),
        (model_bytes()[:92] + b"a" * (3 << 20), "a word of more than 1048576 bytes"),
    ],
)
def test_a_damaged_model_is_a_bad_file_by_name(tmp_path: Path, content: Any, message: str) -> None:
    pytest.importorskip("fasttext", reason="the extra fasttext is not installed")
    (tmp_path / "m.bin").write_bytes(content)
    with pytest.raises(BadFileError, match=rf"m\.bin: .*{message}"):
        BUILT_IN["fasttext_doc"].files["model"]([OutsideFile(str(tmp_path / "m.bin"))])


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("/tmp/x/m.bin cannot be opened for loading!"), StorageError),
        (MemoryError("std::bad_alloc"), MemoryError),
        (RuntimeError("odd"), BadFileError),
    ],
)
def test_a_model_that_the_machine_cannot_load_is_no_bad_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, kind: type[Exception]
) -> None:
    """Its layout was found to be right before."""
    library = MagicMock()
    library._FastText.side_effect = error
    monkeypatch.setitem(sys.modules, "fasttext", MagicMock(FastText=library))
    monkeypatch.setitem(sys.modules, "fasttext.FastText", library)
    (tmp_path / "m.bin").write_bytes(model_bytes())
    with pytest.raises(kind):
        model_of([OutsideFile(str(tmp_path / "m.bin"))])
    with pytest.raises(ValueError if kind is BadFileError else kind):
        opened_model(model_bytes())


def test_training_without_memory_is_no_fault_of_the_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fasttext", MagicMock(train_supervised=Mock(side_effect=MemoryError)))
    with pytest.raises(MemoryError):
        trained_model([("a", "text")])
