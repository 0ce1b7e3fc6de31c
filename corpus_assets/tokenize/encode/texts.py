"""From texts to batches of ids, whatever the length of a text."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.options import Texts
from corpus_assets.tokenize.counts.discarded import of_text
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.encode.cleaning import clean, split_text
from corpus_assets.tokenize.encode.cuts import around, cut_places, pieces, safe_cuts
from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer

BATCH_CHARACTERS = 1 << 20


def encode_texts(
    texts: Iterable[str], tokenizer: Tokenizer, section: Texts, statistics: Statistics
) -> Iterator[Ragged]:
    """Yields the ids of every text after cleaning, without end-of-text id: one list per text, in order, in batches.

    A batch holds about `BATCH_CHARACTERS` characters; a text longer than that is a batch of its own. Batches do not
    affect the ids.
    `split_text`: texts are encoded in pieces of about so many characters. `remove_bos_in_pieces`: then a
    tokenizer that adds a begin-of-text id leaves it on the first piece only; no other tokenizer is affected.

    Empty texts are counted as discarded (`empty_text`), unless `keep_empty`. A long text is encoded in parts that give
    the ids of the whole (`cuts`), so it only takes the memory of its characters and ids, which is freed before the next
    text is read. Where more than `cuts.LONGEST_PIECE` characters have no safe place to cut (one letter or white space
    alone; with byte-level BPE also digits, emoji or combining marks alone), or the tokenizer has none at all, the
    document is discarded (`no_place_to_cut`) and the others go on; `split_text` is the way to keep it, if it holds
    spaces.
    """
    skip = int(section.remove_bos_in_pieces and tokenizer.adds_bos)
    split_length = section.split_text
    untouched = not (section.ftfy or section.wikitext)
    batch: list[str] = []
    characters = 0
    for raw in texts:
        text = raw if untouched else clean(raw, section)
        _count(raw, text, statistics)
        size = len(text)
        if not text and not section.keep_empty:
            statistics.discard_document("empty_text", shown=[of_text(statistics.reading, raw)])
            statistics.sources.skip()
        elif size <= BATCH_CHARACTERS:
            batch.append(text)
            characters += size
        if batch and (characters >= BATCH_CHARACTERS or size > BATCH_CHARACTERS):
            yield _encode_batch(batch, tokenizer, split_length, skip)
            batch, characters = [], 0
        long = _encode_alone(text, tokenizer, statistics, split_length, skip) if size > BATCH_CHARACTERS else []
        # Frees a long text and its ids here while the caller uses them and the next text is read.
        del raw, text
        while long:
            yield long.pop()
    if batch:
        yield _encode_batch(batch, tokenizer, split_length, skip)


def _encode_alone(
    text: str, tokenizer: Tokenizer, statistics: Statistics, split_length: int | None, skip: int
) -> list[Ragged]:
    """Returns a batch of one long text, or none if the text is discarded."""
    ids = encode_long(text, tokenizer, split_length=split_length, skip=skip)
    if ids is None:
        statistics.discard_document("no_place_to_cut", shown=[of_text(statistics.reading, text)])
        statistics.sources.skip()
        return []
    return [Ragged(ids, np.array([0, len(ids)]))]


def encode_long(text: str, tokenizer: Tokenizer, *, split_length: int | None = None, skip: int = 0) -> Ids | None:
    """Returns the ids of one text of any length; None if it cannot be cut safely into parts of a bounded length.

    skip: number of ids that every piece but the first loses at its start.
    """
    ids = bytearray()  # grows in place, where joining arrays would hold all ids twice
    for group in _groups(split_text(text, split_length) if split_length else [text]):
        if len(group[0]) <= BATCH_CHARACTERS:
            later = np.ones(len(group), bool)
            later[0] = bool(ids)
            ids += _without_starts(tokenizer.encode_batch(group), later, skip).ids.data
            continue
        cutter = safe_cuts(tokenizer)
        places = cut_places(group[0], cutter)
        marks = around(tokenizer) if places else ([], [])
        if places is None or marks is None:
            return None
        drop = skip if ids else 0
        lead = cutter.lead if cutter else 0
        for part in _encode_parts(group[0], places, tokenizer, lead, marks):
            ids += part[drop:].data
            drop = 0
    return np.frombuffer(ids, np.int32)


def _groups(parts: Iterable[str]) -> Iterator[list[str]]:
    """Yields the parts in lists of about `BATCH_CHARACTERS` characters; a part longer than that is alone."""
    group: list[str] = []
    characters = 0
    for part in parts:
        if group and characters + len(part) > BATCH_CHARACTERS:
            yield group
            group, characters = [], 0
        group.append(part)
        characters += len(part)
    if group:
        yield group


def _encode_parts(
    text: str, places: Sequence[int], tokenizer: Tokenizer, lead: int, marks: tuple[list[int], list[int]]
) -> Iterator[Ids]:
    """Yields the ids of the text by parts: the `marks` around a text are before the first and after the last part only.

    lead: number of characters of the part before that a part starts with.
    """
    before, after = map(len, marks)
    for number, part in enumerate(pieces(text, places, lead)):
        ids = tokenizer.encode_batch([part]).ids
        repeated = len(tokenizer.encode_plain([part[:lead]]).ids) if number and lead else 0
        yield ids[before + repeated if number else 0 : len(ids) - (after if number < len(places) else 0)]


def _count(raw: str, text: str, statistics: Statistics) -> None:
    """Count a document and its text before and after cleaning."""
    size = utf8_length(raw)
    statistics.processed_files += 1
    statistics.raw_chars_count += len(raw)
    statistics.raw_bytes_count += size
    statistics.sources.text(size)
    statistics.normalized_chars_count += len(text)
    statistics.normalized_bytes_count += size if text is raw else utf8_length(text)


def utf8_length(text: str) -> int:
    """Returns the bytes of the text in UTF-8, without a second copy of a long text."""
    if text.isascii():
        return len(text)
    return sum(len(text[start : start + BATCH_CHARACTERS].encode()) for start in range(0, len(text), BATCH_CHARACTERS))


def _encode_batch(batch: Sequence[str], tokenizer: Tokenizer, split_length: int | None, skip: int) -> Ragged:
    if not split_length:
        return tokenizer.encode_batch(batch)
    split = [list(split_text(text, split_length)) for text in batch]
    ragged = tokenizer.encode_batch([piece for parts in split for piece in parts])
    starts = np.cumsum([0, *map(len, split)])
    later = np.ones(len(ragged), bool)
    later[starts[:-1][np.diff(starts) > 0]] = False
    ragged = _without_starts(ragged, later, skip)
    return Ragged(ragged.ids, ragged.offsets[starts])


def _without_starts(ragged: Ragged, lists: NDArray[np.bool_], skip: int) -> Ragged:
    """Returns the `lists`, a mask (n,), without the first `skip` ids of each."""
    if not skip:
        return ragged
    removed = (ragged.offsets[:-1][lists, None] + np.arange(skip)).ravel()
    return Ragged(np.delete(ragged.ids, removed), ragged.offsets - np.cumsum([0, *(lists * skip)]))
