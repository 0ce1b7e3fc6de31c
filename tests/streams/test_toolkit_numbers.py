"""Numbers as the mixer of the Dolma toolkit 1.2.1 reads them."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.streams.toolkit_numbers import scores_as_read, toolkit_float
from resources.formats.attributes import Counts


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("0.9512194991111755", 0.9512194991111756),  # as the toolkit read it, and those below
        ("0.9333333373069763", 0.9333333373069764),
        ("0.9130434989929199", 0.91304349899292),
        ("0.9682539701461792", 0.9682539701461792),
        ("0.20000000298023224", 0.20000000298023224),
        ("0.25", 0.25),
        ("-1.5e3", -1500.0),
        ("1E+2", 100.0),
        ("1e300", 1e300),
        ("0.0", 0.0),
        ("5e-324", 5e-324),
        ("1e-400", 0.0),
        ("0e999", 0.0),
    ],
)
def test_by_hand(written: str, read: float) -> None:
    assert toolkit_float(written) == read


def test_digits_beyond_64_bits_are_left_out() -> None:
    assert toolkit_float("18446744073709551615.9") == 18446744073709551615.0
    assert toolkit_float("123456789012345678901234567890") == 12345678901234567890 * 1e10
    assert toolkit_float("0.1234567890123456789999999") == 1234567890123456789 / 1e19


@pytest.mark.parametrize("written", ["1e309", "2e308", "1e9999999999", "9" * 400 + ".0"])
def test_a_number_too_large_is_an_error(written: str) -> None:
    with pytest.raises(OverflowError):
        toolkit_float(written)


@given(st.integers(-(10**15), 10**15), st.integers(0, 15))
def test_15_digits_are_read_exactly(digits: int, places: int) -> None:
    written = f"{digits}e-{places}"
    assert toolkit_float(written) == float(written)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_others_are_off_by_rounding_only(number: float) -> None:
    try:
        found = toolkit_float(repr(number))
    except OverflowError:
        assert abs(number) > 1.79e308
    else:
        assert found == pytest.approx(number, rel=1e-15, abs=5e-324)


def test_scores_that_are_no_long_fraction_stay() -> None:
    counts = Counts(msgspec.json.encode([(0, 1, 2.0)]), 1, 2.0)
    found = scores_as_read({"a": [(0, 3, 1), (3, 9, 0.9512194991111755), (9, 10, 0.95122)], "b": counts})
    assert found == {"a": [(0, 3, 1), (3, 9, 0.9512194991111756), (9, 10, 0.95122)], "b": counts}
    assert type(found["a"][0][2]) is int
