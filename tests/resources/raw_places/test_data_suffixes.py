"""The data suffix of a path is the longest known one at its end, whatever stands before it."""

from hypothesis import given
from hypothesis import strategies as st

from resources.raw_places.data_suffixes import SUFFIXES, data_suffix

PIECES = [*SUFFIXES, ".gz", ".json", "json", "jsonl", "warc", ".", "a", "A/", "\u0130", ".JSONL", ".Warc.Gz"]


@given(st.lists(st.sampled_from(PIECES), max_size=5).map("".join))
def test_the_longest_known_suffix_is_found(path: str) -> None:
    ends = sorted((suffix for suffix in SUFFIXES if path.lower().endswith(suffix)), key=len)
    assert data_suffix(path) == (path[len(path) - len(ends[-1]) :] if ends else None)
