"""Fast libraries are used where they are equal, and left where they are not."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.tokenize.encode import backends, fast_libraries, proofs
from corpus_assets.tokenize.encode.attempts import worth_proving
from corpus_assets.tokenize.encode.backends import (
    FIRST_CHARACTERS,
    Accelerated,
    BackendDiffers,
    LibraryName,
    accelerate,
    difference,
)
from corpus_assets.tokenize.encode.fast_libraries import FastLibrary, Texts, put_around
from corpus_assets.tokenize.encode.probe import probe_texts
from corpus_assets.tokenize.ragged import Ragged
from corpus_assets.tokenize.tokenizers import library
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer, TokenizerSpec, load_tokenizer
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from corpus_assets.tokenize.tokenizers.training import train_bpe
from resources.errors import ConfigError, JobTimeoutError
from resources.hashing import content_digest
from resources.user.cache import keep
from tests.golden import shared

FAST: tuple[LibraryName, ...] = ("gigatoken", "fastokens")
NAMES = ("gpt2", "llama", "mistral-v3", "neox", "olmo-dolma2", "olmo-neox-dolma")
Encode = Callable[[Texts], Ragged]


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of proofs of one test: libraries that are broken on purpose have the versions of the others."""
    monkeypatch.setattr(proofs, "GROUP", str(tmp_path / "proofs"))
    return tmp_path / "proofs"


@cache
def trained(purpose: str = "", matched: bool = False) -> LoadedTokenizer:
    """`purpose` makes tokenizers different, so that no test meets the verdict of another."""
    raw = train_bpe(["the cat sat on the mat", "naïve café 12345"], 300)
    spec = TokenizerSpec("neox", match_special_tokens=matched)
    return load_tokenizer({"tokenizer.json": raw}, spec).with_token(f"<{purpose}>")


@cache
def real(name: str, matched: bool) -> LoadedTokenizer:
    path = shared("tokenizers", name, "neox-encoder.json" if name == "neox" else "tokenizer.json")
    spec = TokenizerSpec("tokenizer_json", pad=0, match_special_tokens=matched)
    return load_tokenizer({"tokenizer.json": path.read_bytes()}, spec)


def equal(ours: Ragged, theirs: Ragged) -> bool:
    return np.array_equal(ours.ids, theirs.ids) and np.array_equal(ours.offsets, theirs.offsets)


@pytest.mark.sampled(every=3)  # Each tokenizer once, in turn with matched control tokens and without.
@pytest.mark.parametrize(
    ("name", "matched"),
    [("gpt2", False)]
    + [pytest.param(name, matched, marks=pytest.mark.slow) for name in NAMES for matched in (False, True)],
)
def test_real_tokenizers_are_equal(name: str, matched: bool) -> None:
    reference = real(name, matched)
    texts = [json.loads(line)["text"] for line in shared("tokenizers", "texts.jsonl").open("rb")]
    fast = accelerate(reference, "gigatoken", texts)
    assert equal(fast.encode_batch(texts), reference.encode_batch(texts))
    assert equal(fast.encode_plain(texts), reference.encode_plain(texts))
    report = fast.report()
    assert (report["backend"], report["not_faster"]) == ("gigatoken", None)
    assert report["probe_texts"] > 3000


@pytest.mark.parametrize("backend", FAST)
@settings(max_examples=30, deadline=None)
@given(
    texts=st.lists(st.text(max_size=20) | st.sampled_from(["<|endoftext|>", "the cat<|padding|>", " 's"]), max_size=5)
)
def test_any_text_has_equal_ids(backend: LibraryName, texts: list[str]) -> None:
    for matched in (False, True):
        reference = trained("any", matched)
        fast = accelerate(reference, backend, texts)
        assert equal(fast.encode_batch(texts), reference.encode_batch(texts))
        assert equal(fast.encode_plain(texts), reference.encode_plain(texts))


def broken(monkeypatch: pytest.MonkeyPatch, name: str, marker: str) -> None:
    """Make a library give a wrong id for every text that holds the marker."""
    load = fast_libraries._LOADERS[name]

    def loader(definition: str) -> Encode:
        encode = load(definition)

        def wrong(texts: Texts) -> Ragged:
            given = [text if isinstance(text, str) else text.decode() for text in texts]
            return Ragged.of([ids + (marker in text) for ids, text in zip(encode(texts), given, strict=True)])

        return wrong

    monkeypatch.setitem(fast_libraries._LOADERS, name, loader)


