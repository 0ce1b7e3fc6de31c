"""The scheme of a signature: everything except the text that it depends on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

CLEANING = "slimpajama-1"
"""Version of the cleaning whose output the shingles are cut from (resources/documents/slimpajama_cleaning.py)."""

Family = Literal["affine32", "legacy", "oph"]
Unit = Literal["char", "word"]


@dataclass(frozen=True)
class SignatureScheme:
    """Signatures of different schemes must never be compared.

    A shingle is `width` consecutive units of the cleaned text: code points, or words joined by one space.
    `affine32` and `legacy` are datasketch's schemes, value for value; `legacy`, the one of SlimPajama, is biased on
    large sets and kept for fidelity. `oph` is one-permutation hashing with optimal densification (Shrivastava 2017).
    """

    family: Family = "affine32"
    permutations: int = 128
    seed: int = 1
    width: int = 13
    unit: Unit = "char"
    cleaning: str = CLEANING


@dataclass(frozen=True)
class Sketched:
    """The scheme stored next to the arrays of a shard: that of its signatures, and the bits of its sketches."""

    scheme: SignatureScheme
    bits: int

    def described(self) -> dict[str, Any]:
        """Returns the scheme as plain values for JSON."""
        return {**asdict(self.scheme), "sketch": self.bits}

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> "Sketched":
        """Returns the scheme from values of `described`."""
        return cls(
            SignatureScheme(**{key: value for key, value in values.items() if key != "sketch"}), values["sketch"]
        )
