"""`python -m corpus_assets.raw.web.extractor_server`: makes texts of pages for `limited.py`."""

import json
import signal
import sys

from corpus_assets.raw.web.extractors import Extraction, in_words, unlimited
from corpus_assets.raw.web.libraries import PAGE
from resources.errors import StorageError, raise_machine_fault
from resources.processes.limited_work import Answer, serve


def begin(line: bytes) -> tuple[bytes, Answer]:
    """Loads the extractors that the first request names, and says how pages are answered."""
    signal.setitimer(signal.ITIMER_PROF, 0)  # The limit is for pages; libraries load for seconds.
    start = json.loads(line)
    sys.path[:] = start["folders"]
    how = Extraction(**{**start["how"], "extractors": tuple(start["how"]["extractors"])})
    extract = unlimited(how)

    def answer(line: bytes) -> bytes:
        try:
            return json.dumps({"text": extract(json.loads(line))}).encode()
        except Exception as fault:  # the libraries raise almost anything over broken pages
            return json.dumps(_failed(fault)).encode()

    return b"{}", answer


def _failed(fault: Exception) -> dict[str, str]:
    try:
        raise_machine_fault(PAGE, fault)
    except StorageError as error:
        fault = error
    return {"machine": str(fault)} if isinstance(fault, StorageError) else {"fault": in_words(fault)}


if __name__ == "__main__":
    serve(begin)
