import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.packing.span_corruption import span_corruption_lengths
from tests.golden import shared


def counted_up(inputs: int, density: float, mean_span: float) -> tuple[int, int]:
    """Lengths as T5's helper finds them: one id more as long as the inputs suffice."""
    ids = inputs
    while corrupted(ids + 1, density, mean_span) <= inputs:
        ids += 1
    noise, found = round(ids * density), corrupted(ids, density, mean_span)
    targets = noise + round(noise / mean_span) + 1
    shorter = density == 0.5 and targets > found
    return ids - shorter, targets - shorter


def corrupted(ids: int, density: float, mean_span: float) -> int:
    noise = round(ids * density)
    return ids - noise + round(noise / mean_span) + 1


def test_lengths_equal_the_reference() -> None:
    cases = json.loads(shared("golden", "ragged", "span_corruption_lengths.json").read_text())
    assert cases
    for case in cases:
        given_ = case["input_length"], case["mlm_probability"], case["mean_noise_span_length"]
        assert span_corruption_lengths(*given_) == (case["before_mask_input_length"], case["target_length"])


@given(st.integers(1, 2000), st.just(0.5) | st.floats(0.01, 0.9), st.just(1.0) | st.floats(1, 20))
def test_lengths_are_those_of_counting_up(inputs: int, density: float, mean_span: float) -> None:
    assert span_corruption_lengths(inputs, density, mean_span) == counted_up(inputs, density, mean_span)


def test_texts_are_no_shorter_than_inputs() -> None:
    assert span_corruption_lengths(512, 0.15, 1) == (512, 155)
    assert span_corruption_lengths(3, 0.15, 3) == (3, 1)


def test_half_of_noise_makes_targets_as_long_as_inputs() -> None:
    assert span_corruption_lengths(512, 0.5, 3) == (766, 512)


@pytest.mark.parametrize("wrong", [(0, 0.15, 3), (512, 0, 3), (512, 1, 3), (512, 0.15, 0.5)])
def test_values_out_of_range_are_refused(wrong: tuple[int, float, float]) -> None:
    with pytest.raises(ValueError, match="valid: 1 or more, 0 to 1, 1 or more"):
        span_corruption_lengths(*wrong)
