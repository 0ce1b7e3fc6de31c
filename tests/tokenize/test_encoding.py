"""Texts to batches of ids: counts, pieces, and documents of any length."""

import json
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.encode import cuts
from corpus_assets.tokenize.encode import texts as encoding
from corpus_assets.tokenize.encode.texts import encode_long, encode_texts, utf8_length
from corpus_assets.tokenize.ragged import Ragged
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer, TokenizerSpec, load_tokenizer
from corpus_assets.tokenize.tokenizers.training import train_bpe
from tests.golden import shared
from tests.tokenize.sections import lm

TEXTS = ["the cat sat on the mat", "naïve café 12345", "for i in range(10):\n    pass"]
AROUND = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "<|padding|>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}},
    ],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
    "special_tokens": {
        "<|padding|>": {"id": "<|padding|>", "ids": [1], "tokens": ["<|padding|>"]},
        "<|endoftext|>": {"id": "<|endoftext|>", "ids": [0], "tokens": ["<|endoftext|>"]},
    },
}


def trained(**parts: object) -> LoadedTokenizer:
    raw = json.loads(train_bpe(TEXTS * 3, 300))
    return load_tokenizer({"tokenizer.json": json.dumps(raw | parts).encode()}, TokenizerSpec("neox"))


PLAIN, WITH_AROUND = trained(), trained(post_processor=AROUND)


class Letters(LoadedTokenizer):
    """A tokenizer with one id per character, after id 0 where it adds a begin-of-text id."""

    def encode_batch(self, texts: Sequence[str]) -> Ragged:
        before = [0] * self.adds_bos
        return Ragged.of(before + [ord(letter) for letter in text] for text in texts)


def letters(adds_bos: bool) -> Letters:
    base = WITH_AROUND if adds_bos else PLAIN
    return Letters(base.backend, base.eos_id, base.pad_id, base.bos_id, "letters")


def lists(
    texts: Sequence[str], tokenizer: LoadedTokenizer, length: int | None = None, remove_bos: bool = False
) -> list[list[int]]:
    section = lm(split_text=length, remove_bos_in_pieces=remove_bos)
    batches = encode_texts(texts, tokenizer, section, Statistics())
    return [ids.tolist() for batch in batches for ids in batch]


@given(
    st.lists(st.text(st.sampled_from("ab "), min_size=1, max_size=30), max_size=5),
    st.integers(1, 9),
    st.booleans(),
    st.sampled_from([5, 20, 1 << 20]),
)
def test_removing_bos_in_pieces_undoes_the_split(texts: list[str], length: int, adds_bos: bool, batch: int) -> None:
    tokenizer = letters(adds_bos)
    whole = lists(texts, tokenizer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "BATCH_CHARACTERS", batch)
        assert lists(texts, tokenizer, length, True) == whole
        pieces = lists(texts, tokenizer, length, False)
    assert [[id_ for id_ in ids if id_] for ids in pieces] == [[id_ for id_ in ids if id_] for ids in whole]


def test_an_empty_text_has_no_piece_and_so_no_begin_of_text_id() -> None:
    """As in Cerebras, which encodes pieces; the ids of what stands around it stay in their places."""
    section = lm(split_text=2, keep_empty=True)
    for texts, expected in [
        (["", "ab c", ""], [[], [0, 97, 98, 0, 32, 99], []]),
        (["", ""], [[], []]),
    ]:
        batches = encode_texts(texts, letters(True), section, Statistics())
        assert [ids.tolist() for batch in batches for ids in batch] == expected
    section = lm(split_text=2, keep_empty=True, remove_bos_in_pieces=True)
    batches = encode_texts(["ab c", "", "d"], letters(True), section, Statistics())
    assert [ids.tolist() for batch in batches for ids in batch] == [[0, 97, 98, 32, 99], [], [0, 100]]


def test_encoding_counts_texts_and_leaves_empty_ones_out() -> None:
    statistics = Statistics()
    texts = ["ab", "", "( ç )"]
    (batch,) = encode_texts(texts, letters(False), lm(wikitext=True), statistics)
    assert [ids.tolist() for ids in batch] == [[97, 98], [40, 231, 41]]
    assert (statistics.processed_files, statistics.discarded_files) == (3, 1)
    assert statistics.discarded_documents == {"empty_text": 1}
    assert (statistics.raw_chars_count, statistics.normalized_chars_count) == (7, 5)
    assert (statistics.raw_bytes_count, statistics.normalized_bytes_count) == (8, 6)
    assert list(encode_texts([""], letters(False), lm(), Statistics())) == []


def test_texts_that_cleaning_empties_are_documents_if_they_are_kept() -> None:
    statistics = Statistics()
    section = lm(ftfy=True, keep_empty=True)
    (batch,) = encode_texts(["ab", "\x00", "c"], letters(False), section, statistics)
    assert [ids.tolist() for ids in batch] == [[97, 98], [], [99]]
    assert (statistics.processed_files, statistics.discarded_files) == (3, 0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["the cat", " ", "\n", "naïve", "12", "'s", ".", "e\u0301", "<|padding|>"]), min_size=1),
    st.sampled_from([PLAIN, WITH_AROUND]),
)
def test_a_long_text_has_the_ids_of_the_whole_and_its_place(parts: list[str], tokenizer: LoadedTokenizer) -> None:
    texts = ["the", "".join(parts) * 20, "cat", "sat on"]
    whole = [ids.tolist() for ids in tokenizer.encode_batch(texts)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "BATCH_CHARACTERS", 7)
        patch.setattr(encoding, "cut_places", lambda text, cutter: cuts.cut_places(text, cutter, size=7))
        assert lists(texts, tokenizer) == whole


