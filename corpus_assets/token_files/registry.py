"""All formats of token files: add one by its name in `config`, its module, and its line here."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from corpus_assets.token_files import megatron, ragged
from corpus_assets.token_files.pieces import How, Pieces, TokenSource
from resources.raw_places.interface import Grouping


@dataclass(frozen=True)
class TokenFormat:
    """How files of a format are read.

    group: returns which files belong together. read: yields the ids of one group and where documents end.
    """

    group: Grouping
    read: Callable[[TokenSource, How], Iterator[Pieces]]


FORMATS: Mapping[str, TokenFormat] = {
    "megatron": TokenFormat(megatron.GROUP, megatron.read),
    "ragged": TokenFormat(ragged.GROUP, ragged.read),
}
