"""The asset `<dataset>_masked_token_stream`: ids of whole documents, and which of them are learned.

A partition is a token stream (`token_stream.py`), and beside it `MASK`. A document is what a mode makes of a text or an
example; it has at most as many ids as a row, and one at least is learned.
"""

from collections import deque
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from corpus_assets.export.encoding import Encoded
from corpus_assets.export.masked.documents import MASK
from corpus_assets.export.token_stream import (
    BY_SOURCE,
    DATA,
    DOCUMENT,
    DOCUMENTS,
    IDS,
    LENGTHS,
    NAMES,
    StreamDocument,
    Written,
    id_type,
    stream_documents,
)
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.datasets import LONGEST
from corpus_assets.tokenize.encode.attempts import with_fastest
from corpus_assets.tokenize.modes.mode import IdentifiedText, MaskedBatch
from corpus_assets.tokenize.ragged import Ragged
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from corpus_assets.tokenize.tokens import DatasetBuild, count_discarded, first_texts, tools_of
from resources.formats.examples import Example, decode_example, example_bytes
from resources.stage.partition import Partition
from resources.stage.task import Task

NOTHING_LEARNED = "nothing_learned"


def masked_stream(task: Task, build: DatasetBuild, path: str, source: str) -> None:
    """Writes the masked documents of one partition. path: of its files, without the suffix."""
    given = task.input(source)

    def attempt(tokenizer: Tokenizer) -> tuple[Written, Statistics, int]:
        tools, read = tools_of(task, build, tokenizer), _Read(given)
        items = read.texts() if build.mode.takes_texts else read.examples()
        assert build.mode.masked is not None, build.mode.words
        batches = build.mode.masked(build.section, items, tools, build.options[LONGEST])
        written, learned = _write(task, path, (_kept(task, batch, read) for batch in batches), build)
        return written, tools.statistics, learned

    (written, statistics, learned), report = with_fastest(task, build.tokenizer, first_texts(build, [given]), attempt)
    count_discarded(task, statistics)
    task.save_counters(BY_SOURCE, written.by_source())
    task.count(rows_in=statistics.processed_files, rows_out=written.rows, tokens=written.ids, loss_tokens=learned)
    task.count(token_lengths=written.token_lengths, text_bytes=statistics.raw_bytes_count, **report)
    task.count(documents_truncated=statistics.truncated_documents.total())


class _Read:
    """The texts or examples of a partition, and what the stream says of those on their way."""

    def __init__(self, given: Partition) -> None:
        self._given = given
        self._held = deque[StreamDocument]()
        self._first = 0

    def texts(self) -> Iterator[IdentifiedText]:
        """Yields the texts."""
        for document in stream_documents(self._given):
            self._held.append(document)
            identity = f"{document.source}/{document.id}/{document.copy}"
            yield IdentifiedText(identity, document.text, source=document.source)

    def examples(self) -> Iterator[Example]:
        """Yields the examples."""
        for row, line in enumerate(self._given.lines()):
            example = decode_example(line)
            self._held.append(StreamDocument(example.id, example.source, "", example_bytes(example), row, 0))
            yield example

    def document(self, item: int) -> StreamDocument:
        """Returns what the stream says of an item; those before it are asked for no more."""
        while self._first < item:
            self._held.popleft()
            self._first += 1
        return self._held[0]


def learned_of(batch: MaskedBatch) -> NDArray[np.uint8]:
    """Returns for each id whether it is learned; the first of a document never is."""
    learned = np.zeros(len(batch.tokens.ids), np.uint8)
    learned[1:] = batch.masks.ids[:-1]
    learned[batch.tokens.offsets[:-1][batch.tokens.lengths > 0]] = 0
    return learned


def _kept(task: Task, batch: MaskedBatch, read: _Read) -> tuple[Encoded, NDArray[np.uint8]]:
    """Returns the documents of a batch of which something is learned; others are counted."""
    documents = [read.document(item) for item in batch.items.tolist()]
    learned, tokens = learned_of(batch), batch.tokens
    ends = np.concatenate([[0], np.cumsum(learned, dtype=np.int64)])[tokens.offsets]
    kept = np.diff(ends) > 0
    if kept.all():
        return Encoded(documents, tokens), learned
    for number in np.flatnonzero(~kept).tolist():
        task.drop(NOTHING_LEARNED, example=f"{documents[number].source}/{documents[number].id}")
    chosen = np.repeat(kept, tokens.lengths)
    offsets = np.concatenate([[0], np.cumsum(tokens.lengths[kept])])
    left = [document for document, keep in zip(documents, kept.tolist(), strict=True) if keep]
    return Encoded(left, Ragged(tokens.ids[chosen], offsets)), learned[chosen]


def _write(
    task: Task, path: str, batches: Iterator[tuple[Encoded, NDArray[np.uint8]]], build: DatasetBuild
) -> tuple[Written, int]:
    """Returns what was counted, and how many ids are learned."""
    written, dtype, total = Written(), id_type(build.tokenizer.vocab_size), 0
    with (
        task.array(f"{path}{IDS}", np.uint8) as names,
        task.array(f"{path}{DOCUMENTS}", DOCUMENT) as documents,
        task.array(f"{path}{LENGTHS}", np.int32) as lengths,
        task.array(f"{path}{MASK}", np.uint8) as masks,
        task.array(f"{path}{DATA}", dtype) as data,
    ):
        for batch, learned in batches:
            rows, encoded_ids = written.table(batch)
            documents.append(rows)
            names.append(np.frombuffer(encoded_ids, np.uint8))
            lengths.append(batch.ids.lengths.astype(np.int32))
            data.append(batch.ids.ids.astype(dtype))
            masks.append(learned)
            total += int(learned.sum())
    task.save_json(f"{path}{NAMES}", {"sources": [*written.sources]}, rows=1)
    return written, total
