"""T5 out of its SentencePiece model, as transformers' fast class has it: ids that the class itself gave.

`recorded/t5_fast.json` says with which versions they were made, and of what.
"""

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.tokenize.encode.backends import accelerate
from corpus_assets.tokenize.encode.cuts import cut_places, safe_cuts
from corpus_assets.tokenize.tokenizer import tokenizer_parameters
from corpus_assets.tokenize.tokenizers.library import LibraryBackend
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer, TokenizerSpec, load_tokenizer
from corpus_assets.tokenize.tokenizers.sentencepiece_model import SentencePieceBackend
from corpus_assets.tokenize.tokenizers.sentencepiece_proto import Unigram
from resources.errors import BadFileError
from tests.golden import shared
from tests.tokenize.test_cuts import joined

RECORDED = json.loads((Path(__file__).parent / "recorded" / "t5_fast.json").read_text())
CASES = {case["name"]: case for case in RECORDED["cases"]}
T5 = {"tokenizer_class": "T5Tokenizer"}
ODD = [
    "__****_",
    "--",
    "====",
    "a\x85",
    "½\u0e33",
    "e\u0307\u0323",
    "the cat",
    " ",
    "  ",
    "中文。",
    "\u3000",
    "ﬁ",
    "a",
    "1,",
]
TEXTS = st.lists(st.sampled_from([*ODD, "</s>", "<extra_id_1>"]), min_size=1, max_size=12).map("".join)


@cache
def model() -> bytes:
    return shared("golden", "ragged", "tokenizer", "spiece.model").read_bytes()


def t5(config: dict[str, Any], raw: bytes | None = None, **options: Any) -> LoadedTokenizer:
    files = {"spiece.model": raw or model(), "tokenizer_config.json": json.dumps(config).encode()}
    return load_tokenizer(files, TokenizerSpec("huggingface", **({"match_special_tokens": True} | options)))


@cache
def trained(kind: str = "unigram") -> bytes:
    """A small model with the control pieces of T5 and a user-defined one."""
    stream = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat on the mat", "naïve café 12345"] * 20),
        model_writer=stream,
        model_type=kind,
        vocab_size=70,
        hard_vocab_limit=False,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        user_defined_symbols=["<usr>", "  "],
        minloglevel=2,
    )
    return stream.getvalue()


@pytest.mark.parametrize("name", CASES)
def test_ids_are_those_of_the_fast_class(name: str) -> None:
    case = CASES[name]
    found = t5(case["configuration"]).encode_batch(case["texts"])
    for text, ids, expected in zip(case["texts"], found, case["ids"], strict=True):
        assert ids.tolist() == expected, text


@cache
def without_inner_spaces() -> LoadedTokenizer:
    return t5(T5).without_inner_spaces()


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("a </s>. b", [3, 9, 1, 5, 3, 115]),
        ("<pad>cat", [0, 2138]),
        ("<extra_id_0>. x", [32099, 5, 3, 226]),
        ("a </s> b", [3, 9, 1, 3, 115]),
        ("1</s>,", [209, 1, 6]),
    ],
)
def test_ids_after_a_control_token_are_those_of_the_fast_class_with_legacy_false(text: str, ids: list[int]) -> None:
    """Ids of transformers 4.57.6."""
    assert without_inner_spaces().encode_batch([text]).ids.tolist() == [*ids, 1]


def test_settings_that_put_no_inner_spaces_are_left_alone() -> None:
    told = t5({**T5, "legacy": False})
    assert told.without_inner_spaces() is told
    texts = [f"a{odd}</s>{odd}b" for odd in ODD]
    found, expected = (list(map(np.ndarray.tolist, one.encode_batch(texts))) for one in (without_inner_spaces(), told))
    assert found == expected


def test_what_the_records_are_about_is_seen_by_the_sentencepiece_library_otherwise() -> None:
    case = CASES["golden"]
    found = t5(case["configuration"], fast_t5=False).encode_batch(case["texts"])
    assert sum(ids.tolist() != expected for ids, expected in zip(found, case["ids"], strict=True)) > 100


