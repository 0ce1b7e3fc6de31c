"""The rows of attributes that lie beside the documents of a shard."""

from collections.abc import Mapping, Sequence

import msgspec

from resources.errors import AlignmentError
from resources.formats.attributes import Span
from resources.formats.jsonl.compressions import JSONL
from resources.stage.partition import Partition


class _AttributeRow(msgspec.Struct):
    id: str
    attributes: dict[str, list[Span]]


_DECODER = msgspec.json.Decoder(_AttributeRow)


class AttributeFile:
    """The rows of one attribute, which must match the documents one by one.

    `AlignmentError` names file and row otherwise.
    """

    def __init__(self, attribute: Partition, documents: int) -> None:
        if not attribute.has(JSONL):
            raise AlignmentError(attribute.name, 0, f"there is no file of attributes for {documents} documents")
        file = attribute.file(JSONL)
        if file.rows is not None and file.rows != documents:
            fault = "is missing" if file.rows < documents else "is one too many"
            raise AlignmentError(
                file.path, min(file.rows, documents), f"{fault}: {file.rows} rows for {documents} documents"
            )
        self._path = file.path
        self._documents = documents
        self._lines = attribute.lines()
        self._row = 0

    def take(self, identifier: str) -> dict[str, list[Span]]:
        """Returns the spans of the next document."""
        row, self._row = self._row, self._row + 1
        line = next(self._lines, None)
        if line is None:
            raise AlignmentError(self._path, row, f"is missing: {row} rows for {self._documents} documents")
        try:
            found = _DECODER.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise AlignmentError(self._path, row, f"is no row of attributes: {error}") from None
        if found.id != identifier:
            raise AlignmentError(self._path, row, f"has id {found.id!r}, the document there has {identifier!r}")
        return found.attributes

    def finish(self) -> None:
        """Raises `AlignmentError` if there is another row."""
        if next(self._lines, None) is not None:
            raise AlignmentError(self._path, self._row, f"is one too many for {self._documents} documents")


def best_label(attributes: Mapping[str, Sequence[Span]], prefix: str) -> str | None:
    """Returns the label of a document, that with the greatest score if a tagger gave several; None if it gave none.

    prefix: of the attribute keys of the tagger's labels.
    """
    found = [key for key in attributes if key.startswith(prefix) and attributes[key]]
    best = max(found, key=lambda key: attributes[key][0][2], default=None)
    return None if best is None else best.removeprefix(prefix)
