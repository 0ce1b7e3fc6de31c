"""The most frequent boilerplate of a shard, for people."""

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 20
_SHOWN = 160


class Listed:
    """The spans that stand in the most documents, of those whose first copies are in the shard."""

    def __init__(self) -> None:
        self._held: list[tuple[int, int, int, dict[str, Any]]] = []
        self._added = 0

    def add(self, text: bytes, identifier: str, spans: NDArray[np.int64], unit: str) -> None:
        """Adds the boilerplate of one document: spans of units (n, 3), with the number of documents, or 1."""
        for start, end, documents in spans.tolist():
            self._added += 1
            # Its length, then that it comes first, decides between equal numbers of documents.
            place = (documents, end - start, -self._added)
            if documents < 2 or (len(self._held) == MOST and place <= self._held[0][:3]):
                continue
            shown = _shown(text, start, end, unit)
            entry = (*place, {"documents": documents, "length": end - start, "id": identifier, "text": shown})
            (heapq.heapreplace if len(self._held) == MOST else heapq.heappush)(self._held, entry)

    def rows(self) -> list[dict[str, Any]]:
        """Returns the spans, those in the most documents first."""
        return [entry for *_, entry in sorted(self._held, reverse=True)]


def _shown(text: bytes, start: int, end: int, unit: str) -> str:
    """Returns the beginning of a span for a person."""
    from corpus_assets.attributes.substrings.units import in_code_points

    places = in_code_points(text, np.array([[start, end]]), unit, whole_words=False)
    string = text.decode("utf-8", "surrogatepass")
    return "".join(string[first:last][:_SHOWN] for first, last in places.tolist())
