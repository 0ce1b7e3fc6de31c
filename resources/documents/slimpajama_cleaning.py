"""SlimPajama's cleaning: the form of a text that lengths and shingles are computed from.

Rule: docs/formats/slimpajama.md "Cleaning". Lower case, no ASCII punctuation, each run of whitespace one space, no
space at the ends. A stored document keeps its text.
"""

import string

_PUNCTUATION = string.punctuation.encode()


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
