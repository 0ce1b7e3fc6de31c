"""Word_Break classes of UAX #29 as the table of code points has them."""

OTHER, CR, LF, NEWLINE, EXTEND, FORMAT, ZWJ = 0, 1, 2, 3, 4, 5, 6
HEBREW_LETTER, ALETTER, KATAKANA, NUMERIC, EXTEND_NUM_LET, SPACES = 7, 8, 9, 10, 11, 12
SINGLE_QUOTE, DOUBLE_QUOTE, MID_NUM_LET, MID_LETTER, MID_NUM, REGIONAL_INDICATOR = 13, 14, 15, 16, 17, 18
CLASS, PICTOGRAPHIC = 31, 32
"""A value of the table is a class, and a bit for Extended_Pictographic."""
