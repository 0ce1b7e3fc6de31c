"""Row rules: small functions that decide whether a document stays, goes or changes, and what they need for that."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from resources.documents.looked_for import LookedFor
from resources.formats.attributes import Span
from resources.formats.documents import Document, decode_document
from resources.stage.declaration import Input
from resources.stage.hooks import NO_HOOKS, Hooks
from resources.stage.task import Task

Attributes = Mapping[str, Sequence[Span]]
"""Spans of one document by attribute key."""


class Row:
    """A document as row rules see it, before any of them has changed it.

    number: of its row in the shard, from 0.
    line: the document as JSON, newline included.
    attributes: its spans from all assets that the rules ask for.
    """

    __slots__ = ("_document", "attributes", "line", "number")

    def __init__(self, number: int, line: bytes, attributes: Attributes, document: Document | None = None) -> None:
        self.number = number
        self.line = line
        self.attributes = attributes
        self._document = document

    @property
    def document(self) -> Document:
        """The document, decoded when it is first asked for. It is shared; do not change it."""
        if self._document is None:
            self._document = decode_document(self.line)
        return self._document


class Drop(NamedTuple):
    """The document goes. found: what the rule found, in a few words for a person."""

    found: str


class Replacement(NamedTuple):
    """Replaces code points `start` to `end` of a text by another text, in which `{}` stands for the original ones."""

    start: int
    end: int
    text: str = ""


class Replace(NamedTuple):
    """The document stays, and pieces of its text are replaced."""

    spans: Sequence[Replacement]


class Discard(NamedTuple):
    """The document stays without these of its optional fields: `added`, `created`, `metadata`."""

    fields: Sequence[str]


Verdict = Drop | Replace | Discard | None
"""What a rule decides about a row; None: it stays as it is."""


@dataclass
class Tally:
    """How many documents a rule was asked about, and in how many it found what it measures, in one shard."""

    asked: int = 0
    found: int = 0


@dataclass(frozen=True)
class RowRule:
    """One rule.

    name: under which its drops and changes are counted; unique in the corpus.
    judge: a function of a row, and of nothing else.
    last: True for a rule that looks at the document after all replacements. Such a rule sees no attributes, since their
        spans belong to the original text, and replaces nothing.
    tally: counts of the rule itself; a build says if it never finds what it measures, since its name may be misspelt.
    looked_for: names in the configuration that the rule looks for; a build says which of them no document has.
    """

    name: str
    judge: Callable[[Row], Verdict]
    last: bool = False
    tally: Tally | None = None
    looked_for: tuple[LookedFor, ...] = ()


@dataclass(frozen=True)
class RuleSet:
    """Row rules of one kind, and what they read and depend on. The filter asks all sets that are configured, in order.

    name: for messages.
    make: module-level function of the filter's `Task`; returns the rules for one shard. It may read the inputs,
        parameters and local files that are declared here.
    attributes: assets with a row of attributes for every document; rules find the spans in `row.attributes`.
    inputs: further edges: `same`, `every`, `own_segment`.
    drops: names of the rules that may drop a document.
    replaced: makes the replacements of all rules of the filter; None unites pieces that overlap.
    parameters: as of a `Stage`. hooks: what a build asks of the filter for these rules: `derived_parameters`,
        `local_files`, `check_before` and `kernels`.

        def too_loud(task: Task) -> list[RowRule]:
            most = task["own.shouting.most"]

            def judge(row: Row) -> Verdict:
                share = sum(map(str.isupper, row.document.text)) / max(1, len(row.document.text))
                return Drop(f"{share:.0%} capitals") if share > most else None

            return [RowRule("shouting", judge)]

        RuleSet("shouting", too_loud, parameters=("own.shouting.most",), drops=("shouting",))
    """

    name: str
    make: Callable[[Task], Sequence[RowRule]]
    attributes: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = ()
    drops: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    hooks: Hooks = NO_HOOKS
    replaced: Callable[[str, Sequence[Replacement]], str] | None = None
