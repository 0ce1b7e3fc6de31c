"""Small indexed datasets, and the rules of megatron-core for their indices in plain Python."""

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

Rows = list[list[int]]


def write_indexed(prefix: Path, lengths: Sequence[int]) -> None:
    """Writes `.bin` and `.idx` with documents of these lengths, whose ids count up."""
    prefix.parent.mkdir(parents=True, exist_ok=True)
    sizes = np.array(lengths, np.int64)
    prefix.with_name(f"{prefix.name}.bin").write_bytes(np.arange(sizes.sum()).astype("<u2").tobytes())
    header = b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, 8, len(sizes), len(sizes) + 1)
    begins = (np.cumsum(sizes) - sizes) * 2
    parts = (sizes.astype("<i4"), begins.astype("<i8"), np.arange(len(sizes) + 1, dtype="<i8"))
    prefix.with_name(f"{prefix.name}.idx").write_bytes(header + b"".join(part.tobytes() for part in parts))


def starts(lengths: Sequence[int], documents: Sequence[int], length: int, samples: int) -> Rows:
    """Where samples begin, by the loop of `build_sample_idx`: documents are used up sample by sample."""
    place, offset, found = 0, 0, [[0, 0]]
    while len(found) <= samples:
        remaining = length + 1
        while remaining:
            there = lengths[documents[place]] - offset
            remaining -= there
            if remaining <= 0:
                offset += remaining + there - 1
                remaining = 0
            else:
                place, offset = place + 1, 0
        found.append([place, offset])
    return found


def orders(documents: range, epochs: int, alone: int | None, samples: int, seed: int) -> tuple[list[int], list[int]]:
    """The document index and the shuffle index, by `_build_document_index` and `_build_shuffle_index`."""
    random = np.random.RandomState(seed)
    groups = [epochs] if alone is None else [epochs - 1, 1]
    shuffled = [np.array([*documents] * count, np.int32) for count in groups]
    drawn = [np.arange(samples)] if alone is None else [np.arange(alone), np.arange(alone, samples)]
    for part in shuffled:
        random.shuffle(part)
    for numbers in drawn:
        random.shuffle(numbers)
    return np.concatenate(shuffled).tolist(), np.concatenate(drawn).tolist()


def draws(weights: Sequence[float], size: int) -> tuple[list[int], list[int]]:
    """Prefix and sample of each sample of a blend, by `build_blending_indices`."""
    counts, datasets, samples = [0] * len(weights), list[int](), list[int]()
    for number in range(size):
        behind = [weight * max(number, 1.0) - count for weight, count in zip(weights, counts, strict=True)]
        chosen = behind.index(max(behind))
        datasets.append(chosen)
        samples.append(counts[chosen])
        counts[chosen] += 1
    return datasets, samples
