"""Reads one file of ids, with those that belong to it, into a partition of a token stream (docs/token-files.md)."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.token_files import TokenFiles
from corpus_assets.export.datasets import ExportedDataset
from corpus_assets.export.token_stream import BY_SOURCE, DATA, DOCUMENT, DOCUMENTS, IDS, LENGTHS, NAMES, id_type
from corpus_assets.raw.bad_rows import Gaps, require_unchanged, write_good_rows
from corpus_assets.raw.losses import BAD_FILE, NOT_SAMPLED
from corpus_assets.raw.sampling import LEFT_OUT_BYTES, Chosen
from corpus_assets.token_files.documents import Bad, Batch, batches
from corpus_assets.token_files.pieces import How, TokenSource
from corpus_assets.token_files.registry import FORMATS
from corpus_assets.tokenize.named_tokens import token_id
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.documents.row_counts import added, by_power
from resources.errors import BadFileError, ConfigError, file_fault
from resources.formats.codecs import CodecError
from resources.formats.examples import DROPPED
from resources.raw_places.files import printable
from resources.stage.task import Task

WITHOUT_SEPARATOR = "documents_without_separator"
"""Statistic: documents with ids that had no separator where the files hold one."""
_MOST_DOCUMENTS = 2**32 - 2


def stream_of_files(task: Task, dataset: ExportedDataset) -> None:
    """Reads one file of ids, with those that belong to it, and writes its documents without separators.

    A document with an id outside the vocabulary, or with more than `longest_document` ids, is a bad row.
    """
    prefix = f"datasets.{dataset.name}.input"
    options = {key.removeprefix(f"{prefix}."): value for key, value in task.parameters.items()}
    section = TokenFiles.model_construct(None, **options)
    loaded = load_tokenizer_of(task.input(dataset.tokenizer))
    how = How(section, loaded.vocab_size, separator_of(prefix, section, loaded))
    source = TokenSource(task.shard.path, task.shard.members, partial(_open, task))
    path, gaps = f"token_streams/{dataset.stream}/{task.key}", Gaps()
    read = _faults(task, batches(FORMATS[section.format].read(source, how), how))
    chosen = Chosen.of(task.parameters, prefix)
    good = _good(task, read, section.on_bad_row, gaps, chosen)
    write_good_rows(task, good, section.on_bad_file, partial(_write, task, path, loaded.vocab_size))
    gaps.save(task, path)


def _open(task: Task, member: str) -> Any:
    return task.raw.open_member(member) if member else task.raw.open()


def _faults(task: Task, read: Iterator[Batch]) -> Iterator[Batch]:
    """Yields the same; faults of codecs and of the system get the name of the file."""
    try:
        yield from read
    except CodecError as fault:
        raise BadFileError(printable(task.shard.path), str(fault)) from fault
    except OSError as fault:
        raise file_fault(printable(task.shard.path), fault) from fault


def separator_of(where: str, section: TokenFiles, loaded: Tokenizer) -> int | None:
    """Returns the id that files hold between documents; None if they hold none, or the tokenizer has none.

    `ConfigError` for one that the tokenizer lacks, if documents are told apart by it. where: key of the section.
    """
    if section.side == "none":
        return None
    begins = section.side == "before" and loaded.bos_id is not None
    found = loaded.bos_id if begins else loaded.eos_id
    if section.separator_token is not None:
        return token_id(loaded, f"{where}.separator_token", section.separator_token)
    if found is None and section.by_separator:
        raise ConfigError(
            f"{where}.separator_token: end-of-text is no token of the vocabulary ({loaded.vocab_size} entries); valid: "
            "a token that is"
        )
    return found


def _good(task: Task, read: Iterator[Batch], on_bad_row: str, gaps: Gaps, chosen: Chosen | None) -> Iterator[Batch]:
    """Yields the batches of good documents; counts the bad ones, or fails the file. chosen: those of a sample."""
    has, label = chosen.rows(task.shard) if chosen else None, printable(task.shard.path)
    without = left = 0
    for batch in read:
        left_out = [bad.number for bad in batch.bad]
        for bad in batch.bad:
            _drop(task, bad, on_bad_row, label)
        without += batch.without
        keep = np.ones(len(batch.numbers), bool)
        if has is not None:
            keep = np.fromiter(map(has, batch.numbers.tolist()), bool, len(batch.numbers))
            left_out = sorted([*left_out, *batch.numbers[~keep].tolist()])
        if not keep.all():
            task.drop(NOT_SAMPLED, int(np.count_nonzero(~keep)))
            left += int(batch.lengths[~keep].sum())
        for gaps.row in left_out:
            gaps.leave_out()
        yield batch.only(keep)
    task.count(**{WITHOUT_SEPARATOR: without}, **({LEFT_OUT_BYTES: left} if chosen else {}))
    require_unchanged(task.shard)


def _drop(task: Task, bad: Bad, on_bad_row: str, label: str) -> None:
    place = f"{label} document {bad.number}"
    if on_bad_row == "fail":
        raise BadFileError(place, f"{bad.reason}: {bad.detail}")
    named = f"{task.shard.source}/{place}: {bad.reason}: {bad.detail}"
    task.drop(bad.reason, example=named if bad.detail else None)


def _write(task: Task, path: str, vocabulary: int, good: Iterator[Batch]) -> None:
    """Writes the stream: ids, lengths, and a row for every document. Its id is the path of the file and its number."""
    source, dtype = task.shard.source, id_type(vocabulary)
    documents = tokens = empty = id_bytes = 0
    powers = list[int]()
    with (
        task.array(f"{path}{IDS}", np.uint8) as identities,
        task.array(f"{path}{DOCUMENTS}", DOCUMENT) as table,
        task.array(f"{path}{LENGTHS}", np.int32) as lengths,
        task.array(f"{path}{DATA}", dtype) as data,
    ):
        for batch in good:
            rows, named = _rows(batch.numbers, f"{printable(task.shard.path)}:", documents, id_bytes)
            table.append(rows)
            identities.append(named)
            lengths.append(batch.lengths.astype(np.int32))
            data.append(batch.ids.astype(dtype))
            documents, tokens, id_bytes = documents + len(rows), tokens + len(batch.ids), id_bytes + len(named)
            empty += int((batch.lengths == 0).sum())
            powers = added([powers, by_power(batch.lengths)])
            if documents > _MOST_DOCUMENTS:
                raise BadFileError(printable(task.shard.path), f"has over {_MOST_DOCUMENTS:,} documents")
    task.save_json(f"{path}{NAMES}", {"sources": [source]}, rows=1)
    counted = {source: {"documents": documents, "text_bytes": 0, "tokens": tokens}}
    task.save_counters(BY_SOURCE, counted if documents else {})
    dropped = task.dropped()
    task.save_counters(DROPPED, dropped)
    rows_in = documents + sum(count for reason, count in dropped.items() if reason != BAD_FILE)
    task.count(rows_in=rows_in, rows_out=documents, tokens=tokens, token_lengths=powers)
    task.count(empty_documents=empty, text_bytes=0)


def _rows(numbers: NDArray[np.int64], begin: str, first: int, id_bytes: int) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Returns the rows of documents, and their ids as UTF-8. first: how many documents come before."""
    named = [f"{begin}{number}".encode() for number in numbers.tolist()]
    rows = np.zeros(len(named), DOCUMENT)
    rows["id_end"] = id_bytes + np.cumsum([*map(len, named)], dtype=np.int64)
    rows["row"] = first + np.arange(len(named))
    return rows, np.frombuffer(b"".join(named), np.uint8)
