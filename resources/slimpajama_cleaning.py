"""SlimPajama's cleaning: the form of a text from which its length and its shingles are taken.

Rule: docs/formats/slimpajama.md "Cleaning". Lower case, no ASCII punctuation, each run of whitespace one space, no
space at the ends. A stored document keeps its text.
"""

import string

_PUNCTUATION = string.punctuation.encode()
_FIRST_PREFIX = 2
_PREFIX_GROWTH = 8


def clean(text: str) -> str:
    """Returns `text` in lower case, without ASCII punctuation, each run of whitespace one U+0020, none at the ends.

    Punctuation is the 32 characters of `string.punctuation`. Lower case follows Unicode and may lengthen the
    text (U+0130). Zero-width characters, NUL, punctuation outside ASCII and lone surrogates stay. It never fails.
    """
    # UTF-8 has no ASCII byte inside a longer character, so deleting bytes is exact and far faster than
    # str.translate; str.split() splits on exactly what the regular expression \s matches.
    kept = text.lower().encode("utf-8", "surrogatepass").translate(None, _PUNCTUATION)
    return " ".join(kept.decode("utf-8", "surrogatepass").split())


def cleaned_length(text: str) -> int:
    """Returns the length of `clean(text)` in code points."""
    return len(clean(text))


def is_short(text: str, threshold: int) -> bool:
    """Returns whether `clean(text)` has fewer than `threshold` code points.

    Cleans a long text only as far as needed: the cleaned length of a prefix is never more than that of the whole,
    since each code point becomes the same number of code points in lower case, whatever stands around it.
    """
    prefix = max(_FIRST_PREFIX * threshold, 1)
    while prefix < len(text):
        if cleaned_length(text[:prefix]) >= threshold:
            return False
        prefix *= _PREFIX_GROWTH
    return cleaned_length(text) < threshold
