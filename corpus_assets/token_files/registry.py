"""All formats of token files: add one by its name in `config`, its module, and its line here."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from corpus_assets.token_files import litdata, llmc, mds, megatron, ragged, raw_ids
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
    "olmo": TokenFormat(raw_ids.OLMO_GROUP, raw_ids.read_olmo),
    "nanogpt": TokenFormat(raw_ids.group_each, raw_ids.read_nanogpt),
    "llmc": TokenFormat(llmc.group, llmc.read),
    "mds": TokenFormat(mds.GROUP, mds.read),
    "litdata": TokenFormat(litdata.GROUP, litdata.read),
}
