"""Extractors in a process of their own, with a limit on the CPU time of each page."""

import json
import sys

from corpus_assets.raw.rows.faults import RowError
from resources.errors import StorageError
from resources.processes.limited_process import LimitedProcess, OverLimitError, TooSlowError
from resources.processes.limited_work import Limits

_SERVER = "corpus_assets.raw.web.extractor_server"
_MEMORY = 1 << 46
"""More than there is: pages have a limit of characters, and time is what is limited here."""


class LimitedExtractor:
    """Makes the text of a page as `how` says, a section of values for `Extraction`; see `extract`."""

    def __init__(self, seconds: float, how: dict[str, object]) -> None:
        start = json.dumps({"how": how, "folders": sys.path}).encode()
        self._process = LimitedProcess(_SERVER, start, Limits(cpu_seconds=seconds, memory=_MEMORY))

    def extract(self, html: str) -> str:
        """Returns the text of a page; `RowError` says if it takes too long, or what the extractor raised.

        `StorageError` if the machine failed.
        """
        try:
            answer = json.loads(self._process.ask(json.dumps(html).encode()))
        except TooSlowError as fault:
            raise RowError("extraction_too_long", f"{fault} (`html.seconds`)") from None
        except OverLimitError as fault:
            raise RowError("extraction_failed", str(fault)) from None
        if "machine" in answer:
            raise StorageError(answer["machine"])
        if "fault" in answer:
            raise RowError("extraction_failed", answer["fault"])
        return str(answer["text"])
