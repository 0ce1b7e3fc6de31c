"""The bitmap of a list of documents gives what a search in the list gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.dedup.documents.places import Places


@given(st.integers(1, 300), st.data())
def test_places_are_those_of_a_search(total: int, data: st.DataObject) -> None:
    numbers = st.integers(0, total - 1)
    chosen = sorted(data.draw(st.sets(numbers)))
    asked = data.draw(st.lists(numbers))
    documents = np.array(chosen, dtype=np.uint32)
    found = Places(documents, total).of(np.array(asked, dtype=np.uint32))
    assert found.tolist() == np.searchsorted(documents, np.array(asked, dtype=np.uint32)).tolist()


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
@pytest.mark.parametrize("total", [1, 63, 64, 65, 128])
def test_every_document_has_its_own_place(total: int, dtype: type[np.unsignedinteger]) -> None:
    every = np.arange(total, dtype=dtype)
    assert Places(every, total).of(every).tolist() == list(range(total))


def test_an_empty_list_has_no_places() -> None:
    nothing = np.empty(0, dtype=np.uint32)
    assert Places(nothing, 0).of(nothing).tolist() == []
