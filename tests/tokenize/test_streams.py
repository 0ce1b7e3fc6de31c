"""From texts to rows and back: what is decoded from the rows is the texts, however they were cut on the way."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.encode import texts as encoding
from corpus_assets.tokenize.modes.lm import lm_rows, lm_rows_over_files
from corpus_assets.tokenize.modes.lm_vsl import lm_vsl_rows
from corpus_assets.tokenize.ragged import Ragged
from corpus_assets.tokenize.rows.layouts import PACKED_TEXTS, TEXTS
from tests.tokenize.byte_tokenizer import ByteTokenizer
from tests.tokenize.counting import count
from tests.tokenize.sections import lm, lm_vsl

TOKENIZER = ByteTokenizer()
END = "<eos>"
DOCUMENTS = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<"), min_size=1), max_size=12)
CUTS = st.lists(st.integers(1, 5), max_size=12)


def batches(texts: list[str], cuts: list[int], statistics: Statistics) -> list[Ragged]:
    """Encoded texts, handed on in other batches than they were encoded in."""
    encoded = encoding.encode_texts(texts, TOKENIZER, lm(), statistics)
    lists = [ids for batch in encoded for ids in batch]
    found = []
    for size in [*cuts, len(lists) + 1]:
        found.append(Ragged.of(lists[:size]))
        del lists[:size]
    return found


def stream(rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """The ids that packed rows were cut from: all inputs of the loss, and the last label."""
    real = rows[:, 1] == 1
    return np.concatenate([rows[:, 0][real], rows[:, 2][real][-1:]])


@given(DOCUMENTS, CUTS, st.integers(3, 9))
def test_packed_rows_decode_to_the_texts(texts: list[str], cuts: list[int], length: int) -> None:
    statistics = Statistics()
    settings = lm(length, minimum_length=0)
    blocks = lm_rows(batches(texts, cuts, statistics), settings, TOKENIZER.eos_id, TOKENIZER.pad_id, statistics)
    rows = np.concatenate([np.empty((0, 3, length), np.int32), *blocks])
    assert TOKENIZER.decode(stream(rows)) == "".join(text + END for text in texts)
    found = count([rows], TEXTS, eos_id=TOKENIZER.eos_id, pad_id=TOKENIZER.pad_id)
    assert found.faults == []
    assert found.counts.loss_valid_tokens == statistics.loss_valid_tokens
    assert statistics.unaccounted_tokens == 0


@given(DOCUMENTS, CUTS, st.integers(3, 9))
def test_sequences_of_packed_documents_decode_to_the_texts(texts: list[str], cuts: list[int], length: int) -> None:
    statistics = Statistics()
    settings = lm_vsl(length, minimum_length=0)
    batched = batches(texts, cuts, statistics)
    blocks = lm_vsl_rows(batched, settings, TOKENIZER.eos_id, TOKENIZER.pad_id, statistics)
    rows = np.concatenate([np.empty((0, 5, length), np.int32), *blocks])
    assert count([rows], PACKED_TEXTS, eos_id=TOKENIZER.eos_id, pad_id=TOKENIZER.pad_id).faults == []
    assert statistics.unaccounted_tokens == 0
    assert sorted(folded(texts, length)) == sorted(tuple(ids) for row in rows for ids in sequences(row))


@given(st.lists(DOCUMENTS, max_size=5), st.integers(3, 9), st.booleans())
def test_packing_over_files_is_packing_one_stream(files: list[list[str]], length: int, keep_tail: bool) -> None:
    """The rows, and the counts, of all documents as one file, wherever files begin; no row belongs to two files."""
    settings = lm(length, minimum_length=0, keep_tail=keep_tail)
    one, several = Statistics(), Statistics()
    eos, pad = TOKENIZER.eos_id, TOKENIZER.pad_id
    whole = [text for texts in files for text in texts]
    rows = list(lm_rows(batches(whole, [], one), settings, eos, pad, one))
    parts = lm_rows_over_files((batches(texts, [], several) for texts in files), settings, eos, pad, several)
    made = [list(blocks) for blocks in parts]
    assert len(made) == len(files)
    empty = np.empty((0, 3, length), np.int32)
    np.testing.assert_array_equal(
        np.concatenate([empty, *(block for blocks in made for block in blocks)]), np.concatenate([empty, *rows])
    )
    assert several == one
    assert several.unaccounted_tokens == 0


def folded(texts: list[str], length: int) -> list[tuple[int, ...]]:
    """Windows of every document, neighbours sharing an id, those with a label."""
    windows = []
    for ids in TOKENIZER.encode_plain(texts):
        whole = [*ids.tolist(), TOKENIZER.eos_id]
        windows += [tuple(whole[first : first + length + 1]) for first in range(0, len(whole) - 1, length)]
    return windows


def sequences(row: NDArray[np.int32]) -> list[list[int]]:
    """Ids of every sequence of a row, the last label included; spans say where each ends."""
    inputs, mask, labels, spans, _ = row
    found: list[list[int]] = []
    first = 0
    for position in np.flatnonzero((spans == 0) & (mask == 1)).tolist():
        found.append([*inputs[first : position + 1].tolist(), int(labels[position])])
        first = position + 1
    return found
