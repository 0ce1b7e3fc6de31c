"""A text that is cut where the rules allow it has the ids of the whole text."""

import io
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.tokenize.encode.cut_rules import classes
from corpus_assets.tokenize.encode.cuts import Cutter, around, cut_places, pieces, safe_cuts
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer, TokenizerSpec, load_tokenizer
from corpus_assets.tokenize.tokenizers.sentencepiece_model import SentencePieceBackend
from corpus_assets.tokenize.tokenizers.training import train_bpe
from tests.golden import shared

SLOW = ("llama", "mistral-v1", "mistral-v3", "neox", "olmo-dolma2", "olmo-neox-dolma", "t5")
NAMES = ["gpt2", "trained", *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]
MODELS = {
    "llama": "tokenizer.model",
    "mistral-v1": "tokenizer.model",
    "mistral-v3": "tokenizer.model",
    "t5": "spiece.model",
}
HARD = ["'s", "'ll", "'L", "'", "''", "don", "e\u0301", "\u0301", "é", "\u212b", "\uac00\u11a8", "中文", "。", "\u3000"]
HARD += [
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    " \n",
    "1",
    "123456",
    "½",
    "-->",
    "/",
    ".\n/",
    '{"a":[1,',
    "aGVsbG8+w==",
    "▁",
    "<s>",
]
HARD += [
    "<|endoftext|>",
    "|||IP_ADDRESS|||",
    "the cat",
    "\U0001f468\u200d\U0001f469",
    "\x00",
    "\u00a0",
    "ß",
    "İ",
    "[INST]",
]
TEXTS = st.lists(st.sampled_from(HARD) | st.text(max_size=4), min_size=1, max_size=12).map("".join).filter(bool)


@cache
def trained() -> bytes:
    return train_bpe(["the cat sat on the mat 12345", "naïve café, don't!"] * 3, 300)


def tokenizer(name: str, matched: bool = False, **parts: object) -> LoadedTokenizer:
    raw = trained() if name == "trained" else _folder(name).read_bytes()
    changed = json.dumps({**json.loads(raw), **parts}).encode() if parts else raw
    spec = TokenizerSpec("tokenizer_json", pad=0, match_special_tokens=matched)
    return load_tokenizer({"tokenizer.json": changed}, spec)


def _folder(name: str) -> Path:
    return shared("tokenizers", name, "neox-encoder.json" if name == "neox" else "tokenizer.json")


@cache
def sentencepiece_model(
    kind: str, normalization: str = "identity", extra: bool = True, fallback: bool = False
) -> bytes:
    """A small model with a user-defined symbol and, by `extra`, runs of spaces made one and a prefix space."""
    stream = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat on the mat 12345", "naïve café, don't!", "中文没有空格", "ﬁne ½"] * 9),
        model_writer=stream,
        model_type=kind,
        vocab_size=420,
        hard_vocab_limit=False,
        character_coverage=1.0,
        normalization_rule_name=normalization,
        remove_extra_whitespaces=extra,
        add_dummy_prefix=extra,
        byte_fallback=fallback,
        user_defined_symbols=["-->", "  "],
        minloglevel=2,
    )
    return stream.getvalue()


def of_model(raw: bytes, matched: bool = False) -> tuple[LoadedTokenizer, Cutter]:
    spec = TokenizerSpec("sentencepiece", pad=0, match_special_tokens=matched)
    found = load_tokenizer({"tokenizer.model": raw}, spec)
    cutter = safe_cuts(found)
    assert cutter is not None
    return found, cutter


@cache
def prepared(name: str, matched: bool) -> tuple[LoadedTokenizer, Cutter]:
    if name.endswith(".model"):
        name = name.removesuffix(".model")
        return of_model(shared("tokenizers", name, MODELS[name]).read_bytes(), matched)
    found = tokenizer(name, matched)
    cutter = safe_cuts(found)
    assert cutter is not None
    return found, cutter


def joined(text: str, places: Sequence[int], encoder: LoadedTokenizer, cutter: Cutter) -> list[int]:
    """Plain ids of the parts one after another, without those of the leads."""
    leads = [0, *(len(encoder.encode_plain([text[place - cutter.lead : place]]).ids) for place in places)]
    ragged = encoder.encode_plain(list(pieces(text, places, cutter.lead)))
    return [id_ for ids, lead in zip(ragged, leads, strict=True) for id_ in ids[lead:].tolist()]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(text=TEXTS, matched=st.booleans())
