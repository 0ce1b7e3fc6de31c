"""Counted places of tokens are those that the libraries give."""

import io
from functools import cache
from typing import Any

import numpy as np
import pytest
import sentencepiece
from hypothesis import example, given
from hypothesis import strategies as st

from corpus_assets.tokenize.token_starts import Heads, token_starts
from corpus_assets.tokenize.tokenizers.library import LibraryBackend
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer, TokenizerSpec, load_tokenizer
from tests.golden import shared
from tests.tokenize.byte_tokenizer import ByteTokenizer
from tests.tokenize.test_cuts import TEXTS
from tests.tokenize.tokenizers_for_tests import texts, trained

FILES = {
    "gpt2": "tokenizer.json",
    "llama": "tokenizer.json",
    "llama.model": "tokenizer.model",
    "mistral-v3": "tokenizer.json",
    "olmo-dolma2": "tokenizer.json",
    "olmo-neox-dolma": "tokenizer.json",
    "t5": "tokenizer.json",
    "t5.model": "spiece.model",
}


def same(text: str, tokenizer: LoadedTokenizer | ByteTokenizer) -> None:
    ids, starts = tokenizer.encode_offsets(text)
    counted = token_starts(text, tokenizer.encode_plain([text]).ids, tokenizer)
    assert counted.tolist() == starts.tolist()
    assert counted.dtype == starts.dtype
    assert counted.size == ids.size
    for cut in {1, len(text) // 2, len(text) - 1}:
        head = Heads(tokenizer).ids_of(text[: max(0, cut)], ids)
        assert head is None or head == np.searchsorted(starts, cut)


def test_ids_of_a_head_are_counted_where_a_token_ends_with_it() -> None:
    tokenizer = byte_level()
    ids = tokenizer.encode_plain(["ab\n\N{SNOWMAN}c"]).ids
    starts = token_starts("ab\n\N{SNOWMAN}c", ids, tokenizer)
    assert Heads(tokenizer).ids_of("ab\n", ids) == int(np.searchsorted(starts, 3))
    assert Heads(tokenizer).ids_of("ab\n\N{SNOWMAN}c", ids) == ids.size
    assert Heads(tokenizer).ids_of("ax", ids) is None


@cache
def byte_level() -> LoadedTokenizer:
    return load_tokenizer({"tokenizer.json": trained()}, TokenizerSpec("neox"))


@cache
def of_model(kind: str, **options: Any) -> LoadedTokenizer:
    stream = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat on the mat 12345", "naïve café, don't!", "中文没有空格"] * 9),
        model_writer=stream,
        model_type=kind,
        vocab_size=420,
        hard_vocab_limit=False,
        normalization_rule_name="identity",
        minloglevel=2,
        **options,
    )
    return load_tokenizer({"tokenizer.model": stream.getvalue()}, TokenizerSpec("sentencepiece", pad=0))


@given(TEXTS | st.text())
@example(" \u2581x \u2581")
def test_of_byte_level_tokens(text: str) -> None:
    same(text, byte_level())
    same(text, ByteTokenizer())


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@given(TEXTS | st.text())
@example("  two")
def test_behind_a_prefix_space(kind: str, text: str) -> None:
    for extra in (False, True):
        for fallback in (False, True):
            same(text, of_model(kind, remove_extra_whitespaces=extra, add_dummy_prefix=True, byte_fallback=fallback))


@given(TEXTS | st.text())
@example("the cat")
def test_where_words_end_with_a_space(text: str) -> None:
    same(text, of_model("bpe", treat_whitespace_as_suffix=True, byte_fallback=True))


@pytest.mark.parametrize("name", FILES)
def test_of_published_tokenizers(name: str) -> None:
    raw = shared("tokenizers", name.removesuffix(".model"), FILES[name]).read_bytes()
    spec = TokenizerSpec("sentencepiece" if FILES[name].endswith("model") else "tokenizer_json", pad=0)
    tokenizer = load_tokenizer({FILES[name]: raw}, spec)
    for text in texts():
        same(text, tokenizer)


def test_texts_whose_tokens_make_them_up_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(LibraryBackend, "encode_offsets", lambda _, text: asked.append(text))
    tokenizer = byte_level()
    text = "naïve café, the cat 😀\n" * 40
    starts = token_starts(text, tokenizer.encode_plain([text]).ids, tokenizer)
    assert not asked
    assert np.all(np.diff(starts) >= 0)
