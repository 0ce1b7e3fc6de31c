"""Warnings about a store: another owner, other builders, damaged records."""

from collections.abc import Iterator

from corpus_assets.corpus.corpus import Corpus
from resources.errors import StorageError
from resources.ledger.ledger import Ledger
from resources.storage.ownership import require_owner

_SHOWN = 3


def store_notes(corpus: Corpus, ledger: Ledger) -> Iterator[str]:
    """Yields notes on the store. ledger: that has read the records of all assets that are looked at."""
    try:
        require_owner(corpus.storage, corpus.claimant)
    except StorageError as error:
        yield str(error)
    for words in corpus.storage.at_work():
        yield f"{words} is building on this store: what is shown may change"
    damaged = sorted(ledger.unreadable.items())
    for path, why in damaged[:_SHOWN]:
        yield f"{path}: damaged record: {why}; its partition counts as missing, and the next build makes it again"
    if len(damaged) > _SHOWN:
        yield f"and {len(damaged) - _SHOWN:,} more damaged records: `corpus verify` names them"
