import io
from collections import defaultdict
from hashlib import sha256
from tempfile import TemporaryFile

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.dedup.documents.ranges import DIGEST_BYTES, by_digest
from corpus_assets.dedup.pairs.equal_texts import exact_pairs

MUCH = 1 << 30
# Digests that agree in their first 8 bytes, or in all but one, or are no digest anyone has seen.
DIGESTS = st.lists(
    st.builds(
        lambda head, tail, last: (head + tail)[:-1] + last,
        st.sampled_from([bytes(8), b"\xff" * 8, b"abcdefgh"]),
        st.sampled_from([bytes(24), b"\xff" * 24, b"z" * 24]),
        st.sampled_from([b"\x00", b"\x01", b"\xff"]),
    ),
    max_size=50,
)


def pairs(
    digests: NDArray[np.uint8], takes_part: NDArray[np.bool_], memory: int = MUCH, shards: int = 1
) -> list[list[int]]:
    """The pairs of those that take part, given in the order of their digests within each shard."""
    blocks = []
    for rows in np.array_split(np.arange(len(digests), dtype=np.uint32), shards):
        table, _ = by_digest(digests[rows], takes_part[rows], 1)
        blocks.append((table["digest"], table["row"] + rows[:1].sum(dtype=np.uint32)))
    found = exact_pairs(blocks, memory=memory, spill=io.BytesIO)
    return [edge for block in found for edge in block.tolist()]


def array(digests: list[bytes]) -> NDArray[np.uint8]:
    return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, DIGEST_BYTES)


@given(DIGESTS, st.data(), st.integers(0, 5000), st.integers(1, 4))
def test_a_star_per_digest_in_the_order_of_digests(
    digests: list[bytes], data: st.DataObject, memory: int, shards: int
) -> None:
    takes_part = data.draw(st.lists(st.booleans(), min_size=len(digests), max_size=len(digests)))
    members: dict[bytes, list[int]] = defaultdict(list)
    for document, digest in enumerate(digests):
        if takes_part[document]:
            members[digest].append(document)
    expected = [[docs[0], later] for _, docs in sorted(members.items()) for later in docs[1:]]
    assert pairs(array(digests), np.array(takes_part, dtype=np.bool_), memory, shards) == expected


def test_texts_through_files() -> None:
    texts = [str(number % 3000) for number in range(20_000)]
    digests = array([sha256(text.encode()).digest() for text in texts])
    everyone = np.arange(len(digests), dtype=np.uint64)
    blocks = exact_pairs([(digests, everyone)], memory=1 << 18, spill=TemporaryFile, dtype=np.uint64)
    found = np.concatenate(list(blocks))
    assert found.dtype == np.uint64
    assert (found[:, 1] % 3000 == found[:, 0]).all()
    assert len(found) == 17_000


def test_digests_that_are_a_column_of_a_larger_table() -> None:
    table = np.zeros(3, dtype=[("bytes", np.uint64), ("digest", np.uint8, (DIGEST_BYTES,))])
    table["digest"][1] = 7
    assert pairs(table["digest"], np.ones(3, dtype=np.bool_)) == [[0, 2]]
