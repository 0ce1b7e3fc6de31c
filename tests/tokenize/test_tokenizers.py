"""Tokenizers against recorded ids, and the rules for end-of-text, padding and special tokens."""

import json
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.tokenize import tokenizers
from corpus_assets.tokenize.cleaning import CleaningSettings
from corpus_assets.tokenize.statistics import Statistics
from corpus_assets.tokenize.tokenizers import LoadedTokenizer, TokenizerSpec, encode_texts, load_tokenizer
from corpus_assets.tokenize.training import train_bpe
from resources.errors import BadFileError, ConfigError
from tests.golden import shared

TEXTS = [
    "the cat sat on the mat",
    "<|endoftext|> is text",
    "naïve café 12345",
    "for i in range(10):\n    pass",
]
BOS_TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "<|padding|>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
    ],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
    "special_tokens": {"<|padding|>": {"id": "<|padding|>", "ids": [1], "tokens": ["<|padding|>"]}},
}


ADDED = {"id": 400, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}


@cache
def trained() -> bytes:
    return train_bpe(TEXTS * 3, 300)


def changed(**parts: object) -> bytes:
    return json.dumps({**json.loads(trained()), **parts}).encode()


def loaded(spec: TokenizerSpec, raw: bytes | None = None, **siblings: object) -> LoadedTokenizer:
    files = {f"{name}.json": json.dumps(value).encode() for name, value in siblings.items()}
    return load_tokenizer({"tokenizer.json": raw or trained(), **files}, spec)


@pytest.mark.parametrize(
    ("name", "equal"),
    [
        ("llama", 198),
        ("mistral-v1", 198),
        ("mistral-v3", 198),
        ("olmo-dolma2", None),
        ("olmo-neox-dolma", None),
        ("t5", 191),
    ],
)
def test_recorded_ids(name: str, equal: int | None) -> None:
    """Equal to SentencePiece with special tokens as text; to the tokenizers library with them matched."""
    folder = shared("tokenizers", name)
    spec = TokenizerSpec("tokenizer_json", pad=0, match_special_tokens=equal is None, add_special_tokens=False)
    tokenizer = load_tokenizer({"tokenizer.json": (folder / "tokenizer.json").read_bytes()}, spec)
    texts = [json.loads(line)["text"] for line in shared("tokenizers", "texts.jsonl").open("rb")]
    recorded = [json.loads(line)["ids"] for line in (folder / "ids.jsonl").open("rb")]
    matches = sum(ids.tolist() == other for ids, other in zip(tokenizer.encode_batch(texts), recorded, strict=True))
    assert matches == (198 if equal is None else equal)


def test_gpt2_files_equal_its_tokenizer_json() -> None:
    folder = shared("tokenizers", "gpt2")
    files = {
        "vocab.bpe": (folder / "gpt2-vocab.bpe").read_bytes(),
        "encoder.json": (folder / "gpt2-encoder.json").read_bytes(),
    }
    gpt2 = load_tokenizer(files, TokenizerSpec("gpt2"))
    as_json = load_tokenizer(
        {"tokenizer.json": (folder / "tokenizer.json").read_bytes()},
        TokenizerSpec("tokenizer_json", eos=50256),
    )
    texts = [json.loads(line)["text"] for line in shared("tokenizers", "texts.jsonl").open("rb")]
    for ids, other in zip(gpt2.encode_batch(texts), as_json.encode_batch(texts), strict=True):
        np.testing.assert_array_equal(ids, other)
    assert (gpt2.eos_id, gpt2.pad_id, gpt2.vocab_size, gpt2.adds_bos) == (50256, 50256, 50257, False)
    assert 50256 not in gpt2.encode_batch(["a<|endoftext|>b"])[0]
    assert gpt2.decode(gpt2.encode_batch(["naïve <|endoftext|>"])[0].tolist()) == "naïve <|endoftext|>"
    with pytest.raises(BadFileError, match=r"vocab\.bpe"):
        load_tokenizer({**files, "vocab.bpe": b"#version\n\xc2\xa7 nowhere\n"}, TokenizerSpec("gpt2"))
    with pytest.raises(ConfigError, match=r"encoder\.json"):
        load_tokenizer({"vocab.bpe": b""}, TokenizerSpec("gpt2"))
    # Section 3: pad is forced back to eos.
    moved = load_tokenizer(files, TokenizerSpec("gpt2", eos=7, pad=9))
    assert (moved.eos_id, moved.pad_id) == (7, 7)


