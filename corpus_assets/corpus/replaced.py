"""Files of replaced records: collected while partitions are committed, and removed once all are."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from corpus_assets.corpus.corpus import Corpus
from resources.errors import CorpusError
from resources.ledger.obsolete import Key
from resources.ledger.records import Record
from resources.stage.jobs.job import Outcome


class Replaced:
    """The files that replaced records named and their successors do not, by the partition of the record."""

    def __init__(self) -> None:
        self._paths: dict[Key, set[str]] = {}

    @property
    def paths(self) -> Mapping[Key, set[str]]:
        """Paths by asset and key."""
        return self._paths

    def note(self, outcome: Outcome, before: Record | None) -> None:
        """Notes a commit. before: the record that the partition had."""
        if outcome.record is None:
            return
        key = (outcome.asset, outcome.partition)
        replaced = self._paths.pop(key, set()) | (_named(before) if before else set())
        if obsolete := replaced - _named(outcome.record):
            self._paths[key] = obsolete
        for removed in outcome.gave_way:
            self._paths.setdefault((removed.asset, removed.partition), set()).update(_named(removed))


def _named(record: Record) -> set[str]:
    return {file.path for file in record.files}


@contextmanager
def replaced_files(corpus: Corpus) -> Iterator[Replaced]:
    """Yields a collector for the files of replaced records; at the end removes those that no record names."""
    replaced = Replaced()
    try:
        yield replaced
    except BaseException:
        with suppress(CorpusError, OSError):  # The first error is the one to report.
            corpus.remove_obsolete(replaced.paths)
        raise
    corpus.remove_obsolete(replaced.paths)
