"""Files of the store that no commit record names: remains of a killed build or `corpus clean`."""

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.diff.history import FOLDER as HISTORY
from resources.ledger.ledger import FOLDER, Ledger


def unowned_files(corpus: Corpus, ledger: Ledger) -> list[str]:
    """Returns the files that no record names, in the folders at the top of the store that records do name.

    Nothing is unowned while a record is damaged: its files may be its own. Hidden files are ignored, and the history of
    builds belongs to the store. Raw files are never in the store: the configuration is refused if their folder holds
    the store or lies in it.
    """
    present = [entry.path for entry in corpus.storage.entries("")]
    owned = {
        file.path for asset in ledger.assets() for record in ledger.records(asset).values() for file in record.files
    }
    if ledger.unreadable:
        return []
    tops = {path.partition("/")[0] for path in owned if "/" in path} - {FOLDER, HISTORY}
    return sorted(
        path
        for path in present
        if path not in owned
        and path.partition("/")[0] in tops
        and not any(part.startswith(".") for part in path.split("/"))
    )
