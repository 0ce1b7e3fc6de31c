"""What stages usually cost, for builds without records of their own; `python -m benchmarks.usual_costs` measures it."""

from collections.abc import Mapping
from typing import Final

PER_PARTITION: Final = 0.004
"""Seconds of a partition, whatever it holds."""

OF_OTHERS: Final = 10.0
"""Nanoseconds per byte of the corpus' text of a stage that is not in the table, such as one of a user's own."""

USUAL: Final[Mapping[str, float]] = {}
"""Nanoseconds of work per byte of the corpus' text, by the function that computes a stage."""

FIXED: Final[Mapping[str, float]] = {"tokenize.tokenizer:tokenizer": 4.0}
"""Seconds of a partition of stages that take as long for any corpus, since they read a sample of it."""
