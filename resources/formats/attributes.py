"""Dolma attributes: one JSON line per document, in its row (docs/formats/dolma.md "Attribute rows")."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, overload

import msgspec
import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from resources.formats.jsonl.lines import LineWriter

Span = tuple[int, int, int | float]
"""Beginning and end in code points of the text, and a score.

A score that is written without a decimal point is kept as an integer: for Dolma's JSONPath 1 is not 1.0.
"""


class Counts(Sequence[Span]):
    """Spans whose scores are whole numbers, as their JSON in a row, for taggers that give many.

    total: the sum of their scores.
    """

    __slots__ = ("_count", "encoded", "total")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, encoded: bytes, count: int, total: float) -> None:
        self.encoded = msgspec.Raw(encoded)
        self.total = total
        self._count = count

    @override
    def __len__(self) -> int:
        return self._count

    @override
    def __iter__(self) -> Iterator[Span]:
        return iter(_SPANS.decode(self.encoded))

    @overload
    def __getitem__(self, place: int) -> Span: ...
    @overload
    def __getitem__(self, place: slice) -> list[Span]: ...
    @override
    def __getitem__(self, place: int | slice) -> Span | list[Span]:
        return list(self)[place]

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)


Item = dict[str, str | int | float]

SHORT = "short_documents__cleaned__short"
DUPLICATE = "duplicates__minhash__duplicate"
CLUSTER_SIZE = "duplicates__minhash__cluster_size"
CONTAINED = "duplicates__minhash__contained"

FLAGS = "flags"
"""Segment of an attribute partition that holds only which rows are flagged."""

FLAG_TABLE = ".flags.npy"
SHORT_FLAG_TABLE = ".short.npy"
FLAG_TABLES = (FLAG_TABLE, SHORT_FLAG_TABLE)
"""Suffixes of the table of flags next to an attribute file: bool, one per row."""


class AttributeRow(msgspec.Struct, omit_defaults=True):
    """Spans per attribute key, in code points of the text; `kept` names the document that was kept instead.

    `kept` holds `source` and `id` of that document, its `shard` and `row`, and the id of the `cluster`. `items` names
    the benchmark items that the document holds pieces of: `set`, `number`, `id` and `share` of each.
    """

    id: str
    attributes: dict[str, list[Span]]
    source: str = ""
    kept: dict[str, str | int] | None = None
    items: list[Item] | None = None


class Identified(Protocol):
    """Anything with a document's identity: a document, or a row of another attribute."""

    id: str
    source: str


_ENCODER = msgspec.json.Encoder()
_SPANS = msgspec.json.Decoder(list[tuple[int, int, float]])
_DECODER = msgspec.json.Decoder(AttributeRow)
_NO_SPANS = b',"attributes":{}'
"""Only rows without spans contain these bytes, since quotes inside strings are escaped."""


def attribute_line(
    identifier: str,
    source: str,
    spans: Mapping[str, Sequence[Span]],
    kept: dict[str, str | int] | None = None,
    items: list[Item] | None = None,
) -> bytes:
    """Returns one attribute row, newline included."""
    encodable: dict[str, Any] = {
        key: value.encoded if type(value) is Counts else list(value) for key, value in spans.items()
    }
    row = AttributeRow(identifier, encodable, source, kept, items)
    return _ENCODER.encode(row) + b"\n"


def attribute_rows(lines: Iterable[bytes]) -> Iterator[AttributeRow]:
    """Yields the rows of an attribute file."""
    return map(_DECODER.decode, lines)


def flags_of(lines: Iterable[bytes]) -> Iterator[bool]:
    """Yields for each row whether any of its spans has a positive score."""
    for line in lines:
        if _NO_SPANS in line:
            yield False
        else:
            yield any(score > 0 for spans in _DECODER.decode(line).attributes.values() for _, _, score in spans)


class AttributeWriter:
    """Rows of one attribute of one shard, in the order of its documents.

    A row may say whether its document is flagged; if one does, all must. The mix leaves out the documents that an
    attribute named in `mix.leave_out` flags.
    """

    def __init__(self, lines: LineWriter) -> None:
        self._lines = lines
        self._flags: list[bool] = []
        self.rows = 0

    def add(
        self,
        document: Identified,
        spans: Mapping[str, Sequence[Span]],
        *,
        flagged: bool | None = None,
        kept: dict[str, str | int] | None = None,
        items: list[Item] | None = None,
    ) -> None:
        """Adds the row of one document. kept: the document that is kept instead of a duplicate. items: see the row."""
        self._lines.write(attribute_line(document.id, document.source, spans, kept, items))
        self.rows += 1
        if flagged is not None:
            self._flags.append(flagged)
        if self._flags and len(self._flags) != self.rows:
            raise ValueError(f"row {self.rows} ({document.id}): either every row says whether it is flagged, or none")

    @property
    def has_flags(self) -> bool:
        """True if every row says whether it is flagged; also for a shard without rows."""
        return len(self._flags) == self.rows

    def flags(self) -> NDArray[np.bool_]:
        """Returns the flags of all rows."""
        return np.array(self._flags, dtype=np.bool_)
