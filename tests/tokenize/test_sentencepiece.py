"""SentencePiece models through their own library: recorded ids, control pieces, added tokens."""

import contextlib
import io
import json
from functools import cache
from typing import Any

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer, TokenizerSpec, load_tokenizer
from corpus_assets.tokenize.tokenizers.sentencepiece_proto import BPE, UNIGRAM, SentencePieceModel, rule_characters
from resources.errors import BadFileError, ConfigError
from tests.golden import shared
from tests.tokenize.tokenizers_for_tests import texts

MODELS = {
    "llama": "tokenizer.model",
    "mistral-v1": "tokenizer.model",
    "mistral-v3": "tokenizer.model",
    "t5": "spiece.model",
}
SENTENCES = ["the cat sat on the mat", "naïve café 12345", "a <sep> b", "for i in range(10):\n    pass"]


@cache
def published(name: str, match: bool = False) -> LoadedTokenizer:
    raw = shared("tokenizers", name, MODELS[name]).read_bytes()
    return load_tokenizer({MODELS[name]: raw}, TokenizerSpec("sentencepiece", match_special_tokens=match))


@cache
def trained(kind: str = "bpe") -> bytes:
    """A small model with byte fallback, a control and a user-defined symbol."""
    stream = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 20),
        model_writer=stream,
        model_type=kind,
        vocab_size=320,
        hard_vocab_limit=False,
        byte_fallback=True,
        character_coverage=1.0,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        control_symbols=["<ctl>"],
        user_defined_symbols=["<usr>"],
        minloglevel=2,
    )
    return stream.getvalue()


def loaded(config: dict[str, Any] | None = None, *, model: str = "bpe", **options: Any) -> LoadedTokenizer:
    files = {"tokenizer.model": trained(model)}
    if config is not None:
        files["tokenizer_config.json"] = json.dumps(config).encode()
    return load_tokenizer(files, TokenizerSpec(**({"kind": "sentencepiece"} | options)))


@cache
def small(kind: str) -> LoadedTokenizer:
    return loaded(model=kind)


@pytest.mark.parametrize("name", MODELS)
def test_recorded_ids(name: str) -> None:
    tokenizer = published(name)
    rows = [json.loads(line)["ids"] for line in shared("tokenizers", name, "ids.jsonl").open("rb")]
    assert [ids.tolist() for ids in tokenizer.encode_batch(texts())] == rows
    assert [ids.tolist() for ids in tokenizer.encode_plain(texts())] == rows


@pytest.mark.parametrize("name", ["llama", "mistral-v1", "mistral-v3"])
def test_trusted_texts_and_sizes_equal_those_of_the_tokenizer_json(name: str) -> None:
    tokenizer = published(name)
    raw = shared("tokenizers", name, "tokenizer.json").read_bytes()
    other = load_tokenizer({"tokenizer.json": raw}, TokenizerSpec("tokenizer_json", pad=0))
    for text in [*texts(), "<s>a</s>\n<s> [INST] hi [/INST]<unk>", "</s></s>", ""]:
        assert tokenizer.encode_trusted(text).tolist() == other.encode_trusted(text, bos=False).tolist(), text
    assert dict(tokenizer.special_tokens) == dict(other.special_tokens)
    known = np.arange(tokenizer.vocab_size) != tokenizer.token_id("<unk>")
    for sizes, others in zip(tokenizer.text_sizes(), other.text_sizes(), strict=True):
        np.testing.assert_array_equal(sizes[known], others[known])


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("He wrote <s> and <unk> in", [940, 5456, 29871, 1, 29871, 322, 0, 297]),
        ("a<unk>b", [263, 29966, 2960, 29958, 29890]),
        ("a <unk>b", [263, 0, 29890]),
        ("x </s> <unk>  <unk>y", [921, 29871, 2, 29871, 0, 29871, 0, 29891]),
        ("\n<unk>", [29871, 13, 29966, 2960, 29958]),
        ("</s><unk>", [2, 0]),
        ("a\u2581<unk> ", [263, 0, 29871]),
    ],
)
def test_an_unknown_piece_that_is_declared_normalized_is_found_after_a_space(text: str, ids: list[int]) -> None:
    """Ids: those of LlamaTokenizerFast of transformers 4.57.6, which it made of the model and this configuration."""
    unknown = {"__type": "AddedToken", "content": "<unk>", "normalized": True}
    config = {"tokenizer_class": "LlamaTokenizer", "add_bos_token": False, "unk_token": unknown}
    files = {
        "tokenizer.model": shared("tokenizers", "llama", MODELS["llama"]).read_bytes(),
        "tokenizer_config.json": json.dumps(config).encode(),
    }
    tokenizer = load_tokenizer(files, TokenizerSpec("huggingface", match_special_tokens=True))
    assert tokenizer.encode_batch([text])[0].tolist() == ids