def test_special_token_text_is_plain_unless_asked() -> None:
    text = ["x<|endoftext|>y"]
    assert 0 not in loaded(TokenizerSpec("neox")).encode_batch(text)[0]
    assert 0 in loaded(TokenizerSpec("neox", match_special_tokens=True)).encode_batch(text)[0]


def test_end_and_padding_ids() -> None:
    config = {"eos_token": {"content": "a"}, "pad_token": "b"}
    ids = json.loads(trained())["model"]["vocab"]
    for spec, siblings, expected in (
        (TokenizerSpec("neox"), {}, (0, 1)),
        (TokenizerSpec("neox"), {"tokenizer_config": config}, (ids["a"], ids["b"])),
        (TokenizerSpec("tokenizer_json"), {"tokenizer_config": config}, (ids["a"], ids["b"])),
        (TokenizerSpec("tokenizer_json"), {"special_tokens_map": {"eos_token": "c"}}, (ids["c"], ids["c"])),
        (TokenizerSpec("neox", eos=5), {}, (5, 5)),
        (TokenizerSpec("neox", eos="c", pad=1), {}, (ids["c"], 1)),
        (TokenizerSpec("tokenizer_json", pad=1), {}, (None, 1)),
    ):
        tokenizer = loaded(spec, None, **siblings)
        assert (tokenizer.eos_id, tokenizer.pad_id) == expected


@pytest.mark.parametrize(
    "spec",
    [TokenizerSpec("tokenizer_json"), TokenizerSpec("neox", eos="<none>"), TokenizerSpec("neox", pad=9999)],
)
def test_unknown_control_tokens_are_refused(spec: TokenizerSpec) -> None:
    with pytest.raises(ConfigError):
        loaded(spec)


@pytest.mark.parametrize("raw", [b"{", b"[]", b"\xff\xfe\x00", b"{}", b"[" * 100_000])
def test_bad_tokenizer_files_are_refused(raw: bytes) -> None:
    with pytest.raises(BadFileError, match=r"tokenizer\.json"):
        loaded(TokenizerSpec("neox"), raw)


def test_files_that_would_change_documents() -> None:
    dropout = {**json.loads(trained())["model"], "dropout": 0.1}
    with pytest.raises(BadFileError, match="dropout"):
        loaded(TokenizerSpec("neox"), changed(model=dropout))
    cut = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    tokenizer = loaded(TokenizerSpec("neox"), changed(truncation=cut))
    assert tokenizer.decode(tokenizer.encode_batch(TEXTS[:1])[0].tolist()) == TEXTS[0]


def test_begin_of_text_is_seen_and_can_be_turned_off() -> None:
    raw = changed(post_processor=BOS_TEMPLATE)
    with_bos = loaded(TokenizerSpec("neox"), raw)
    without = loaded(TokenizerSpec("neox", add_special_tokens=False), raw)
    assert (with_bos.adds_bos, without.adds_bos, loaded(TokenizerSpec("neox")).adds_bos) == (
        True,
        False,
        False,
    )
    assert with_bos.encode_batch(["cat"])[0].tolist() == [1, *without.encode_batch(["cat"])[0].tolist()]


def test_digest_follows_files_and_options() -> None:
    digests = {
        loaded(TokenizerSpec("neox")).digest,
        loaded(TokenizerSpec("neox", match_special_tokens=True)).digest,
        loaded(TokenizerSpec("neox"), None, tokenizer_config={}).digest,
        loaded(TokenizerSpec("neox"), changed(post_processor=BOS_TEMPLATE)).digest,
    }
    assert len(digests) == 4
    assert loaded(TokenizerSpec("neox")).digest in digests


