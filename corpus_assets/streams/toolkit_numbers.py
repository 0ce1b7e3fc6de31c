"""Numbers of JSON as the mixer of the Dolma toolkit reads them (docs/formats/dolma.md "Mixer")."""

import math
from collections.abc import Mapping, Sequence

from resources.formats.attributes import Counts, Span

_MOST = (1 << 64) - 1
_TENS = [float(f"1e{power}") for power in range(309)]
_EXACT = 5
"""Digits after the point with which a score of taggers is exact however it is read."""


def toolkit_float(written: str) -> float:
    """Returns a number of JSON as the toolkit reads it; OverflowError if it is too large for a double.

    Its digits make an integer of up to 64 bits, further ones are left out; the integer is rounded to a double, which is
    then multiplied with, or divided by, a power of ten. So it is rounded twice, and the last bit of a number of more
    than 15 digits may be another one.
    """
    mantissa, _, exponent = written.lower().removeprefix("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits, left_out = _leading(0, whole)
    power = left_out + int(float(exponent or 0))
    digits, left_out = _leading(digits, fraction)
    found = _scaled(float(digits), power - len(fraction) + left_out)
    return -found if written.startswith("-") else found


def _leading(before: int, digits: str) -> tuple[int, int]:
    """Returns an integer with those digits after it that leave it within 64 bits, and how many are left out."""
    for place, digit in enumerate(digits):
        longer = before * 10 + int(digit)
        if longer > _MOST:
            return before, len(digits) - place
        before = longer
    return before, 0


def _scaled(number: float, power: int) -> float:
    while number and power <= -len(_TENS):
        number /= _TENS[-1]
        power += len(_TENS) - 1
    if not number or power < 0:
        return number / _TENS[-power] if number else number
    found = number * _TENS[power] if power < len(_TENS) else math.inf
    if found == math.inf:
        raise OverflowError("the number is too large for a double")
    return found


def scores_as_read(attributes: Mapping[str, Sequence[Span]]) -> dict[str, Sequence[Span]]:
    """Returns attributes with their scores as the toolkit reads them from a file."""
    return {key: spans if type(spans) is Counts else list(map(_as_read, spans)) for key, spans in attributes.items()}


def _as_read(span: Span) -> Span:
    start, end, score = span
    if type(score) is not float or round(score, _EXACT) == score:
        return span
    return start, end, toolkit_float(repr(score))