def test_scores_are_those_of_the_model_to_the_last_bit() -> None:
    """Ties hang on it: the library's reader of JSON has a quarter of them otherwise."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model())
    backend = t5(T5).backend
    assert isinstance(backend, LibraryBackend)
    for encoder in (backend._plain, backend._matching, backend.with_added([])._matching):
        pieces = json.loads(encoder.to_str())["model"]["vocab"][: processor.vocab_size()]
        assert [score for _, score in pieces] == [processor.get_score(id_) for id_ in range(len(pieces))]
    more = t5(T5).with_token("<more>")
    assert more.encode_batch(["__****_<more>"])[0].tolist() == [3, 834, 834, 1935, 10647, 834, 32100, 1]


def test_tokens_and_numbers_of_the_class() -> None:
    found = t5(T5, trained())
    size = sentencepiece.SentencePieceProcessor(model_proto=trained()).vocab_size()
    assert (found.eos_id, found.pad_id, found.around, found.vocab_size) == (1, 0, ((), (1,)), size + 100)
    assert (found.token_id("<extra_id_0>"), found.token_id("<extra_id_99>")) == (size + 99, size)
    assert found.token_id("<usr>") in found.encode_plain(["a<usr>"]).ids
    # A piece that a user defined is found before the text is normalized, as in the class.
    assert found.token_id("  ") in found.encode_plain(["a  b"]).ids
    assert found.token_id("  ") not in found.encode_plain(["a\t b"]).ids
    assert not {0, 1, size + 99} & {*found.encode_plain(["</s><pad> <extra_id_0>"]).ids.tolist()}
    assert found.template_values["eos_token"] == "</s>"


def test_only_the_fast_class_of_t5_is_read_so() -> None:
    as_before = TokenizerSpec("huggingface")
    assert isinstance(t5(T5, trained()).backend, LibraryBackend)
    llama = {"tokenizer_class": "LlamaTokenizer", "add_bos_token": False, "eos_token": "</s>"}
    assert isinstance(t5(llama, trained()).backend, SentencePieceBackend)
    assert isinstance(t5({"eos_token": "</s>"}, trained()).backend, SentencePieceBackend)
    assert isinstance(t5(T5, trained("bpe")).backend, SentencePieceBackend)
    others: list[tuple[dict[str, bytes], TokenizerSpec]] = [
        ({"tokenizer.model": b"", "tokenizer_config.json": json.dumps(T5).encode()}, as_before),
        ({"spiece.model": b"", "tokenizer.json": b"", "tokenizer_config.json": json.dumps(T5).encode()}, as_before),
        ({"spiece.model": b"", "tokenizer_config.json": json.dumps(T5).encode()}, TokenizerSpec("sentencepiece")),
    ]
    for files, spec in others:
        assert spec.stored(files).keys() == {"kind", "eos", "pad", "match_special_tokens", "add_special_tokens"}


def test_a_tokenizer_that_was_stored_before_keeps_its_ids() -> None:
    config = CASES["golden"]["configuration"]
    files = {"spiece.model": model(), "tokenizer_config.json": json.dumps(config).encode()}
    before = {"kind": "huggingface", "eos": None, "pad": None, "match_special_tokens": True, "add_special_tokens": True}
    old = load_tokenizer(files, TokenizerSpec.of_stored(before))
    new = load_tokenizer(
        files, TokenizerSpec.of_stored(TokenizerSpec.of_stored(before | {"fast_t5": True}).stored(files))
    )
    assert old.encode_batch(["a\x85"]).ids.tolist() == [3, 9, 2, 1]
    assert new.encode_batch(["a\x85"]).ids.tolist() == [3, 9, 1]
    assert old.digest != new.digest


def test_a_recipe_says_that_the_ids_are_those_of_the_class(tmp_path: Path) -> None:
    (tmp_path / "spiece.model").write_bytes(trained())
    config = tmp_path / "tokenizer_config.json"
    values = {"kind": "huggingface", "path": str(tmp_path), "chat_template": None}
    for content, expected in ((json.dumps(T5), "T5TokenizerFast"), ("{}", None), ("{", None)):
        config.write_text(content)
        assert tokenizer_parameters(values).get("tokenizer class") == expected
    config.write_text(json.dumps(T5))
    (tmp_path / "tokenizer.json").write_text("{}")
    assert "tokenizer class" not in tokenizer_parameters(values)


@pytest.mark.parametrize(
    ("config", "raw", "fault"),
    [
        (T5 | {"extra_ids": 1e9}, None, "extra_ids"),
        (T5 | {"added_tokens_decoder": {"007": {"content": "<x>"}, "a": [], "8": None}}, None, "has id 7, but"),
        (T5 | {"extra_ids": 3, "additional_special_tokens": ["<extra_id_0>"]}, None, "names 1"),
        (T5, b"\x0a\x02\x08\x01", r"spiece\.model"),
    ],
)
def test_what_cannot_be_used_is_refused(config: dict[str, Any], raw: bytes | None, fault: str) -> None:
    with pytest.raises(BadFileError, match=fault):
        t5(config, raw or trained())


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (b"", "the unknown piece has id 0 of 0"),
        (b"\x0a\x07\x0a\x01a\x12\x02ab", "2 bytes; valid: 4"),
        (b"\x0a\x08\x0a\x01a\x15\x00\x00\xc0\x7f", "is nan; valid"),
        (b"\x0a\x03\x0a\x01\xff", "utf-8"),
        (b"\x0a\x03\x0a\x01a\x12\x03\xc0\x02\x07", "id 7 of 1"),
    ],
)
def test_bytes_that_are_no_unigram_model_are_refused(raw: bytes, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        Unigram.of(raw)


@settings(max_examples=60, deadline=None)
@given(text=TEXTS, matched=st.booleans())
def test_every_safe_place_keeps_the_ids(text: str, matched: bool) -> None:
    encoder, cutter = cutting(matched)
    places = [place for place in range(1, len(text)) if cutter.place(text, place, place + 1) == place]
    whole = encoder.encode_plain([text]).ids.tolist()
    assert joined(text, places, encoder, cutter) == whole


@cache
def cutting(matched: bool) -> tuple[LoadedTokenizer, Any]:
    encoder = t5(CASES["golden"]["configuration"], match_special_tokens=matched)
    return encoder, safe_cuts(encoder)


def test_a_long_text_is_cut_and_no_faster_library_takes_it() -> None:
    encoder, cutter = cutting(True)
    text = "".join(ODD) * 50
    places = cut_places(text, cutter, size=200, longest=400)
    assert places
    assert joined(text, places, encoder, cutter) == encoder.encode_plain([text]).ids.tolist()
    assert accelerate(encoder, "auto", []).report()["backend"] == "tokenizers"