class Letters:
    """Begin-of-text id 0, then one id per character."""

    vocab_size, eos_id, pad_id, digest, calls = 0x110000, 1, 2, "letters", 0

    def __init__(self, adds_bos: bool) -> None:
        self.adds_bos = adds_bos

    def encode_batch(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        return [np.array([0] * self.adds_bos + [ord(letter) for letter in text], np.int32) for text in texts]


def encoded(texts: list[str], adds_bos: bool, length: int | None, remove_bos: bool) -> Iterator[list[int]]:
    arrays = encode_texts(
        texts,
        Letters(adds_bos),
        CleaningSettings(),
        Statistics(),
        split_length=length,
        remove_bos_in_pieces=remove_bos,
    )
    return (ids.tolist() for ids in arrays)


@given(
    st.lists(st.text(st.sampled_from("ab "), min_size=1, max_size=30), max_size=5),
    st.integers(1, 9),
    st.booleans(),
)
def test_removing_bos_in_pieces_undoes_the_split(texts: list[str], length: int, adds_bos: bool) -> None:
    whole = list(encoded(texts, adds_bos, None, False))
    assert list(encoded(texts, adds_bos, length, True)) == whole
    pieces = list(encoded(texts, adds_bos, length, False))
    assert [[id_ for id_ in ids if id_] for ids in pieces] == [[id_ for id_ in ids if id_] for ids in whole]


def test_encoding_counts_texts_and_leaves_empty_ones_out() -> None:
    statistics = Statistics()
    texts = ["ab", "", "( c )"]
    ids = list(encode_texts(texts, Letters(False), CleaningSettings(wikitext=True), statistics))
    assert len(ids) == 2
    assert (statistics.processed_files, statistics.discarded_files) == (3, 1)
    assert statistics.discarded_documents == {"empty_text": 1}
    assert (statistics.raw_chars_count, statistics.normalized_chars_count) == (7, 5)


@given(
    st.lists(
        st.sampled_from(["the cat", " ", "  ", "\n", "naïve", "12", "'s", ".", "e\u0301", "\u0301", "<|padding|>"])
    )
)
def test_a_long_text_is_encoded_in_parts_with_equal_ids(pieces: list[str]) -> None:
    text = "".join(pieces) * 40
    for raw in (trained(), changed(normalizer={"type": "NFC"})):
        tokenizer = loaded(TokenizerSpec("neox", match_special_tokens=True), raw)
        assert tokenizer.words_apart
        whole = tokenizer.encode_batch([text])[0]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tokenizers, "BATCH_CHARACTERS", 7)
            assert np.array_equal(tokenizer.encode_batch([text, "the cat"])[0], whole)


def test_a_text_longer_than_a_batch_is_cut_at_words() -> None:
    text = "the cat sat " * 200_000
    tokenizer = loaded(TokenizerSpec("neox"))
    (ids,) = tokenizer.encode_batch([text])
    assert tokenizer.decode(ids.tolist()) == text


@pytest.mark.parametrize(
    "parts",
    [
        {"normalizer": {"type": "Lowercase"}},
        {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}},
        {"normalizer": {"type": "Replace", "pattern": {"String": "t s"}, "content": "ts"}},
        {"pre_tokenizer": None},
        {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}},
        {"post_processor": BOS_TEMPLATE},
        {"added_tokens": [ADDED | {"content": "cat sat"}]},
        {"added_tokens": [ADDED | {"content": "cat", "rstrip": True}]},
        {"added_tokens": [ADDED | {"content": "cat", "lstrip": True}]},
    ],
)
def test_tokenizers_that_look_across_spaces_are_given_whole_texts(parts: dict[str, object]) -> None:
    added = [*json.loads(trained())["added_tokens"], *parts.get("added_tokens", [])]  # type: ignore[misc]
    assert not loaded(TokenizerSpec("neox"), changed(**{**parts, "added_tokens": added})).words_apart
