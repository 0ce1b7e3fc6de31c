import numpy as np
import pytest
from datasketch import MinHashLSH
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from corpus_assets.config.selection.band_layout import band_layout
from corpus_assets.dedup.signatures import bands as bands_module
from corpus_assets.dedup.signatures.bands import NO_KEY, band_keys, reference_band_key


@pytest.mark.parametrize(
    ("threshold", "layout"),
    [(0.5, (25, 5)), (0.7, (14, 9)), (0.75, (11, 11)), (0.8, (9, 13)), (0.85, (8, 16)), (0.9, (5, 25))],
)
def test_layouts_of_the_specification(threshold: float, layout: tuple[int, int]) -> None:
    assert band_layout(threshold, 128) == layout


@pytest.mark.parametrize("permutations", [64, 100])
@pytest.mark.parametrize("threshold", [0.2, 0.35, 0.6, 0.8, 0.87])
def test_layout_equals_datasketch(threshold: float, permutations: int) -> None:
    index = MinHashLSH(threshold=threshold, num_perm=permutations)
    assert band_layout(threshold, permutations) == (index.b, index.r)


def test_layout_refuses_what_is_no_similarity() -> None:
    with pytest.raises(ValueError, match=r"threshold is 1\.5; valid: 0 to 1"):
        band_layout(1.5, 128)


def test_reference_key_is_big_endian_64_bit() -> None:
    signature = np.arange(1, 27, dtype=np.uint32)
    key = reference_band_key(signature, 1, 13)
    assert len(key) == 104
    assert key == b"".join(value.to_bytes(8, "big") for value in range(14, 27))


SIGNATURES = hnp.arrays(np.uint32, st.tuples(st.integers(0, 12), st.just(6)), elements=st.integers(0, 2))


@given(SIGNATURES)
def test_keys_are_equal_just_where_the_bands_are(signatures: NDArray[np.uint32]) -> None:
    keys = band_keys(signatures, 3, 2)
    assert keys.shape == (3, len(signatures))
    assert keys.dtype == np.uint64
    for band in range(3):
        bands = signatures[:, 2 * band : 2 * band + 2]
        same = (bands[:, None] == bands[None]).all(axis=2)
        assert (same == (keys[band][:, None] == keys[band][None])).all()


@given(SIGNATURES, st.data())
@settings(max_examples=30)
def test_rows_that_take_no_part_have_no_key(signatures: NDArray[np.uint32], data: st.DataObject) -> None:
    takes_part = data.draw(hnp.arrays(np.bool_, len(signatures)))
    keys = band_keys(signatures, 2, 3, takes_part)
    assert (keys[:, ~takes_part] == NO_KEY).all()
    assert (keys[:, takes_part] == band_keys(signatures, 2, 3)[:, takes_part]).all()
    assert (keys[:, takes_part] != NO_KEY).all()


def test_a_key_depends_on_the_order_of_values_and_not_on_the_band() -> None:
    keys = band_keys(np.array([[1, 2, 1, 2, 2, 1]], dtype=np.uint32), 3, 2)[:, 0].tolist()
    assert keys[0] == keys[1] != keys[2]


def test_keys_do_not_depend_on_how_rows_are_cut() -> None:
    signatures = np.random.default_rng(1).integers(0, 1 << 32, (5000, 32), dtype=np.uint32)
    cut = [band_keys(rows, 5, 6) for rows in np.split(signatures, [1, 1024, 1025, 4000])]
    assert np.array_equal(np.concatenate(cut, axis=1), band_keys(signatures, 5, 6))


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 6, 13])
def test_close_values_spread_over_all_bits_and_never_collide(rows: int) -> None:
    count = 20_000
    signatures = np.zeros((count, rows), dtype=np.uint32)
    signatures[:, -1] = np.arange(count)
    for values in (signatures, signatures[:, ::-1], signatures << np.uint32(16)):
        keys = band_keys(values, 1, rows)[0]
        assert len(np.unique(keys)) == count
        ones = np.unpackbits(keys.view(np.uint8).reshape(count, 8), axis=1).mean(axis=0)
        assert (abs(ones - 0.5) < 6 * 0.5 / count**0.5).all()


def test_a_digest_of_zero_is_a_key_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bands_module, "_digests", lambda values: np.zeros(values.shape[::2], dtype=np.uint64))
    assert band_keys(np.zeros((2, 4), dtype=np.uint32), 2, 2).tolist() == [[1, 1], [1, 1]]


def test_more_bands_than_the_signature_holds() -> None:
    with pytest.raises(ValueError, match="10 bands of 13 rows need 130 values, a signature has 128"):
        band_keys(np.zeros((1, 128), dtype=np.uint32), 10, 13)