def test_control_ids_of_the_model() -> None:
    llama, t5 = published("llama"), published("t5")
    assert (llama.bos_id, llama.eos_id, llama.pad_id, llama.adds_bos) == (1, 2, 2, False)
    assert (t5.bos_id, t5.eos_id, t5.pad_id) == (None, 1, 0)
    assert llama.template_values == {"bos_token": "<s>", "eos_token": "</s>"}
    assert llama.definition is None


def test_unknown_characters_are_decoded_as_the_library_does() -> None:
    tokenizer = published("t5")
    (ids,) = tokenizer.encode_plain(["one 😀 two 😀"])
    assert 2 in ids
    assert tokenizer.decode(ids) == "one  ⁇  two  ⁇ "
    in_bytes, in_points = tokenizer.text_sizes()
    assert (in_bytes[2], in_points[2]) == (len(" ⁇ ".encode()), 3)


def test_settings_put_ids_around_a_text() -> None:
    inner = loaded().encode_plain(["cat"]).ids.tolist()
    for config, options, expected in (
        ({}, {}, inner),
        ({"add_bos_token": True}, {}, [1, *inner]),
        ({"add_eos_token": True}, {}, [*inner, 2]),
        ({"tokenizer_class": "LlamaTokenizer"}, {"kind": "huggingface"}, [1, *inner]),
        ({"tokenizer_class": "LlamaTokenizer", "add_bos_token": False}, {"kind": "huggingface"}, inner),
        ({"add_bos_token": True}, {"add_special_tokens": False}, inner),
    ):
        tokenizer = loaded(config, **options)
        assert tokenizer.encode_batch(["cat", "cat"])[1].tolist() == expected
        assert tokenizer.encode_plain(["cat"]).ids.tolist() == inner
        assert tokenizer.adds_bos == (expected[0] == 1)
        assert tokenizer.encode_trusted("cat", bos=False).tolist() == inner


def test_t5_has_its_sentinels() -> None:
    folder = shared("tokenizers", "t5")
    files = {name: (folder / name).read_bytes() for name in ("spiece.model", "tokenizer_config.json")}
    tokenizer = load_tokenizer(files, TokenizerSpec("huggingface"))
    as_json = load_tokenizer(
        {name: (folder / name).read_bytes() for name in ("tokenizer.json", "tokenizer_config.json")},
        TokenizerSpec("huggingface"),
    )
    assert (tokenizer.token_id("<extra_id_0>"), tokenizer.token_id("<extra_id_99>")) == (32099, 32000)
    assert (tokenizer.eos_id, tokenizer.pad_id, tokenizer.vocab_size, tokenizer.around) == (1, 0, 32100, ((), (1,)))
    assert (as_json.eos_id, as_json.pad_id, as_json.vocab_size, as_json.around) == (1, 0, 32100, ((), (1,)))
    for text in texts()[:40]:
        assert tokenizer.encode_batch([text]).ids.tolist() == as_json.encode_batch([text]).ids.tolist(), text
    assert tokenizer.encode_trusted("<extra_id_0>", bos=False).tolist() == [32099]
    with pytest.raises(BadFileError, match="extra_ids"):
        load_tokenizer({**files, "tokenizer_config.json": b'{"extra_ids": 1e9}'}, TokenizerSpec("huggingface"))


def test_symbols_spelled_in_a_text() -> None:
    tokenizer = loaded(match_special_tokens=True)
    control, user = (tokenizer.token_id(symbol) for symbol in ("<ctl>", "<usr>"))
    assert control is not None
    for text in ("<ctl>", "a<ctl>b", "<s></s><unk>"):
        assert not set(tokenizer.special_tokens.values()) & set(tokenizer.encode_plain([text]).ids.tolist())
    assert user in tokenizer.encode_plain(["a<usr>"]).ids
    assert tokenizer.encode_batch(["<ctl>"]).ids.tolist() == [control]
    assert tokenizer.decode(tokenizer.encode_trusted("cat<ctl>sat")) == "cat<ctl>sat"


