"""The corpus of a process that goes on while people edit its configuration."""

from collections.abc import Iterable
from pathlib import Path

from corpus_assets.corpus.corpus import Corpus

Version = list[tuple[int, int] | None]


class Current:
    """Opens a corpus again when one of the files that give its configuration has changed.

    corpus: as it was opened last.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._version: Version | None = None  # The files may have changed since they were read: looked at again.

    def now(self) -> Corpus:
        """Returns the corpus as its configuration is now; `ConfigError` if that is wrong."""
        version = config_version(self.corpus.files)
        if version != self._version:
            opened = Corpus.open(self.corpus.file, self.corpus.changes)
            self._version = version if opened.files == self.corpus.files else None  # Others may have changed too.
            self.corpus = opened
        return self.corpus


def config_version(files: Iterable[Path]) -> Version:
    """Returns the time (ns) and size (bytes) of each file; None for one that is gone."""
    return [_stamp(file) for file in files]


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        stat = file.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size
