"""A corpus compared with its own past: with a build whose numbers are kept."""

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.diff.comparison import Difference, compared
from corpus_assets.diff.history import before, entries, since
from corpus_assets.diff.opened import of_corpus
from resources.errors import ConfigError

ONLY_NUMBERS = "of an earlier build only numbers are kept"


def with_its_past(corpus: Corpus, time: str | None) -> Difference:
    """Returns what differs from the last build up to a time; without one, from the last that has other contents.

    `ConfigError` if no build is kept that could be compared.
    """
    storage, present = corpus.storage, of_corpus(corpus)
    if time is not None:
        entry, numbers = since(storage, time)
    elif (found := before(storage, present.numbers)) is not None:
        entry, numbers = found
    else:
        kept = entries(storage)
        when = f"the build of {kept[0].shown}" if kept else "builds began to keep their numbers"
        raise ConfigError(f"nothing changed since {when}; compare with another store or a report: corpus diff OLD")
    result = compared(numbers, present.numbers, (f"the build of {entry.shown}", present.what))
    result.no_documents = ONLY_NUMBERS
    return result