def test_every_safe_place_keeps_the_ids(name: str, text: str, matched: bool) -> None:
    encoder, cutter = prepared(name, matched)
    places = [place for place in range(1, len(text)) if cutter.place(text, place, place + 1) == place]
    whole = encoder.encode_plain([text]).ids.tolist()
    assert joined(text, places, encoder, cutter) == whole
    for place in places[:: max(1, len(places) // 4)]:
        assert joined(text, [place], encoder, cutter) == whole


def assert_parts_equal_the_whole(text: str, encoder: LoadedTokenizer, cutter: Cutter) -> None:
    """Of a unigram model a best path: its sums are of single precision, and the best path need not be the only one."""
    places = [place for place in range(1, len(text)) if cutter.place(text, place, place + 1) == place]
    ours, whole = joined(text, places, encoder, cutter), encoder.encode_plain([text]).ids.tolist()
    if not cutter.rule.summed:
        assert ours == whole
        return
    backend = encoder.backend
    assert isinstance(backend, SentencePieceBackend)
    scores = np.array([backend._processor.get_score(id_) for id_ in range(backend._processor.vocab_size())])
    assert encoder.decode(ours) == encoder.decode(whole)
    assert scores[ours].sum() == pytest.approx(scores[whole].sum(), rel=1e-6)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@settings(max_examples=60, deadline=None)
@given(
    text=TEXTS,
    normalization=st.sampled_from(["identity", "nmt_nfkc"]),
    extra=st.booleans(),
    fallback=st.booleans(),
    matched=st.booleans(),
)
def test_sentencepiece_models_are_cut_between_their_pieces(
    kind: str, text: str, normalization: str, extra: bool, fallback: bool, matched: bool
) -> None:
    encoder, cutter = of_model(sentencepiece_model(kind, normalization, extra, fallback), matched)
    assert_parts_equal_the_whole(text, encoder, cutter)


@pytest.mark.parametrize("name", ["llama", *(pytest.param(name, marks=pytest.mark.slow) for name in MODELS)])
@settings(max_examples=60, deadline=None)
@given(text=TEXTS, matched=st.booleans())
def test_published_models_are_cut_between_their_pieces(name: str, text: str, matched: bool) -> None:
    assert_parts_equal_the_whole(text, *prepared(f"{name}.model", matched))


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in MODELS])
def test_published_models_on_recorded_texts(name: str) -> None:
    encoder, cutter = prepared(f"{name}.model", False)
    for line in shared("tokenizers", "texts.jsonl").open("rb"):
        assert_parts_equal_the_whole(json.loads(line)["text"] or "a", encoder, cutter)


def test_a_run_of_unknown_characters_is_one_id_wherever_it_is_cut() -> None:
    encoder, cutter = of_model(sentencepiece_model("unigram"))
    text = "the " + "한국" * 9 + " cat"
    places = cut_places(text, cutter, size=6, longest=12)
    assert places
    assert joined(text, places, encoder, cutter) == encoder.encode_plain([text]).ids.tolist()


def test_texts_of_unigram_models_stay_whole_as_long_as_they_can() -> None:
    _, cutter = of_model(sentencepiece_model("unigram"))
    assert cut_places("the cat " * 9, cutter, size=8, longest=72) == []
    assert len(cut_places("the cat " * 9, cutter, size=8, longest=71) or []) > 4


def test_a_part_does_not_start_with_a_character_that_only_alone_is_unknown() -> None:
    encoder, cutter = of_model(sentencepiece_model("bpe"))
    text = "a--><b"
    assert cutter.place(text, 4, 5) is None
    assert cutter.place("a~<b", 2, 3) == 2
    assert joined("a~<b", [2], encoder, cutter) == encoder.encode_plain(["a~<b"]).ids.tolist()


@pytest.mark.parametrize(("kind", "suffix"), [("word", False), ("bpe", True)])
def test_models_without_a_rule_get_no_cutter(kind: str, suffix: bool) -> None:
    stream = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat on the mat"] * 9),
        model_writer=stream,
        model_type=kind,
        vocab_size=30,
        hard_vocab_limit=False,
        treat_whitespace_as_suffix=suffix,
        minloglevel=2,
    )
    spec = TokenizerSpec("sentencepiece", pad=0)
    assert safe_cuts(load_tokenizer({"tokenizer.model": stream.getvalue()}, spec)) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gpt2", '{"a":[1,2,{"b":"c"}],"d":null},'),
        ("gpt2", "aGVsbG8gd29ybGQ/QUJDREVGR0hJSktMTU5PUFFSU1Q1"),
        ("gpt2", "中文没有空格，很长的句子。"),
        ("llama.model", "中文没有空格，很长的句子。"),
        ("llama.model", '{"a":[1,2,{"b":"c"}],"d":null},'),
        ("llama.model", "1234567890"),
        ("llama.model", "\n" * 9),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("olmo-dolma2", '{"a":[1,2,{"b":"c"}],"d":null},'),
                ("neox", "aGVsbG8gd29ybGQ/QUJDREVGR0hJSktMTU5PUFFSU1Q1"),
                ("llama", "中文没有空格，很长的句子。"),
                ("llama", '{"a":[1,2,{"b":"c"}],"d":null},'),
                ("t5", "some words here and there "),
                ("t5", '{"a":[1,2,{"b":"c"}],"d":null},'),
                ("t5", "中文没有空格，很长的句子。"),
            )
        ),
    ],
)
def test_text_of_one_line_has_places(name: str, text: str) -> None:
    encoder, cutter = prepared(name, False)
    places = cut_places(text * 20, cutter, size=50, longest=120)
    assert places is not None
    assert len(places) > len(text) * 20 // 120
    assert joined(text * 20, places, encoder, cutter) == encoder.encode_plain([text * 20]).ids.tolist()


