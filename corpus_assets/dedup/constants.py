"""Numbers that plain code and compiled kernels share."""

NO_SHINGLE = 0xFFFFFFFF
"""Value of every slot of a signature without shingles, and the largest value of a slot."""

LARGEST = NO_SHINGLE - 1
"""Largest value of a slot that holds a shingle, in one-permutation hashing."""

MULTIPLIER = 0x9E3779B97F4A7C15
"""Odd, so that powers of it have inverses modulo 2^64."""

MIX = 0xD6E8FEB86659FD93