def test_a_library_that_fails_the_probe_is_passed_over(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, "gigatoken", "\u200b")
    reference = trained("probe")
    report = accelerate(reference, "auto", []).report()
    assert report["backend"] == "fastokens"
    with pytest.raises(ConfigError, match="gigatoken cannot be used"):
        accelerate(reference, "gigatoken", [])
    [note] = notes.iterdir()
    assert note.name.startswith("fastokens")  # Only equality is noted.
    note.unlink()
    broken(monkeypatch, "fastokens", "\u200b")
    fast_libraries._LOADED.clear()
    last = accelerate(reference, "auto", [])
    assert last.report()["backend"] == "tokenizers"
    assert "fastokens: id" in last.report()["not_faster"]
    assert last.report()["fell_back"].startswith("gigatoken: id")
    assert equal(last.encode_batch(["the cat"]), reference.encode_batch(["the cat"]))


def test_a_library_that_differs_on_the_first_texts_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, "gigatoken", "the only one")
    reference = trained("first")
    assert accelerate(reference, "auto", ["the cat", "the only one"]).report()["backend"] == "fastokens"
    assert accelerate(reference, "auto", ["the cat"]).report()["backend"] == "gigatoken"


def test_a_difference_in_the_shard_is_found_and_reported(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    broken(monkeypatch, "gigatoken", "the only one")
    fast = accelerate(trained("later"), "gigatoken", ["the cat"])
    assert isinstance(fast, Accelerated)
    with pytest.raises(BackendDiffers, match="the only one"):
        for _ in range(100):
            fast.encode_batch(["the only one"] * 100)
    assert "expected" in caplog.text
    assert {one.levelname for one in caplog.records} == {"INFO"}  # A note says it, and what comes of it.


def test_a_share_of_the_text_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = accelerate(trained("share"), "gigatoken", [])
    monkeypatch.setattr(backends, "CHECKED_SHARE", 1 / 8)
    texts = ["the café " * 9] * 16
    for _ in range(50):
        fast.encode_plain(texts)
    report = fast.report()
    total = 50 * 16 * len(texts[0].encode())
    assert 0.05 * total < report["checked_bytes"] < 0.15 * total
    assert report["checked_documents"] * len(texts[0].encode()) == report["checked_bytes"]


def test_a_library_that_fails_in_the_shard_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = accelerate(trained("fails"), "gigatoken", [])

    def fail(definition: str) -> Encode:
        raise RuntimeError("no more")

    monkeypatch.setattr(fast_libraries, "RELOAD_CHARACTERS", 0)
    monkeypatch.setattr(fast_libraries, "RELOAD_MEMORY", -(1 << 60))
    fast.encode_batch(["the cat"])
    assert fast._fast is not None
    monkeypatch.setattr(fast._fast, "_load", fail)
    with pytest.raises(BackendDiffers, match="no more"):
        fast.encode_batch(["the cat"])


def test_one_library_per_tokenizer_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "probe_texts", lambda tokens: ["the cat"])
    first = accelerate(trained("kept"), "gigatoken", [])._fast
    assert accelerate(trained("kept"), "gigatoken", [])._fast is first
    for number in range(fast_libraries.MOST_LIBRARIES):
        accelerate(trained(f"kept {number}"), "gigatoken", [])
    assert len(fast_libraries._LOADED) == fast_libraries.MOST_LIBRARIES
    assert accelerate(trained("kept"), "gigatoken", [])._fast is not first


def test_probe_texts_are_compared_once_on_a_machine(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    plain = backends._compare

    def counting(fast: FastLibrary, reference: Tokenizer, texts: Sequence[str]) -> str | None:
        compared.append(len(texts))
        return plain(fast, reference, texts)

    monkeypatch.setattr(backends, "_compare", counting)
    tokenizer = trained("noted")

    def again() -> list[int]:
        """Numbers of texts that a new process compares."""
        compared.clear()
        monkeypatch.setattr(fast_libraries, "_LOADED", {})
        report = accelerate(tokenizer, "gigatoken", ["the cat"]).report()
        assert (report["backend"], report["probe_texts"], report["first_texts"]) == ("gigatoken", probes, 1)
        return compared

    probes = len(probe_texts([*tokenizer.special_tokens]))
    assert again() == [probes, 1]
    assert again() == [1]
    [note] = notes.iterdir()
    content = note.read_bytes()
    for damaged in (b"", b"\xff", content[:-1], content.replace(b" ", b"  "), content[33:]):
        note.write_bytes(damaged)
        assert again() == [probes, 1]
        assert note.read_bytes() == content
    name, _, count = content.partition(b"\n")[2].decode().partition(" ")
    for foreign in (f"gigatoken-other {count}", f"{name} ", f"{name} many", f"{name} -1", f"{name} \u0663"):
        keep(proofs.GROUP, note.name, foreign)
        assert again() == [probes, 1]
    monkeypatch.setattr(proofs, "RULES", "other")
    assert again() == [probes, 1]
    assert len([*notes.iterdir()]) == 2


@pytest.mark.parametrize(
    ("chosen", "characters", "whole", "tried"),
    [
        ("auto", FIRST_CHARACTERS - 1, True, "tokenizers"),
        ("auto", FIRST_CHARACTERS, True, "auto"),
        ("auto", 5, False, "auto"),
        ("gigatoken", 5, True, "gigatoken"),
    ],
)
def test_no_library_is_proved_for_texts_that_the_proof_would_encode_anyway(
    chosen: LibraryName, characters: int, whole: bool, tried: str
) -> None:
    assert worth_proving(chosen, ["a" * (characters - 2), "bc"], whole=whole) == tried


def test_probe_texts_have_a_number() -> None:
    texts = "\0".join(probe_texts(["<|endoftext|>"]))
    told = content_digest(texts.encode("utf-8", "surrogatepass"))
    assert (proofs.RULES, told) == ("1", "3a301ade0e8374eb7530f53ca495171c"), (
        "other probe texts need another number: raise RULES"
    )


def test_backends_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ConfigError, match="valid: auto"):
        accelerate(trained(), "slow", [])  # type: ignore[arg-type]
    assert accelerate(trained(), "tokenizers", []).report()["backend"] == "tokenizers"
    t5 = real("t5", False)
    with pytest.raises(ConfigError, match="fastokens cannot be used"):
        accelerate(t5, "fastokens", [])
    assert accelerate(t5, "auto", []).report()["backend"] == "tokenizers"


