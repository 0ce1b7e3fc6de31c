"""Tokenizers against recorded ids, and the rules for control tokens, files and options."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tokenizers import Tokenizer as Encoder
from tokenizers import models, normalizers, pre_tokenizers

from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer, TokenizerSpec, load_tokenizer
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.errors import BadFileError, ConfigError
from tests.golden import shared
from tests.tokenize.reference_reading import case, cases
from tests.tokenize.tokenizers_for_tests import (
    BOS_TEMPLATE,
    CONTROL,
    TEXTS,
    changed,
    for_case,
    load,
    loaded,
    texts,
    trained,
)


@cache
def published(name: str, match: bool = False) -> LoadedTokenizer:
    raw = shared("tokenizers", name, "tokenizer.json").read_bytes()
    return load_tokenizer({"tokenizer.json": raw}, TokenizerSpec("tokenizer_json", pad=0, match_special_tokens=match))


def recorded(name: str) -> list[list[int]]:
    return [json.loads(line)["ids"] for line in shared("tokenizers", name, "ids.jsonl").open("rb")]


def different(tokenizer: LoadedTokenizer, name: str) -> list[int]:
    """Numbers of the shared texts whose plain ids are not the recorded ones."""
    rows = zip(tokenizer.encode_plain(texts()), recorded(name), strict=True)
    return [number for number, (ids, other) in enumerate(rows) if ids.tolist() != other]


@pytest.mark.parametrize(("name", "others"), [("llama", []), ("mistral-v1", []), ("mistral-v3", []), ("t5", [78, 182])])
def test_ids_are_those_of_sentencepiece(name: str, others: list[int]) -> None:
    """Control tokens spelled in a text are plain. The two of T5 are known differences of the two libraries."""
    assert different(published(name), name) == others


@pytest.mark.parametrize("name", ["olmo-dolma2", "olmo-neox-dolma"])
def test_ids_are_those_of_the_library_with_control_tokens_matched(name: str) -> None:
    batch = published(name, match=True).encode_batch(texts())
    assert [ids.tolist() for ids in batch] == recorded(name)
    spelled = [number for number, text in enumerate(texts()) if "<|endoftext|>" in text]
    assert different(published(name), name) == spelled


def test_every_golden_case_has_its_tokenizer() -> None:
    for name in cases():
        if case(name)["legacy_defect"] is None:  # one of them counts a separator that is never used
            tokenizer, known = for_case(case(name)), case(name)["tokenizer"]
            found = (tokenizer.eos_id, tokenizer.pad_id, tokenizer.vocab_size)
            assert found == (known["eos_id"], known["pad_id"], known["vocab_size"]), name


def test_gpt2_files_equal_its_tokenizer_json() -> None:
    folder = shared("tokenizers", "gpt2")
    files = {
        "vocab.bpe": (folder / "gpt2-vocab.bpe").read_bytes(),
        "encoder.json": (folder / "gpt2-encoder.json").read_bytes(),
    }
    gpt2 = load("gpt2")
    as_folder = {"merges.txt": files["vocab.bpe"], "vocab.json": files["encoder.json"]}
    from_folder = load_tokenizer(as_folder, TokenizerSpec("huggingface", eos=50256))
    for others in (published("gpt2").encode_batch(texts()), from_folder.encode_batch(texts())):
        np.testing.assert_array_equal(gpt2.encode_batch(texts()).ids, others.ids)
    assert (gpt2.eos_id, gpt2.pad_id, gpt2.vocab_size, gpt2.adds_bos) == (50256, 50256, 50257, False)
    assert 50256 not in gpt2.encode_batch(["a<|endoftext|>b"]).ids
    assert gpt2.decode(gpt2.encode_batch(["naïve <|endoftext|>"]).ids) == "naïve <|endoftext|>"
    with pytest.raises(BadFileError, match=r"vocab\.bpe"):
        load_tokenizer({**files, "vocab.bpe": b"#version\n\xc2\xa7 nowhere\n"}, TokenizerSpec("gpt2"))
    with pytest.raises(ConfigError, match=r"encoder\.json"):
        load_tokenizer({"vocab.bpe": b""}, TokenizerSpec("gpt2"))
    with pytest.raises(ConfigError, match=r"RobertaTokenizer.*tokenizer\.json"):
        config = b'{"tokenizer_class": "RobertaTokenizer"}'
        load_tokenizer({**as_folder, "tokenizer_config.json": config}, TokenizerSpec("huggingface"))
    # docs/formats/cerebras-hdf5.md "Tokenizers": pad is forced back to eos.
    moved = load_tokenizer(files, TokenizerSpec("gpt2", eos=7, pad=9))
    assert (moved.eos_id, moved.pad_id) == (7, 7)


def test_a_tokenizer_is_one_of_the_protocol() -> None:
    tokenizer: Tokenizer = loaded(TokenizerSpec("neox"))
    assert tokenizer.token_id("<|endoftext|>") == 0
    assert tokenizer.token_id("nowhere") is None
    assert tokenizer.special_tokens == {"<|endoftext|>": 0, "<|padding|>": 1}
    assert tokenizer.encode_batch([]).ids.size == 0
    with pytest.raises(ConfigError, match="ids from -1 to 3"):
        tokenizer.decode([3, -1])
    with pytest.raises(ConfigError, match="valid: 0 to"):
        tokenizer.decode([tokenizer.vocab_size])


def test_special_token_text_is_plain_unless_asked() -> None:
    text = "x<|endoftext|>y"
    plain, matching = loaded(TokenizerSpec("neox")), loaded(TokenizerSpec("neox", match_special_tokens=True))
    assert 0 not in plain.encode_batch([text]).ids
    assert 0 in matching.encode_batch([text]).ids
    assert 0 not in matching.encode_plain([text]).ids
    assert plain.encode_trusted(text).tolist() == matching.encode_batch([text]).ids.tolist()


def test_begin_of_text_is_seen_and_can_be_turned_off() -> None:
    raw = changed(post_processor=BOS_TEMPLATE)
    with_bos = loaded(TokenizerSpec("neox"), raw)
    without = loaded(TokenizerSpec("neox", add_special_tokens=False), raw)
    assert (with_bos.adds_bos, without.adds_bos, loaded(TokenizerSpec("neox")).adds_bos) == (True, False, False)
    assert with_bos.bos_id == 1
    plain = without.encode_batch(["cat"]).ids.tolist()
    assert with_bos.encode_batch(["cat"]).ids.tolist() == [1, *plain]
    assert with_bos.encode_plain(["cat"]).ids.tolist() == plain
    assert with_bos.encode_trusted("cat").tolist() == [1, *plain]
    assert with_bos.encode_trusted("cat", bos=False).tolist() == plain


def test_a_new_control_token_takes_the_next_id() -> None:
    tokenizer = loaded(TokenizerSpec("neox"))
    more = tokenizer.with_token("<SEP>").with_token("<SEP2>")
    size = tokenizer.vocab_size
    assert (more.token_id("<SEP>"), more.token_id("<SEP2>"), more.vocab_size) == (size, size + 1, size + 2)
    assert more.with_token("<SEP>") is more
    assert tokenizer.with_token("cat") is tokenizer or tokenizer.token_id("cat") is None
    assert more.encode_trusted("a<SEP>").tolist()[-1] == size
    text = "cat <SEP> sat"
    assert more.encode_plain([text]).ids.tolist() == tokenizer.encode_plain([text]).ids.tolist()
    assert more.decode([size]) == "<SEP>"
    assert len({tokenizer.digest, more.digest, tokenizer.with_token("<SEP>").digest}) == 3
    assert load("gpt2").with_token("<SEP>").token_id("<SEP>") == 50257
    with pytest.raises(ConfigError, match="empty"):
        tokenizer.with_token("")


def word_model(kind: str) -> bytes:
    """A small tokenizer of whole words, whose control token is an entry that a text can spell."""
    vocabulary = {"[UNK]": 0, "[CLS]": 1, "cat": 2, "##s": 3}
    made: dict[str, Callable[[], Any]] = {
        "WordLevel": lambda: models.WordLevel(vocabulary, unk_token="[UNK]"),
        "WordPiece": lambda: models.WordPiece(vocabulary, unk_token="[UNK]"),
        "BPE": lambda: models.BPE({"[UNK]": 0, "[": 1, "]": 2, "[]": 3}, [("[", "]")], unk_token="[UNK]"),
        "whole words": lambda: models.BPE(
            {"[UNK]": 0, "[CLS]": 1, "cat": 2}, [], unk_token="[UNK]", ignore_merges=True
        ),
        "Unigram": lambda: models.Unigram([("[UNK]", 0.0), ("[CLS]", 0.0), ("cat", -1.0)], unk_id=0),
    }
    encoder = Encoder(made[kind]())
    encoder.normalizer = normalizers.NFC()
    encoder.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    special = ["[]"] if kind == "BPE" else ["[CLS]"]
    encoder.add_special_tokens(["[UNK]", *special])
    return encoder.to_str().encode()


@pytest.mark.parametrize("kind", ["WordLevel", "WordPiece", "BPE", "whole words", "Unigram"])
def test_a_control_token_is_never_found_through_the_model(kind: str) -> None:
    tokenizer = loaded(TokenizerSpec("tokenizer_json", pad=0), word_model(kind))
    control = [token for token in tokenizer.special_tokens if token != "[UNK]"]
    for token in control:
        id_ = tokenizer.token_id(token)
        assert id_ is not None
        assert id_ not in tokenizer.encode_plain([f"cat {token} {token}{token} cat"]).ids
        assert id_ not in tokenizer.encode_batch([token]).ids
        assert tokenizer.encode_trusted(token).tolist() == [id_]
        assert token in tokenizer.decode([id_])
    if kind != "BPE":
        assert tokenizer.encode_plain(["cat"]).ids.tolist() == [2]
        assert set(tokenizer.encode_plain(["nowhere"]).ids.tolist()) == {0}


def test_a_letter_that_is_declared_as_control_token_is_not_lost() -> None:
    config = {"eos_token": "a", "pad_token": "the"}
    tokenizer = loaded(TokenizerSpec("huggingface"), None, tokenizer_config=config)
    assert tokenizer.special_tokens.keys() > {"a"}
    for text in TEXTS:
        assert tokenizer.decode(tokenizer.encode_plain([text]).ids) == text
    unigram = json.loads(word_model("Unigram"))
    unigram["model"]["vocab"].append(["!", -2.0])
    unigram["added_tokens"].append({**CONTROL, "id": 3, "content": "!"})
    tokenizer = loaded(TokenizerSpec("tokenizer_json", pad="!"), json.dumps(unigram).encode())
    assert tokenizer.encode_plain(["cat! cat"]).ids.tolist() == [2, 3, 2]


def test_sizes_add_up_to_the_decoded_text() -> None:
    for name in ("gpt2", "olmo-dolma2", "olmo-neox-dolma", "llama", "mistral-v3"):
        tokenizer = published(name)
        in_bytes, in_points = tokenizer.text_sizes()
        assert in_bytes.shape == in_points.shape == (tokenizer.vocab_size,)
        lossless = 0
        for text, ids in zip(texts(), tokenizer.encode_plain(texts()), strict=True):
            if tokenizer.decode(ids) == text:
                lossless += 1
                # LLaMA's decoder takes the space before the first word off again.
                space = int(name in ("llama", "mistral-v3") and bool(text))
                assert in_bytes[ids].sum() == len(text.encode()) + space, text
                assert in_points[ids].sum() == len(text) + space, text
        assert lossless > 180


def test_sizes_where_there_is_no_token() -> None:
    model = json.loads(trained())["model"]
    model["vocab"]["cow"] = 500
    tokenizer = loaded(TokenizerSpec("neox"), changed(model=model))
    in_bytes, in_points = tokenizer.text_sizes()
    assert tokenizer.vocab_size == len(in_bytes) == 501
    assert (in_bytes[500], in_points[499], in_bytes[499]) == (3, 0, 0)


@given(st.text())
def test_a_byte_level_round_trip(text: str) -> None:
    tokenizer, (in_bytes, in_points) = matching(), bytewise()
    for ids in (tokenizer.encode_batch([text]).ids, tokenizer.encode_plain([text]).ids, tokenizer.encode_trusted(text)):
        assert tokenizer.decode(ids) == text
        assert in_bytes[ids].sum() == len(text.encode())
        assert in_points[ids].sum() == len(text)


@given(st.lists(st.integers(0, 299)))
def test_byte_level_ids_are_decoded_as_the_library_does(ids: list[int]) -> None:
    library = Encoder.from_str(trained().decode())
    ids = [id_ for id_ in ids if id_ < bytewise()[0].size]
    assert matching().decode(ids) == library.decode(ids, skip_special_tokens=False)


@cache
def matching() -> LoadedTokenizer:
    return loaded(TokenizerSpec("neox", match_special_tokens=True))


@cache
def bytewise() -> tuple[Any, Any]:
    return loaded(TokenizerSpec("neox")).text_sizes()


@given(st.text(st.sampled_from("a ▁\n\té😀\x00<0x41>'s12")))
def test_offsets_are_where_tokens_start(text: str) -> None:
    for tokenizer in (trimming(), tiny_hf()):
        ids, starts = tokenizer.encode_offsets(text)
        np.testing.assert_array_equal(ids, tokenizer.encode_plain([text]).ids)
        in_points = bytewise()[1] if tokenizer is trimming() else sizes_of_tiny_hf()
        # A token that starts a character starts where the characters before it end.
        ends = np.cumsum(in_points[ids]) - in_points[ids]
        whole = in_points[ids] > 0
        np.testing.assert_array_equal(starts[whole], ends[whole])
        assert (np.diff(starts) >= 0).all()


@cache
def trimming() -> LoadedTokenizer:
    """With a post-processor that takes the space off a token's offsets."""
    processor = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    parts = {"type": "Sequence", "processors": [processor, BOS_TEMPLATE]}
    return loaded(TokenizerSpec("neox"), changed(post_processor=parts))


@cache
def tiny_hf() -> LoadedTokenizer:
    return load("tinyhf")


@cache
def sizes_of_tiny_hf() -> NDArray[np.int32]:
    return tiny_hf().text_sizes()[1]


def test_definitions_give_the_plain_ids() -> None:
    for tokenizer in (loaded(TokenizerSpec("neox"), changed(post_processor=BOS_TEMPLATE)), published("t5")):
        assert tokenizer.definition
        encoder = Encoder.from_str(tokenizer.definition)
        encoder.encode_special_tokens = True
        for text in TEXTS:
            assert encoder.encode(text).ids == tokenizer.encode_batch([text]).ids.tolist()
            assert encoder.encode(text, add_special_tokens=False).ids == tokenizer.encode_plain([text]).ids.tolist()
