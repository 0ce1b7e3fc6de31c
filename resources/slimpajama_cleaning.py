"""SlimPajama's cleaning: what a document looks like when its length and its shingles are taken.

Rule: docs/formats/slimpajama.md "Cleaning". Lower case, no ASCII punctuation, runs of whitespace as one space, none
at the ends. Nothing here changes a stored document.
"""

import string

_PUNCTUATION = string.punctuation.encode()
_FIRST_PREFIX = 2
_PREFIX_GROWTH = 8


def clean(text: str) -> str:
    """`text` lower-cased, without ASCII punctuation, each run of whitespace one U+0020, none at the ends.

    Punctuation is the 32 characters of `string.punctuation`. Lower-casing is Unicode's and may lengthen the
    text (U+0130). Zero-width characters, NUL and punctuation outside ASCII stay. Total: lone surrogates pass
    through.
    """
    # UTF-8 has no ASCII byte inside a longer character, so deleting bytes is exact and far faster than
    # str.translate; str.split() splits on exactly what the regular expression \s matches.
    kept = text.lower().encode("utf-8", "surrogatepass").translate(None, _PUNCTUATION)
    return " ".join(kept.decode("utf-8", "surrogatepass").split())


def cleaned_length(text: str) -> int:
    """Length of `clean(text)` in code points."""
    return len(clean(text))


def is_short(text: str, threshold: int) -> bool:
    """Whether `clean(text)` has fewer than `threshold` code points; just `threshold` is not short.

    Reads no more of a long text than it takes to be sure: the cleaned length of a prefix never exceeds that
    of the whole, since lower-casing maps each code point to the same number of code points in any context.
    """
    prefix = max(_FIRST_PREFIX * threshold, 1)
    while prefix < len(text):
        if cleaned_length(text[:prefix]) >= threshold:
            return False
        prefix *= _PREFIX_GROWTH
    return cleaned_length(text) < threshold
