"""A trained tokenizer: the same in every process, loses no text, has the ids promised."""

import os
import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.tokenize.encode.cuts import PIECE_CHARACTERS, parts_to_train_on
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer, TokenizerSpec, load_tokenizer
from corpus_assets.tokenize.tokenizers.training import train_bpe
from resources.errors import ConfigError

CORPUS = [f"the {word} of number {n} and the other {word}s" for n in range(60) for word in ("cat", "dog", "émeu")]
PROGRAM = """
import hashlib, sys
from corpus_assets.tokenize.tokenizers.training import train_bpe
print(hashlib.sha256(train_bpe(sys.stdin.read().split("|"), 340)).hexdigest())
"""


@pytest.fixture(scope="module")
def tokenizer() -> LoadedTokenizer:
    return load_tokenizer({"tokenizer.json": train_bpe(CORPUS, 340)}, TokenizerSpec("neox"))


def test_threads_and_processes_do_not_matter() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input="|".join(CORPUS),
            env={**os.environ, "RAYON_NUM_THREADS": threads, "TOKENIZERS_PARALLELISM": parallel},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads, parallel in (("1", "false"), ("1", "true"), ("3", "true"), ("2", "true"))
    }
    assert len(digests) == 1


@given(st.text())
def test_any_text_comes_back(tokenizer: LoadedTokenizer, text: str) -> None:
    ids = tokenizer.encode_batch([text])[0].tolist()
    assert tokenizer.decode(ids) == text
    assert all(1 < id_ < tokenizer.vocab_size for id_ in ids)


def test_ids_are_as_promised(tokenizer: LoadedTokenizer) -> None:
    assert (tokenizer.eos_id, tokenizer.pad_id, tokenizer.vocab_size) == (0, 1, 340)
    assert tokenizer.encode_batch([" the"])[0].size == 1


def test_few_texts_give_a_smaller_vocabulary() -> None:
    small = load_tokenizer({"tokenizer.json": train_bpe(iter(["ab ab"]), 1000)}, TokenizerSpec("neox"))
    assert 258 < small.vocab_size < 270
    none = load_tokenizer({"tokenizer.json": train_bpe([], 1000)}, TokenizerSpec("neox"))
    assert none.vocab_size == 258


@pytest.mark.parametrize(("size", "tokens"), [(257, ("a", "b")), (400, ("<x>", "<x>"))])
def test_impossible_vocabularies_are_refused(size: int, tokens: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError):
        train_bpe(CORPUS, size, special_tokens=tokens)


def test_a_long_text_is_trained_on_in_parts_with_the_words_of_the_whole() -> None:
    chance = random.Random(5)
    words = [
        *(f"{word}{n}" for n in range(300) for word in ("cat's", "émeu ", "number\n\n", "…", "  the")),
        "\t",
        "don't",
    ]
    text = " ".join(chance.choices(words, k=PIECE_CHARACTERS // 3))
    parts = list(parts_to_train_on(text))
    assert len(parts) > 1
    assert "".join(parts) == text
    assert train_bpe(parts, 600) == train_bpe([text], 600)


def test_a_text_without_a_place_to_cut_stays_whole() -> None:
    text = "a" * (5 * PIECE_CHARACTERS)
    assert list(parts_to_train_on(text)) == [text]
