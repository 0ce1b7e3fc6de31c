"""Fill in the middle: nothing is lost or doubled, whatever the texts, and chance is keyed."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.config.datasets.modes import FIMDataset
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes import fim as fim_mode
from corpus_assets.tokenize.modes.fim import FIM, fim_documents, text_pieces
from corpus_assets.tokenize.modes.fim_rows import fim_rows, trimmed
from corpus_assets.tokenize.modes.fim_transform import KeyedDecisions
from corpus_assets.tokenize.modes.lm import lm_rows
from corpus_assets.tokenize.modes.mode import IdentifiedText, Tools
from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.errors import ConfigError
from tests.tokenize.byte_tokenizer import ByteTokenizer
from tests.tokenize.sections import fim, lm
from tests.tokenize.tokenizers_for_tests import load

TOKENIZER = ByteTokenizer()
EOS, PAD, BOS, PRE, MID, SUF = range(512, 518)
TEXT = st.text(st.sampled_from("ab  \n<eos>é日😀\ufffd"), max_size=60)
Rows = NDArray[np.int32]


class Always:
    """Everything is transformed at the same relative places."""

    def __init__(self, spm: bool, begin: float = 0.25, end: float = 0.5) -> None:
        self._spm, self._begin, self._end = spm, begin, end

    def applies(self, key: bytes) -> bool:
        return True

    def cuts(self, key: bytes, characters: int) -> tuple[int, int]:
        return int(self._begin * characters), int(self._end * characters)

    def suffix_first(self, key: bytes) -> bool:
        return self._spm


def lists(
    texts: list[str], section: FIMDataset, tokenizer: Tokenizer = TOKENIZER, **given: Any
) -> tuple[list[Ids], Statistics]:
    statistics = Statistics()
    documents = [IdentifiedText(str(number), text) for number, text in enumerate(texts)]
    batches = list(fim_documents(documents, tokenizer, section, statistics, **given))
    return list(itertools.chain.from_iterable(batches)), statistics


def source_text(ids: Ids, tokenizer: Tokenizer = TOKENIZER, control: tuple[int | None, ...] = (PRE, MID, SUF)) -> str:
    """The text that a transformed list was made of, from the layouts of the paper."""
    pre, mid, suf = control
    ids = ids[1:] if tokenizer is TOKENIZER and ids[0] == BOS else ids
    if not np.isin(ids, np.array(control)).any():
        return tokenizer.decode(ids)
    assert [np.count_nonzero(ids == token) for token in control] == [1, 1, 1]
    assert ids[0] == pre
    suffix_at, middle_at = (int(np.flatnonzero(ids == token)[0]) for token in (suf, mid))
    before, between, after = ids[1:suffix_at], ids[suffix_at + 1 : middle_at], ids[middle_at + 1 :]
    first, second, third = (tokenizer.decode(part) for part in (before, after, between))
    return first + second + third  # of SPM the first is empty and the second holds prefix and middle


def test_layouts() -> None:
    for spm, expected in ((False, "<pre>ab<suf>efgh<mid>cd"), (True, "<pre><suf>efgh<mid>abcd")):
        (ids,), statistics = lists(["abcdefgh"], fim(), decisions=Always(spm))
        assert TOKENIZER.decode(ids) == expected
        assert statistics.kinds == {"fim_spm" if spm else "fim_psm": 1}
    (ids,), _ = lists(["abcdefgh"], fim(), ByteTokenizer(adds_bos=True), decisions=Always(False))
    assert TOKENIZER.decode(ids) == "<bos><pre>ab<suf>efgh<mid>cd"


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(TEXT, max_size=6),
    length=st.integers(8, 80),
    rate=st.sampled_from([0.0, 0.5, 1.0]),
    bos=st.booleans(),
)
def test_documents_come_back_whole(texts: list[str], length: int, rate: float, bos: bool) -> None:
    tokenizer = ByteTokenizer(adds_bos=bos)
    made, statistics = lists(texts, fim(length, fim_rate=rate), tokenizer)
    assert "".join(map(source_text, made)) == "".join(texts)
    assert all(ids.size <= length for ids in made)
    assert all((ids[0] == BOS) == bos and np.count_nonzero(ids == BOS) == bos for ids in made)
    assert statistics.kinds.total() == len(made)
    assert statistics.discarded_documents.total() == texts.count("")
    if rate in (0, 1) and length > 40:
        assert bool(statistics.kinds["fim_none"]) <= (rate == 0)


@settings(max_examples=25, deadline=None)
@given(texts=st.lists(TEXT, min_size=1, max_size=8), order=st.randoms(use_true_random=False))
def test_decisions_depend_on_the_document_alone(texts: list[str], order: Any) -> None:
    documents = [IdentifiedText(str(number), text) for number, text in enumerate(texts) if text]

    def transformed(given_order: list[IdentifiedText]) -> list[list[int]]:
        batches = fim_documents(given_order, TOKENIZER, fim(), Statistics())
        return [ids.tolist() for batch in batches for ids in batch]

    shuffled = order.sample(documents, len(documents))
    alone = [ids for document in shuffled for ids in transformed([document])]
    assert transformed(shuffled) == alone


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["word " * (n % 40 + 1) for n in range(50)]
    expected, _ = lists(texts, fim(40))
    monkeypatch.setattr(fim_mode, "BATCH_CHARACTERS", 30)
    made, _ = lists(texts, fim(40))
    assert [ids.tolist() for ids in made] == [ids.tolist() for ids in expected]


def test_same_text_of_another_document_or_seed_is_cut_elsewhere() -> None:
    made, _ = lists(["some text to be cut " * 2] * 40, fim(fim_rate=1))
    assert len({tuple(ids.tolist()) for ids in made}) > 30
    other, _ = lists(["some text to be cut " * 2] * 40, fim(fim_rate=1, seed=1))
    assert [ids.tolist() for ids in made] != [ids.tolist() for ids in other]


def test_shares_are_about_the_rates() -> None:
    kinds = lists([f"text number {n}" for n in range(4000)], fim(fim_rate=0.7, spm_rate=0.25))[1].kinds
    transformed = kinds["fim_psm"] + kinds["fim_spm"]
    assert abs(transformed / 4000 - 0.7) < 0.03
    assert abs(kinds["fim_spm"] / transformed - 0.25) < 0.03


def test_cuts_are_uniform() -> None:
    decisions = KeyedDecisions(0, 1, 0.5)
    begins, ends = np.array([decisions.cuts(n.to_bytes(8, "little"), 9) for n in range(4000)]).T
    assert (begins <= ends).all()
    both = np.bincount(np.concatenate([begins, ends]), minlength=10)
    assert both.size == 10
    assert (abs(both - 800) < 150).all()


@settings(max_examples=60, deadline=None)
@given(text=TEXT, size=st.integers(1, 9))
def test_pieces_are_the_text(text: str, size: int) -> None:
    pieces = list(text_pieces(text, TOKENIZER.encode_plain([text]).ids, TOKENIZER, size))
    assert "".join(pieces) == text
    assert all(pieces)
    # A token across a border adds the bytes of its character to the next piece.
    assert all(len(TOKENIZER.encode_plain([piece])[0]) <= size + 3 for piece in pieces)


def test_sections_of_a_long_document_are_cut_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fim_mode, "SECTION_CHARACTERS", 100)
    text = "".join(chr(97 + n % 26) for n in range(1234))
    made, _ = lists([text], fim(32))
    assert "".join(map(source_text, made)) == text


@pytest.mark.parametrize("label", ["gpt2", "neox"])
def test_with_real_tokenizers(label: str) -> None:
    """Any three tokens of the vocabulary will do, so GPT-2 works too."""
    tokenizer = load(label)
    prefix, middle, suffix = "Ġattrot", "Ġkilometres", "Ġparliament"
    if tokenizer.token_id(prefix) is None:
        prefix = "Ġmolecules"
    control = tuple(tokenizer.token_id(token) for token in (prefix, middle, suffix))
    texts = ["The quick brown fox; 日本語 and 😀 emoji. " * n for n in range(1, 9)]
    section = fim(48, prefix_token=prefix, middle_token=middle, suffix_token=suffix, fim_rate=1)
    made, statistics = lists(texts, section, tokenizer)
    assert "".join(source_text(ids, tokenizer, control) for ids in made) == "".join(texts)
    assert statistics.kinds["fim_psm"] + statistics.kinds["fim_spm"] >= 8


def test_packed_documents_account_for_every_token() -> None:
    statistics = Statistics()
    documents = (IdentifiedText(str(n), f"document {n} " * (n % 30 + 1)) for n in range(80))
    batches = fim_documents(documents, TOKENIZER, fim(), statistics)
    rows = np.concatenate(list(lm_rows(batches, lm(64), EOS, PAD, statistics)))
    assert statistics.unaccounted_tokens == 0
    assert np.count_nonzero(rows[:, 2] == EOS) == statistics.kinds.total()
    assert np.count_nonzero(rows[:, 0] == SUF) == statistics.kinds["fim_psm"] + statistics.kinds["fim_spm"]


def test_tokenizers_that_cannot_work() -> None:
    with pytest.raises(ConfigError, match="middle_token: '<none>' is no token"):
        lists(["x"], fim(middle_token="<none>"))
    tokenizer = ByteTokenizer()
    tokenizer.eos_id = None
    with pytest.raises(ConfigError, match="end-of-text"):
        lists(["x"], fim(), tokenizer)
    with pytest.raises(ConfigError, match="pad id"):
        list(fim_rows([], TOKENIZER, fim(reference=True), Statistics()))


def rows_of(
    texts: list[str],
    section: FIMDataset,
    tokenizer: ByteTokenizer = TOKENIZER,
    *,
    pack: bool = True,
    **given: Any,
) -> tuple[Rows, Rows, Statistics]:
    """Rows before and after, and the statistics of the latter."""
    base = lm(section.sequence_length, pack=pack, minimum_length=2, inverted_mask=section.inverted_mask)
    before = list(lm_rows([tokenizer.encode_batch(texts)], base, tokenizer.eos_id, tokenizer.pad_id))
    statistics = Statistics()
    again = lm_rows([tokenizer.encode_batch(texts)], base, tokenizer.eos_id, tokenizer.pad_id, statistics)
    after = list(fim_rows(again, tokenizer, section, statistics, **given))
    empty = np.empty((0, 3, section.sequence_length), np.int32)
    return np.concatenate([empty, *before]), np.concatenate([empty, *after]), statistics


def windows(rows: Rows) -> list[Ids]:
    """Ids of the rows without padding."""
    return [np.append(row[0, :1], row[2, : row[1].sum()]) for row in rows if row[1].any()]


def test_rows_are_transformed_by_segment() -> None:
    _, rows, statistics = rows_of(["abcd", "efgh"], fim(24), decisions=Always(False))
    assert [TOKENIZER.decode(ids) for ids in windows(rows)] == ["<pre>a<suf>cd<mid>b<eos><pre>e<suf>gh<mid>f<eos>"]
    assert statistics.kinds == {"fim_psm": 2}
    assert (rows[0, 2, 15:] == PAD).all()


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(TEXT.filter(bool), min_size=1, max_size=8),
    length=st.integers(8, 50),
    pack=st.booleans(),
    rate=st.sampled_from([0.0, 0.5, 1.0]),
    bos=st.booleans(),
    reference=st.booleans(),
)
def test_rows_keep_their_promises(
    texts: list[str], length: int, pack: bool, rate: float, bos: bool, reference: bool
) -> None:
    tokenizer = ByteTokenizer(adds_bos=bos and not reference, pad="<eos>" if reference else "<pad>")
    section = fim(length, fim_rate=rate, reference=reference)
    before, after, statistics = rows_of(texts, section, tokenizer, pack=pack)
    assert before.shape == after.shape
    masks = after[:, 1]
    assert (np.diff(masks, axis=1) <= 0).all()
    assert (after[:, 0, 1:][masks[:, 1:] == 1] == after[:, 2, :-1][masks[:, 1:] == 1]).all()
    assert (after[:, [0, 2]][np.stack([masks, masks], axis=1) == 0] == tokenizer.pad_id).all()
    assert statistics.loss_valid_tokens == masks.sum() == statistics.non_pad_tokens
    assert statistics.unaccounted_tokens == 0
    transformed = statistics.kinds["fim_psm"] + statistics.kinds["fim_spm"]
    ids = [np.append(row[0], row[2, -1:]) for row in after]
    for token in (PRE, MID, SUF):
        assert sum(np.count_nonzero(row == token) for row in ids) == transformed
    if reference:
        assert all(window[-1] == EOS for window in windows(after))
        return
    for old, new in zip(windows(before), windows(after), strict=True):
        assert np.count_nonzero(old == EOS) == np.count_nonzero(new == EOS)
        assert (old[-1] == EOS) == (new[-1] == EOS)
        assert new[-1] not in (PRE, MID, SUF)


@settings(max_examples=40, deadline=None)
@given(texts=st.lists(TEXT, min_size=1, max_size=6), length=st.integers(8, 50), pack=st.booleans(), bos=st.booleans())
def test_without_transform_rows_stay_as_they_are(texts: list[str], length: int, pack: bool, bos: bool) -> None:
    before, after, statistics = rows_of(texts, fim(length, fim_rate=0), ByteTokenizer(adds_bos=bos), pack=pack)
    assert not statistics.dropped_tokens.keys() - {"below_minimum_length"}
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize(("spm", "expected"), [(False, "<pre>ab<suf>ef<mid>cd"), (True, "<pre><suf>ef<mid>abcd")])
def test_document_that_goes_on_gets_no_end(spm: bool, expected: str) -> None:
    before, rows, statistics = rows_of(["abcdefghijklmnop"], fim(8), decisions=Always(spm))
    assert TOKENIZER.decode(windows(before)[0]) == "abcdefghi"
    first, second = windows(rows)
    assert TOKENIZER.decode(first) == expected
    assert first.size == second.size == 9
    assert second[-1] == EOS
    assert statistics.unaccounted_tokens == 0


def test_empty_documents_stay_and_are_no_segments() -> None:
    _, rows, statistics = rows_of(["", "abcd", "", ""], fim(24), decisions=Always(False))
    assert [TOKENIZER.decode(ids) for ids in windows(rows)] == ["<eos><pre>a<suf>cd<mid>b<eos><eos><eos>"]
    assert statistics.kinds == {"fim_psm": 1}
    assert statistics.unaccounted_tokens == 0


def test_row_does_not_end_with_an_empty_middle() -> None:
    before, rows, statistics = rows_of(["abcdefghijklmnop"], fim(8), decisions=Always(False, 0.5, 0.5))
    np.testing.assert_array_equal(rows[0], before[0])
    assert statistics.kinds == {"fim_none": 1, "fim_psm": 1}


def test_cutting_leaves_an_id_of_the_document_that_goes_on() -> None:
    _, rows, statistics = rows_of(["abcdef", "ghi"], fim(8), decisions=Always(False, 0.25, 0.9))
    ids = windows(rows)[0]
    assert ids.size == 9
    assert TOKENIZER.decode(ids[-1:]) == "g"
    assert statistics.unaccounted_tokens == 0


def test_short_rows_get_no_end_either() -> None:
    base = lm(16, pack=False, minimum_length=2, short_sequence_probability=1.0)
    statistics = Statistics()
    blocks = list(lm_rows([TOKENIZER.encode_batch(["abcdefghijklmno"] * 5)], base, EOS, PAD, statistics))
    after = np.concatenate(list(fim_rows(blocks, TOKENIZER, fim(16, fim_rate=1), statistics)))
    assert not np.isin(after, EOS).any()
    assert statistics.unaccounted_tokens == 0


def test_halves_of_characters_stay_where_they_are() -> None:
    emoji = TOKENIZER.encode_plain(["😀"])[0]
    row = np.concatenate([emoji[2:], TOKENIZER.encode_plain(["abcdefgh"])[0], emoji[:3]])
    block = np.stack([row[:-1], np.ones_like(row[1:]), row[1:]])[None]
    statistics = Statistics(loss_valid_tokens=row.size - 1, document_tokens=row.size - 1)
    section = fim(row.size - 1)
    made = np.concatenate(list(fim_rows([block], TOKENIZER, section, statistics, decisions=Always(False))))
    (ids,) = windows(made)
    # Three ids too many: cut from the end of the suffix, where the first half of the second character is.
    np.testing.assert_array_equal(ids, [PRE, *emoji[2:], *b"ab", SUF, *b"efgh", MID, *b"cd"])
    assert statistics.dropped_tokens == {"fim_cut": 3}


def test_row_of_many_segments_keeps_the_last_as_they_are() -> None:
    _, rows, statistics = rows_of(["a"] * 8, fim(16), decisions=Always(True))
    assert all(ids.size <= 17 for ids in windows(rows))
    assert statistics.kinds["fim_none"] > 0
    assert statistics.unaccounted_tokens == 0


def test_control_ids_among_the_ids_survive() -> None:
    body = [97, TOKENIZER.special_tokens["<|user|>"], 98]
    base = lm_rows([Ragged.of([body])], lm(16, minimum_length=2), EOS, PAD)
    (rows,) = fim_rows(base, TOKENIZER, fim(16), Statistics(), decisions=Always(False, 0, 0))
    assert [TOKENIZER.decode(ids) for ids in windows(rows)] == ["<pre><suf>a<|user|>b<mid><eos>"]
    assert body[1] in rows[0, 0]


def test_transform_neither_destroys_nor_makes_control_ids() -> None:
    bodies = [[97, TOKENIZER.special_tokens["<|user|>"], 98], [97, TOKENIZER.special_tokens["<|user|>"], *b"<eos>b"]]
    for body, begin in zip(bodies, (0.5, 0.1), strict=True):
        statistics = Statistics()
        base = list(lm_rows([Ragged.of([body])], lm(32, minimum_length=2), EOS, PAD, statistics))
        (rows,) = fim_rows(base, TOKENIZER, fim(32), statistics, decisions=Always(False, begin, begin))
        np.testing.assert_array_equal(rows, base[0])
        assert statistics.kinds == {"fim_none": 1}


def test_inverted_mask_is_carried() -> None:
    _, plain, _ = rows_of(["abc", "defgh"], fim(32))
    _, inverted, statistics = rows_of(["abc", "defgh"], fim(32, inverted_mask=True))
    np.testing.assert_array_equal(plain[:, [0, 2]], inverted[:, [0, 2]])
    np.testing.assert_array_equal(plain[:, 1], 1 - inverted[:, 1])
    assert statistics.loss_valid_tokens == plain[:, 1].sum()


def test_reference_takes_padding_for_a_border() -> None:
    tokenizer = ByteTokenizer(pad="<eos>")
    _, rows, statistics = rows_of(["abcd"], fim(24, reference=True), tokenizer, pack=False, decisions=Always(False))
    assert [tokenizer.decode(ids) for ids in windows(rows)] == ["<pre>a<suf>cd<mid>b<eos><pre><suf><mid><eos>"]
    assert statistics.kinds == {"fim_psm": 2}


@pytest.mark.parametrize(
    ("kind", "by_setting", "expected"),
    [
        ("huggingface", True, "<bos><pre>a<suf>cd<mid>b<eos><bos><pre><suf><mid><eos>"),
        ("huggingface", False, "<pre><bos><b<suf><bos>>abcd<mid><bos>os<eos><pre><bos><suf><bos><mid><bos><eos>"),
        ("neox", True, "<bos><pre><bos><b<suf><bos>>abcd<mid><bos>os<eos><bos><pre><bos><suf><bos><mid><bos><eos>"),
    ],
)
def test_reference_puts_the_begin_of_text_where_a_setting_or_the_file_says(
    kind: str, by_setting: bool, expected: str
) -> None:
    """Cerebras turns the setting off, before it encodes anything, and writes the id itself."""
    tokenizer = ByteTokenizer(adds_bos=True, pad="<eos>")
    tokenizer.kind, tokenizer.bos_by_setting = kind, by_setting
    section = fim(60, reference=True, fim_level="row", pack=False, minimum_length=2, fim_rate=1.0)
    tools = Tools(tokenizer, Statistics())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KeyedDecisions, "of", lambda _: Always(False))
        (rows,) = FIM.rows(section, [IdentifiedText("0", "abcd")], tools)
    assert [tokenizer.decode(ids) for ids in windows(rows)] == [expected]


def test_turns_of_cutting() -> None:
    assert trimmed([(2, 2, 2)], 0) == [[2, 2, 2]]
    assert trimmed([(2, 2, 2)], 3) == [[1, 2, 0]]
    assert trimmed([(2, 2, 2)], 6) == [[0, 0, 0]]
    # The turn in which the suffix is found empty is lost: the other segment goes on.
    assert trimmed([(3, 0, 1), (0, 0, 9)], 5) == [[2, 0, 0], [0, 0, 6]]


@given(sizes=st.lists(st.tuples(*[st.integers(0, 6)] * 3), min_size=1, max_size=4), excess=st.integers(-3, 80))
def test_cutting_takes_what_is_asked(sizes: list[tuple[int, int, int]], excess: int) -> None:
    left = trimmed(sizes, excess)
    total = sum(map(sum, sizes))
    assert sum(map(sum, left)) == total - min(max(0, excess), total)
    assert all(0 <= kept <= size for a, b in zip(left, sizes, strict=True) for kept, size in zip(a, b, strict=True))
