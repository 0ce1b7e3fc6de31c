"""The files of windows of a partition, checked line by line."""

from corpus_assets.export.amber.check import Rule, checked_lines
from corpus_assets.export.format import ROOT
from corpus_assets.faults import MAX_FAULTS, UNREADABLE, unread
from resources.formats.codecs import open_gzip
from resources.ledger.ledger import FileRecord, Record
from resources.stage.partition import Partition
from resources.storage.interface import Storage

GZIP = ".jsonl.gz"
SUFFIXES = (".jsonl", GZIP)


def window_files(record: Record) -> list[FileRecord]:
    """Returns the files of a partition that hold windows."""
    return [file for file in record.files if file.path.startswith(f"{ROOT}/") and file.path.endswith(SUFFIXES)]


def window_faults(record: Record, storage: Storage, rule: Rule) -> list[str]:
    """Returns the first fault of each file's lines, in words."""
    tokens = Partition(storage, record, compared=False)
    faults: list[str] = []
    for file in window_files(record):
        try:
            found = _faults(tokens, file, rule)
        except UNREADABLE as error:
            found = [unread(error)]
        faults += [f"{file.path}: {fault}" for fault in found]
    return faults


def _faults(tokens: Partition, file: FileRecord, rule: Rule) -> list[str]:
    with tokens.open(file.path) as raw, open_gzip(raw) if file.path.endswith(GZIP) else raw as content:
        lines, faults = 0, list[str]()
        for line in checked_lines(content, rule):
            lines = line.number
            faults += [line.fault] if line.fault else []
    return [*faults[:MAX_FAULTS], *([f"{lines} lines, {file.rows} are recorded"] if lines != file.rows else [])]