def test_places_are_about_one_size_apart_or_there_are_none() -> None:
    _, cutter = prepared("trained", False)
    assert cut_places("ab cd ef gh", cutter, size=4, longest=8) == [5]
    assert cut_places("a" * 50, cutter, size=4, longest=49) is None
    assert cut_places("a" * 49, cutter, size=4, longest=49) == []
    assert cut_places("ab " * 50, None, size=4, longest=49) is None
    assert "".join(pieces("ab cd ef gh", [5])) == "ab cd ef gh"


def test_a_cut_touches_no_added_token() -> None:
    added = [{"id": 287, "content": "cat sat", "special": False, "normalized": False, "single_word": False}]
    flags = {"lstrip": False, "rstrip": False}
    encoder = tokenizer("trained", added_tokens=[token | flags for token in added])
    cutter = safe_cuts(encoder)
    assert cutter is not None
    text = "the cat sat on"
    assert [place for place in range(1, 14) if cutter.place(text, place, place + 1) == place] == [3]


@pytest.mark.parametrize(
    "parts",
    [
        {"normalizer": {"type": "Lowercase"}},
        {"normalizer": {"type": "Replace", "pattern": {"String": "t s"}, "content": "ts"}},
        {"pre_tokenizer": None},
        {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}},
    ],
)
def test_tokenizers_without_a_rule_get_no_cutter(parts: dict[str, object]) -> None:
    assert safe_cuts(tokenizer("trained", False, **parts)) is None


@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
def test_prefix_spaces_and_word_splitters_are_cut_before_spaces(text: str) -> None:
    byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    for splitter in (byte_level, {"type": "BertPreTokenizer"}, {"type": "WhitespaceSplit"}):
        encoder = _with_splitter(json.dumps(splitter))
        cutter = safe_cuts(encoder)
        assert cutter is not None
        places = [place for place in range(1, len(text)) if cutter.place(text, place, place + 1) == place]
        assert all(text[place] == " " for place in places)
        assert joined(text, places, encoder, cutter) == encoder.encode_plain([text]).ids.tolist()


@cache
def _with_splitter(splitter: str) -> LoadedTokenizer:
    return tokenizer("trained", pre_tokenizer=json.loads(splitter))


def test_classes_are_disjoint_and_hold_no_marks_or_spaces() -> None:
    patterns = {kind: re.compile(f"[{ranges}]") for kind, ranges in classes().items()}
    for letter, kind in {
        "a": "L",
        "中": "L",
        "가": "L",
        "7": "N",
        "½": "N",
        "(": "O",
        "。": "O",
        "-": "O",
        "]": "O",
    }.items():
        assert [name for name, pattern in patterns.items() if pattern.match(letter)] == [kind]
    assert not any(pattern.match(letter) for pattern in patterns.values() for letter in " \u3000\u0301é'/\u1161\x00")


def test_ids_around_a_text() -> None:
    assert around(tokenizer("trained")) == ([], [])


@pytest.mark.slow
def test_ids_around_a_text_of_published_tokenizers() -> None:
    assert around(tokenizer("llama")) == ([1], [])
    assert around(tokenizer("t5")) == ([], [1])


def _unigram(*, matched: bool) -> LoadedTokenizer:
    """A Unigram tokenizer with a control token that holds what is else a safe place."""
    pieces_ = ["<unk>", "<turn end>", "\u2581", "\u2581and", "\u2581turn", *"abdenortu<>"]
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    definition = {
        "version": "1.0",
        "added_tokens": [{"id": 0, "content": "<unk>", **flags}, {"id": 1, "content": "<turn end>", **flags}],
        "normalizer": None,
        "pre_tokenizer": metaspace,
        "post_processor": None,
        "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [[piece, -float(n)] for n, piece in enumerate(pieces_)]},
    }
    spec = TokenizerSpec("tokenizer_json", pad=0, match_special_tokens=matched)
    return load_tokenizer({"tokenizer.json": json.dumps(definition).encode()}, spec)


def test_a_cut_touches_no_control_token_that_is_matched() -> None:
    text = "turn and <turn end> and turn<turn end>and turn and"
    encoder = _unigram(matched=True)
    cutter = safe_cuts(encoder)
    assert cutter is not None
    assert "<turn end>" in cutter.added
    assert cutter.place(text, 12, 18) is None
    assert_parts_equal_the_whole(text, encoder, cutter)
    plain = safe_cuts(_unigram(matched=False))
    assert plain is not None
    assert plain.place(text, 12, 18) == text.index(" end")
