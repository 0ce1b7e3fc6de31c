"""Ids of kept documents are gathered from the files of their shards, and found again by document."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.dedup.clusters.kept_ids import KeptIds, ids_of
from corpus_assets.dedup.documents.numbering import Numbering
from resources.hashing import keyed_hash

IDS = st.lists(st.lists(st.text(max_size=5).map(str.encode), max_size=6), min_size=1, max_size=4)


@given(IDS, st.data())
def test_ids_of_chosen_documents(shards: list[list[bytes]], data: st.DataObject) -> None:
    numbering = Numbering.of((f"a--{place}", len(ids)) for place, ids in enumerate(shards))
    every = [name for ids in shards for name in ids]
    chosen = sorted(data.draw(st.sets(st.integers(0, len(every) - 1)))) if every else []

    def tables(place: int) -> tuple[np.ndarray, np.ndarray]:
        ends = np.cumsum([len(name) for name in shards[place]], dtype=np.uint64)
        return ends, np.frombuffer(b"".join(shards[place]), dtype=np.uint8)

    found = list(ids_of(numbering, np.array(chosen, dtype=np.uint32), tables))
    assert [number for documents, _, _ in found for number in documents.tolist()] == chosen
    assert [bytes(name) for _, ids, _ in found for name in ids] == [every[number] for number in chosen]
    hashes = [hashed for _, _, block in found for hashed in block.tolist()]
    assert hashes == [keyed_hash("id", 0, every[number]) for number in chosen]


def test_a_kept_document_is_found_by_its_number() -> None:
    kept = KeptIds(
        np.array([3, 8], dtype=np.uint32), np.array([1, 4], dtype=np.uint64), np.frombuffer(b"abcd", dtype=np.uint8)
    )
    assert (kept.id_of(3), kept.id_of(8)) == ("a", "bcd")
    with pytest.raises(KeyError):
        kept.id_of(5)
