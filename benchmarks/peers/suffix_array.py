"""Runs in an environment that has pydivsufsort: repeated substrings of documents by a suffix array of all their bytes.

Arguments: the length of a window in bytes; the file to write, int64 (spans, 3): number of a document, the first byte
of a span in it, and the one after its last; then files of documents (`jsonl.gz`) in the order of the corpus.
"""

import gzip
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def main() -> None:
    pydivsufsort = import_module("pydivsufsort")
    length, out = int(sys.argv[1]), Path(sys.argv[2])
    texts = []
    for name in sys.argv[3:]:
        with gzip.open(name, "rb") as lines:
            texts += [json.loads(line)["text"].encode("utf-8", "surrogatepass") for line in lines]
    ends = np.cumsum([0, *map(len, texts)])
    text = np.frombuffer(bytearray().join(texts), dtype=np.uint8)
    del texts
    suffixes = pydivsufsort.divsufsort(text)
    common = pydivsufsort.kasai(text, suffixes)
    np.save(out, spans(suffixes, common, ends, length))


def spans(suffixes: NDArray[Any], common: NDArray[Any], ends: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """Unions of windows that stand earlier: in an earlier document, or in the same one without an overlap.

    common: how many bytes each suffix shares with the next one in `suffixes`.
    """
    groups = np.concatenate([[0], np.cumsum(common[: len(suffixes) - 1] < length)])
    after = ends[np.searchsorted(ends, suffixes, side="right")]
    whole = suffixes + length <= after
    places, groups = suffixes[whole].astype(np.int64), groups[whole]
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]])) if len(groups) else groups
    firsts = (
        np.repeat(np.minimum.reduceat(places, starts), np.diff(np.append(starts, len(places))))
        if len(starts)
        else places
    )
    apart = (firsts <= places - length) | (firsts < ends[np.searchsorted(ends, places, side="right") - 1])
    windows = np.sort(places[apart])
    documents = np.searchsorted(ends, windows, side="right") - 1
    begins = np.flatnonzero(
        np.concatenate([[True], (windows[1:] > windows[:-1] + length) | (documents[1:] != documents[:-1])])
    )
    if not len(windows):
        return np.empty((0, 3), dtype=np.int64)
    lasts = np.append(begins[1:], len(windows)) - 1
    of = documents[begins]
    return np.stack([of, windows[begins] - ends[of], windows[lasts] + length - ends[of]], axis=1)


if __name__ == "__main__":
    main()
