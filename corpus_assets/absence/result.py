"""The result of `corpus verify --absent`."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Found:
    """A row of a file that holds a document which a list names.

    named: list and line. tokens: for a row of tokens, how many consecutive tokens of the document it holds. In a file
    of ids without rows, the row is the number of the first of them.
    """

    partition: str
    file: str
    row: int
    id: str
    named: str
    tokens: int = 0


@dataclass
class Absence:
    """The result of a search.

    searched: rows that were compared.
    texts: texts of named documents that were looked for in token files.
    token_rows: how many rows these have, ids where they have no rows.
    shared: rows that hold a passage of a named document which a kept one has too.
    too_short: texts of too few tokens to be looked for.
    unproven: what may hold a document, and why.
    incomparable: entries that could be compared with no document, and why.
    """

    entries: int = 0
    searched: int = 0
    texts: int = 0
    token_rows: int = 0
    shared: int = 0
    too_short: int = 0
    found: list[Found] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    incomparable: list[str] = field(default_factory=list)
