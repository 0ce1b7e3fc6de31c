"""The column of an MDS dataset that holds ids."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from corpus_assets.token_files.mds_index import Shard
from corpus_assets.token_files.pieces import How, TokenFile

_ARRAY: Final = "ndarray"
_INTEGERS: Final = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")


@dataclass(frozen=True)
class Column:
    """Where a sample holds its ids.

    number: of the column. sizes: as in the index. dtype: of the ids. shaped: a shape stands before them.
    """

    number: int
    sizes: tuple[int | None, ...]
    dtype: np.dtype[Any]
    shaped: bool

    @classmethod
    def of(cls, index: TokenFile, shard: Shard, how: How) -> "Column":
        """Returns the column that the options name; `BadFileError` if the shard has none that holds ids."""
        where, wanted, names = shard.raw_data.basename, how.section.column, shard.column_names
        if shard.format != "mds":
            raise index.bad(f"{where} has format {shard.format!r}; valid: mds")
        if not len(names) == len(shard.column_encodings) == len(shard.column_sizes):
            raise index.bad(f"{where} has names, encodings and sizes of different numbers of columns")
        if any(size is not None and size < 0 for size in shard.column_sizes):
            raise index.bad(f"{where} has column_sizes {shard.column_sizes}; valid: 0 or more")
        if wanted not in names:
            raise index.bad(f"{where} has no column {wanted!r} (`column`); it has {', '.join(names) or 'none'}")
        number = names.index(wanted)
        kind, _, rest = shard.column_encodings[number].partition(":")
        type_name, _, fixed = rest.partition(":")
        if kind == "bytes":
            if how.section.id_type is None:
                raise index.bad(f"{where} holds {wanted!r} as bytes; `id_type` has to say of which type the ids are")
            dtype, shaped = np.dtype(how.section.id_type), False
        elif kind == _ARRAY and type_name in _INTEGERS and (not fixed or fixed.isdecimal()):
            dtype, shaped = np.dtype(type_name), not fixed
        else:
            raise index.bad(
                f"{where} encodes {wanted!r} as {shard.column_encodings[number]!r}; valid: bytes, ndarray:TYPE, "
                "ndarray:TYPE:LENGTH with a type of integers"
            )
        return cls(number, tuple(shard.column_sizes), dtype.newbyteorder("<"), shaped)

    def most_bytes(self, ids: int) -> int:
        """Returns how many bytes a sample may have whose ids are at most so many, with other columns beside them."""
        return (ids * self.dtype.itemsize + (1 << 20)) * len(self.sizes)

    def ids(self, file: TokenFile, number: int, sample: bytes) -> NDArray[Any]:
        """Returns the ids of a sample; `BadFileError` names it if its bytes are not as the columns say."""
        given = self.sizes.count(None)
        if len(sample) < 4 * given:
            raise self._bad(file, number, f"{len(sample):,} bytes", "the sizes of its columns")
        said = iter(np.frombuffer(sample, "<u4", given).tolist())
        sizes = [next(said) if size is None else size for size in self.sizes]
        if 4 * given + sum(sizes) != len(sample):
            raise self._bad(file, number, f"{len(sample):,} bytes", f"{4 * given + sum(sizes):,}, by its columns")
        start = 4 * given + sum(sizes[: self.number])
        content = sample[start : start + sizes[self.number]]
        if self.shaped:
            content = self._unshaped(file, number, content)
        if len(content) % self.dtype.itemsize:
            raise self._bad(file, number, f"{len(content):,} bytes of ids", f"a multiple of {self.dtype.itemsize}")
        return np.frombuffer(content, self.dtype)

    def _unshaped(self, file: TokenFile, number: int, content: bytes) -> bytes:
        """Returns the ids behind their shape: a byte that says how many dimensions it has and how wide it is."""
        head = content[0] if content else 0
        dimensions, width = head >> 2, 1 << (head & 3)
        if dimensions != 1:
            raise self._bad(file, number, f"an array of {dimensions} dimensions", "one")
        length, ids = int.from_bytes(content[1 : 1 + width], "little"), content[1 + width :]
        if length * self.dtype.itemsize != len(ids):
            raise self._bad(file, number, f"{len(ids):,} bytes of ids", f"{length:,} {self.dtype.name}, by its shape")
        return ids

    @staticmethod
    def _bad(file: TokenFile, number: int, found: str, expected: str) -> Exception:
        return file.bad(f"sample {number:,} has {found}; expected {expected}")
