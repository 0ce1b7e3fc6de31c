"""Kinds of code points for the search for benchmark items."""

IGNORED = 0
"""Neither part of a word nor the end of one: controls, format characters, and punctuation if it is removed."""
BREAK = 1
"""Ends a word: whitespace, and punctuation if it separates."""
LETTER = 2
"""Part of a word: letters and numbers."""
MARK = 3
"""Part of the word it follows: combining marks."""
ALONE = 4
"""A separate word together with following marks, since its language has no spaces between words."""
SEVERAL = 8
"""Stands for several code points, each with its own kind."""

ANY_NUMBER = 0x110000
"""Code, beyond those of Unicode, that all digits stand for if numbers are equal; a run of it counts as one."""

KIND_SHIFT = 24
"""Bit of a folded code point above which its kind lies."""