def test_everything_else_is_the_reference() -> None:
    reference = trained()
    fast = accelerate(reference, "auto", [])
    for name in ("vocab_size", "eos_id", "pad_id", "bos_id", "adds_bos", "digest", "chat_template", "definition"):
        assert getattr(fast, name) == getattr(reference, name)
    assert dict(fast.special_tokens) == dict(reference.special_tokens)
    assert dict(fast.template_values) == dict(reference.template_values)
    assert fast.decode(fast.encode_trusted("the cat")) == "the cat"
    assert np.array_equal(fast.encode_offsets("the cat")[1], reference.encode_offsets("the cat")[1])
    assert np.array_equal(fast.text_sizes()[0], reference.text_sizes()[0])
    assert fast.with_token("<|padding|>") is fast
    assert fast.with_token("<new>").token_id("<new>") == reference.vocab_size


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=6), st.lists(st.just(77), max_size=2), st.booleans())
def test_ids_are_put_around(lists: list[list[int]], before: list[int], closed: bool) -> None:
    after = [88, 99] if closed else []
    assert [ids.tolist() for ids in put_around(Ragged.of(lists), before, after)] == [
        [*before, *ids, *after] for ids in lists
    ]


def test_differences_are_told_with_text_and_ids() -> None:
    one, other = Ragged.of([[1], [2, 3]]), Ragged.of([[1], [2, 4]])
    assert difference(["a", "b"], one, one) is None
    assert difference(["a", "b"], one, other) == "id 1 of text 'b': [2, 3], expected [2, 4]"
    assert difference(["a", "b"], one, Ragged.of([[1], [2]])) == "id 1 of text 'b': [2, 3], expected [2]"


def test_probe_texts_are_the_same_and_valid_text() -> None:
    texts = probe_texts(["<|endoftext|>"])
    assert texts == probe_texts(["<|endoftext|>"])
    assert len(texts) > 3000
    assert all(text.encode().decode() == text for text in texts)
    assert any("<|endoftext|>" in text for text in texts)


def test_an_accelerated_tokenizer_has_every_member_of_a_tokenizer() -> None:
    reference = trained("members")
    fast = accelerate(reference, "gigatoken", [])
    members = [name for name in dir(Tokenizer) if not name.startswith("_")]
    assert "vocab_size" in members and "decode" in members
    for name in members:
        mine, other = getattr(fast, name), getattr(reference, name)
        if other is reference:
            assert mine is fast, name
        else:
            assert callable(mine) if callable(other) else mine == other, name
    assert fast.with_token("<|endoftext|>") is fast or fast.token_id("<|endoftext|>") is None
    assert fast.with_token("<new>").token_id("<new>") == reference.vocab_size
    with pytest.raises(AttributeError):
        fast.no_such_member  # noqa: B018


@pytest.mark.parametrize("kind", [JobTimeoutError, KeyboardInterrupt, MemoryError])
def test_a_time_limit_is_no_fault_of_a_library_or_a_tokenizer(
    kind: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(kind, match="the limit"), fast_libraries._usable():
        raise kind("the limit")

    def fails(_: str) -> None:
        raise kind("the limit")

    monkeypatch.setattr(library, "Encoder", SimpleNamespace(from_str=fails))
    with pytest.raises(kind, match="the limit"):
        library._encoder("{}", exact_scores=False)
