"""A trained tokenizer: the same in every process, loses no text, has the ids promised."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
