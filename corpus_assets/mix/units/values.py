"""What a document is worth in one respect: its source, a label, or a score."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec

from corpus_assets.filter.rules.ranges import covered_share
from resources.documents.row_rule import Row
from resources.formats.attributes import Span

MISSING: Final = "missing"
"""The bucket of documents without the label or the score."""

Value = str | float | None


@dataclass(frozen=True)
class Subject:
    """What is read of each document.

    kind: what `read` is. asset: with the attributes, None for metadata and sources. key: of the spans; the beginning of
    the keys of labels; the path of a key of the metadata. of: as in `mix.units`. by: its name in corpus.yaml.
    is_open: whether only documents can show that the name is misspelt.
    """

    kind: Literal["source", "metadata", "label", "score"]
    by: str
    key: str = ""
    asset: str | None = None
    of: str = "score"
    is_open: bool = False

    @property
    def reads_documents(self) -> bool:
        """Whether it is read of the documents themselves, and not of attributes alone."""
        return self.kind == "metadata" or self.of == "share"

    def names_in(self, row: Row) -> list[str]:
        """Returns the names of what a row has in the place of it."""
        if self.kind != "metadata":
            return [*row.attributes]
        found = msgspec.json.decode(row.document.metadata) if row.document.metadata else {}
        return [f"metadata.{key}" for key in found] if isinstance(found, Mapping) else []

    def read(self) -> Callable[[Row], Value]:
        """Returns the function that reads it of a row; a source is that of the shard, and not read."""
        if self.kind == "metadata":
            return _of_metadata(self.key)
        if self.kind == "label":
            return _label(self.key)
        return _score(self.key, self.of)


def number(value: Value) -> float | None:
    """Returns a score; None for anything that is no finite number."""
    if isinstance(value, str) or value is None or not math.isfinite(value):
        return None
    return float(value)


def label(value: Value) -> str:
    """Returns a label in words."""
    if value is None or value == "":
        return MISSING
    return value if isinstance(value, str) else f"{value:.12g}"


def _of_metadata(path: str) -> Callable[[Row], Value]:
    keys = path.split(".")

    def read(row: Row) -> Value:
        raw = row.document.metadata
        found: Any = msgspec.json.decode(raw) if raw else None
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else None
        if isinstance(found, bool):
            return str(found).lower()
        return found if isinstance(found, str | int | float) else None

    return read


def _label(start: str) -> Callable[[Row], Value]:
    """Returns the type whose greatest score is the greatest; of equal ones the first by name."""

    def read(row: Row) -> Value:
        best: tuple[float, str] | None = None
        for key in sorted(row.attributes):
            if key.startswith(start) and (spans := row.attributes[key]):
                score = max(score for _, _, score in spans)
                if best is None or score > best[0]:
                    best = score, key.removeprefix(start)
        return None if best is None else best[1]

    return read


def _score(key: str, of: str) -> Callable[[Row], Value]:
    if of == "count":
        return lambda row: float(len(row.attributes.get(key, ())))
    if of == "share":
        return lambda row: covered_share(row, row.attributes.get(key, ()))
    return lambda row: _mean(row.attributes.get(key, ()))


def _mean(spans: Sequence[Span]) -> float | None:
    if not spans:
        return None
    if len(spans) == 1:
        return float(spans[0][2])
    length = sum(end - start for start, end, _ in spans)
    if not length:
        return math.fsum(score for _, _, score in spans) / len(spans)
    return math.fsum((end - start) * score for start, end, score in spans) / length