def test_a_new_control_token_takes_the_next_id() -> None:
    tokenizer = loaded()
    more = tokenizer.with_token("<SEP>").with_token("<SEP>2")
    size = tokenizer.vocab_size
    assert (more.token_id("<SEP>"), more.vocab_size) == (size, size + 2)
    assert more.with_token("<SEP>") is more
    # Of tokens that start at one place the longest is taken.
    assert more.encode_trusted("<SEP>2<SEP>").tolist() == [size + 1, size]
    text = "cat <SEP> sat"
    np.testing.assert_array_equal(more.encode_plain([text]).ids, tokenizer.encode_plain([text]).ids)
    assert more.text_sizes()[0][-2:].tolist() == [5, 6]


@settings(max_examples=200)
@given(st.text() | st.text(st.sampled_from("a \n\x00▁é<s>0x1A😀")), st.sampled_from(["bpe", "unigram"]))
def test_round_trip_sizes_and_offsets(text: str, kind: str) -> None:
    tokenizer = small(kind)
    ids = tokenizer.encode_plain([text]).ids
    decoded = tokenizer.decode(ids)
    assert decoded == text.replace("▁", " ")  # one character to the library
    in_bytes, in_points = sizes(kind)
    space = int(bool(text))
    assert (in_bytes[ids].sum(), in_points[ids].sum()) == (len(decoded.encode()) + space, len(text) + space)
    again, starts = tokenizer.encode_offsets(text)
    np.testing.assert_array_equal(again, ids)
    assert (np.diff(starts) >= 0).all()
    assert not ids.size or (starts[0] == 0 and starts[-1] <= len(text))


@cache
def sizes(kind: str) -> tuple[Any, Any]:
    return small(kind).text_sizes()


@pytest.mark.parametrize("raw", [b"", b"abc", b"\x00" * 1000])
def test_bad_models_are_refused(raw: bytes) -> None:
    with pytest.raises(BadFileError, match=r"tokenizer\.model"):
        load_tokenizer({"tokenizer.model": raw}, TokenizerSpec("sentencepiece"))


@pytest.mark.parametrize("length", [1, 100, -100, -1])
def test_truncated_models_are_refused(length: int) -> None:
    with pytest.raises(BadFileError, match=r"tokenizer\.model"):
        load_tokenizer({"tokenizer.model": trained()[:length]}, TokenizerSpec("sentencepiece"))


def test_missing_files_and_tokens_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"tokenizer\.model"):
        load_tokenizer({"tokenizer.json": b"{}"}, TokenizerSpec("sentencepiece"))
    with pytest.raises(ConfigError, match="not in the vocabulary"):
        loaded({"add_bos_token": True, "bos_token": "<nowhere>"})
    assert loaded({"bos_token": "<new>"}, kind="huggingface").bos_id == loaded().vocab_size


def test_digest_follows_the_model_and_options() -> None:
    digests = {loaded().digest, loaded(model="unigram").digest, loaded(eos=5).digest, loaded({}).digest}
    assert len(digests) == 4
    assert loaded().digest in digests


def test_the_file_says_what_the_library_says() -> None:
    model = SentencePieceModel.of(trained())
    processor = sentencepiece.SentencePieceProcessor(model_proto=trained())
    ids = range(processor.vocab_size())
    of_text = [
        id_ for id_ in ids if not (processor.is_control(id_) or processor.is_unknown(id_) or processor.is_byte(id_))
    ]
    assert model.pieces == [processor.id_to_piece(id_) for id_ in of_text]
    assert (model.kind, model.add_dummy_prefix, model.whitespace_as_suffix, model.charsmap) == (BPE, True, False, b"")
    assert SentencePieceModel.of(trained("unigram")).kind == UNIGRAM


@cache
def normalizing() -> tuple[sentencepiece.SentencePieceProcessor, frozenset[str], frozenset[str]]:
    raw = shared("tokenizers", "t5", "spiece.model").read_bytes()
    processor = sentencepiece.SentencePieceProcessor(model_proto=raw)
    return processor, *rule_characters(SentencePieceModel.of(raw).charsmap)


