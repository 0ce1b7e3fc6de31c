"""How long documents are in bytes of UTF-8, in classes of powers of two."""

from corpus_assets.report.records import Built, records
from resources.documents.row_counts import added

_ASSETS = ("normalized_documents", "filtered_documents", "decontaminated_train")
_LENGTHS = "lengths"


def lengths(built: Built) -> dict[str, list[int]]:
    """Returns for each asset whose records have it how many documents are in each class.

    Entry 0 counts empty texts, entry k those of 2^(k-1) to 2^k - 1 bytes.
    """
    found = {}
    for asset in _ASSETS:
        counted = [record.statistics.get(_LENGTHS) for record in records(built, asset)]
        known = [one for one in counted if one is not None]
        if known and len(known) == len(counted):
            found[asset] = added(known)
    return found
