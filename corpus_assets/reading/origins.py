"""Where a document of a token stream comes from."""

from typing import NamedTuple


class Origin(NamedTuple):
    """Where a document comes from. copy: 0 for its first use in the corpus, then 1, 2 ...

    row: number of the example in its file; None for documents of a split.
    """

    id: str
    source: str
    row: int | None
    copy: int


class RawRow(NamedTuple):
    """The raw row from which a document was made, as the corpus is now.

    file: path or address of the raw file; None if it is gone, or if the corpus has no such document any more.
    row: from 0, counting rows that were bad or taken down; None if it is not known.
    """

    file: str | None
    row: int | None