def test_characters_of_no_replacement_are_left_alone() -> None:
    processor, inside, last = normalizing()
    assert last < inside
    assert {"\u0301", "ﬁ", "½", "\t", "Ａ"} <= last
    assert {"e", "A", "<"} <= inside - last
    assert not {" ", "1", ",", "中", "。"} & inside
    kept = [
        letter
        for letter in map(chr, range(0x21, 0x10000))
        if letter not in inside and not "\ud800" <= letter < "\ue000"
    ]
    text = "".join(kept)
    assert processor.normalize(text) == "▁" + text
    for letter in sorted(last)[::97]:
        assert processor.normalize(f"1{letter}1") != f"▁1{letter}1" or letter >= "\u0300"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"\x0b", "field of kind 3"),
        (b"\x0a", "no number ends"),
        (b"\xff" * 20, "no number ends"),
        (b"\x0a\x05ab", "field of 5 bytes at byte 2"),
        (b"\x0a\x02\x08\x01", "valid: bytes"),
        (b"\x0a\x03\x0a\x01\xff", "utf-8"),
    ],
)
def test_bytes_that_are_no_model_are_refused(raw: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SentencePieceModel.of(raw)


@given(st.binary(max_size=60))
def test_any_trie_is_read_or_refused(raw: bytes) -> None:
    with contextlib.suppress(ValueError):
        rule_characters(raw)


LLAMA = {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}


def llama(config: dict[str, Any], spec: TokenizerSpec | None = None, **files: Any) -> LoadedTokenizer:
    """A folder with Llama's model and settings. files: further JSON files, without their suffix."""
    content = {f"{name}.json": json.dumps(value).encode() for name, value in files.items()}
    content["tokenizer_config.json"] = json.dumps(LLAMA | config).encode()
    content["tokenizer.model"] = shared("tokenizers", "llama", MODELS["llama"]).read_bytes()
    return load_tokenizer(content, spec or TokenizerSpec("huggingface"))


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("hello</s>world", [22172, 2, 11526]),
        ("<s>[INST] hi [/INST] yes</s>", [1, 29961, 25580, 29962, 7251, 518, 29914, 25580, 29962, 4874, 2]),
        ("two</s> one", [1023, 2, 697]),
    ],
)
def test_no_space_follows_control_tokens_with_legacy_false(text: str, ids: list[int]) -> None:
    """Ids: those of LlamaTokenizer of transformers 5.24.0 for this folder."""
    assert llama({"legacy": False}).encode_trusted(text, bos=False).tolist() == ids


def test_plain_text_after_a_control_token_with_legacy_false() -> None:
    legacy, other = llama({"legacy": True}), llama({"legacy": False})
    assert [one.encode_trusted("a</s>world", bos=False)[-1] for one in (legacy, other)] == [3186, 11526]
    assert [one.after_control.encode_plain(["world"])[0].tolist() for one in (legacy, other)] == [[3186], [11526]]
    starts = other.after_control.encode_offsets("world hello")[1]
    assert starts.tolist() == [0, 5]
    stored = llama({"legacy": False}, TokenizerSpec.of_stored({"kind": "huggingface"}))
    assert stored.encode_trusted("a</s>world", bos=False)[-1] == 3186
    assert stored.digest != other.digest
    assert llama({}, TokenizerSpec.of_stored({"kind": "huggingface"})).digest == llama({}).digest


def test_added_tokens_in_a_file_of_their_own() -> None:
    """Ids: those of LlamaTokenizer of transformers 5.24.0 for this folder."""
    ends = {"eos_token": "<|im_end|>", "pad_token": "</s>", "legacy": False}
    tokenizer = llama(ends, added_tokens={"<|im_start|>": 32001, "<|im_end|>": 32000})
    found = tokenizer.encode_trusted("<|im_start|>user\nhi<|im_end|>\n", bos=False)
    assert found.tolist() == [32001, 1792, 13, 2918, 32000, 13]
    with pytest.raises(BadFileError, match=r"'<\|im_end\|>' has id 32001, but 32000"):
        llama(ends, added_tokens={"<|im_end|>": 32001})