def test_pieces_do_not_depend_on_the_batch() -> None:
    text = "the cat sat on the mat " * 40
    for tokenizer in (PLAIN, WITH_AROUND):
        for remove in (False, True):
            expected = lists([text, "cat"], tokenizer, 10, remove)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(encoding, "BATCH_CHARACTERS", 64)
                assert lists([text, "cat"], tokenizer, 10, remove) == expected


def test_text_without_a_place_to_cut_is_discarded_and_counted() -> None:
    statistics = Statistics()
    texts = ["the cat", "1" * (cuts.LONGEST_PIECE + 1), "sat"]
    batches = list(encode_texts(texts, PLAIN, lm(), statistics))
    assert [len(batch) for batch in batches] == [1, 1]
    assert statistics.discarded_documents == {"no_place_to_cut": 1}
    assert (statistics.processed_files, statistics.discarded_files) == (3, 1)
    assert encode_long(texts[1], PLAIN) is None


@given(st.text(max_size=40))
def test_utf8_length(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "BATCH_CHARACTERS", 3)
        assert utf8_length(text) == len(text.encode())


_LONG = """
import resource, sys
from corpus_assets.config.datasets.modes import LMDataset
from corpus_assets.tokenize.encode.backends import accelerate
from corpus_assets.tokenize.encode.texts import encode_texts
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.tokenizers.loading import TokenizerSpec, load_tokenizer
from corpus_assets.tokenize.tokenizers.training import train_bpe

definition = train_bpe(["the cat sat on the mat"], 300)
tokenizer = accelerate(load_tokenizer({"tokenizer.json": definition}, TokenizerSpec("neox")), "auto", [])
def run(size, count):
    held = 0
    texts = ('{"cat":[1,"sat"],' * (size // 17) for _ in range(count))
    for batch in encode_texts(texts, tokenizer, LMDataset(name="d"), Statistics()):
        held = size + batch.ids.nbytes
        del batch
    return held, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
_, before = run(8 << 20, 1)
held, after = run(int(sys.argv[1]), int(sys.argv[2]))
print(held, after - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "count"), [(64 << 20, 1), (128 << 20, 3), pytest.param(500_000_000, 1, marks=pytest.mark.minutes)]
)
def test_a_huge_line_takes_the_memory_of_its_characters_and_ids(size: int, count: int) -> None:
    command = [sys.executable, "-c", _LONG, str(size), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    held, grown = map(int, done.stdout.split())
    assert held > size
    # The buffer of the ids grows by an eighth at a time, and a word cache is part of the constant.
    assert grown < 1.3 * held + (96 << 20)


_STRETCH = """
import base64, resource, sys, time
from pathlib import Path
from random import Random
from corpus_assets.config.datasets.modes import LMDataset
from corpus_assets.tokenize.encode.backends import accelerate
from corpus_assets.tokenize.encode.texts import encode_texts
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.tokenizers.loading import TokenizerSpec, load_tokenizer

file, seen = Path(sys.argv[1]), Statistics()
model = file.suffix == ".model"
spec = TokenizerSpec("sentencepiece" if model else "tokenizer_json", pad=0)
tokenizer = load_tokenizer({"tokenizer.model" if model else "tokenizer.json": file.read_bytes()}, spec)
tokenizer = accelerate(tokenizer, "auto", [])
size = 8_000_000
unit = sys.argv[2]
random = base64.b64encode(Random(0).randbytes(size * 3 // 4)).decode()
text = random if unit == "base64" else unit * (size // len(unit))
del random
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
ids = [len(batch.ids) for batch in encode_texts(["the cat", text, "sat"], tokenizer, LMDataset(name="d"), seen)]
print(seen.discarded_documents["no_place_to_cut"], len(ids), sum(ids), time.process_time() - before[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before[0])
"""
FILES = {
    "gpt2": "tokenizer.json",
    "neox": "neox-encoder.json",
    "olmo-dolma2": "tokenizer.json",
    "llama": "tokenizer.model",
}


STRETCHES = [(name, unit) for name in FILES for unit in ("a", "\n", "base64")]
STRETCHES += [("llama", unit) for unit in (" ", "1", "\N{PARTY POPPER}", "\u0301")]


@pytest.mark.slow
@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("name", "unit"), STRETCHES)
def test_a_stretch_without_places_costs_one_look_at_it(name: str, unit: str) -> None:
    """Only the other two texts are left, or the ids of the whole: by the tokenizer's own rules, never by its size."""
    command = [sys.executable, "-c", _STRETCH, str(shared("tokenizers", name, FILES[name])), unit]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    discarded, batches, ids, _, grown = done.stdout.split()
    assert (int(discarded), int(batches)) in ((0, 3), (1, 2))
    cut = unit == "base64" or (name == "llama" and unit not in "a ")
    assert int(discarded) == (not cut)
    assert int(ids) > 1_000_000 if cut else int(ids) < 20
    assert int(grown) * 1024 < 12 * 4 * 8_000_000


def test_batches_hold_about_so_many_characters() -> None:
    texts = ["the cat sat"] * 50
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "BATCH_CHARACTERS", 100)
        batches = list(encode_texts(texts, PLAIN, lm(), Statistics()))
    assert [len(batch) for batch in batches] == [10, 10, 10, 10, 10]
    np.testing.assert_array_equal(np.concatenate([batch.ids for batch in batches]), PLAIN.encode_batch(texts).ids)
