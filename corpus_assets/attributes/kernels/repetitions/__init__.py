"""Repetitions in a text as kernels: equal stretches, where units may be, the units, and the matches."""
