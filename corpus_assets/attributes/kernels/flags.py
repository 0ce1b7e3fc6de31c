"""Bits of the table of character properties, and the kinds of other tables."""

from resources.kernels.jit import read_only

CODES = read_only("uint32")
"""The numba type of the code points of a text."""

SPACE = 1
"""Whitespace of `str.split`, `str.strip` and `\\s` of `re`."""
ALPHABETIC = 2
"""`str.isalpha`."""
ALPHANUMERIC = 4
"""`str.isalnum`."""
DIGIT = 8
"""`\\d` of `re`: decimal digits of any script."""
WORD = 16
"""`\\w` of the library `regex`."""
UNICODE_SPACE = 32
"""`\\s` of the library `regex`: without the four ASCII separators U+001C to U+001F."""
PICTURE_OR_PUNCTUATION = 64
"""POSIX punctuation of `regex`, its whitespace, and the pictures of `not_alphanum_paragraph_v1`."""

LETTER, NUMBER, WHITESPACE, ALONE = 1, 2, 3, 4
"""Kinds of code points for OLMo's pre-tokenizer; 0 for all others."""
