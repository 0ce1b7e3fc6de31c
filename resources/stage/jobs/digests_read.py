"""The content digests of what a job reads, which its recipe covers."""

from collections.abc import Mapping

from resources.errors import LedgerError
from resources.ledger.records import absent_segment, digests_of, folded, partition_name
from resources.stage.declaration import Input, Reads
from resources.stage.partitions import Partitions


def digests_read(inputs: Mapping[Input, Partitions], key: str | None, reader: str) -> dict[str, str]:
    """Returns the content digests of all tracked inputs, by `asset/partition`; of folded edges by `asset/*`.

    key: of the partition that reads them; reader: its name. `LedgerError` if one of them has no segment of the name
    that is read. A segment named like the reading partition may be absent: there is nothing for that partition.
    """
    found: dict[str, str] = {}
    for edge, partitions in inputs.items():
        if edge.tracked:
            if absent := partitions.once(_first_absent, edge.segment):
                raise LedgerError(f"{reader} reads {absent}")
            found |= _digests_of(edge, partitions, edge.segment_read(key))
    return found


def _first_absent(partitions: Partitions, segment: str | None) -> str:
    return next(filter(None, (absent_segment(partition.record, segment) for partition in partitions)), "")


def _digests_of(edge: Input, partitions: Partitions, segment: str | None) -> Mapping[str, str]:
    """Returns the digests of a segment of all partitions, or of the whole for None, as a recipe names them."""
    if edge.mapping is Reads.OWN_SEGMENT:  # No other job reads that segment.
        return _recorded(partitions, edge, segment)
    return partitions.once(_recorded, edge, segment)


def _recorded(partitions: Partitions, edge: Input, segment: str | None) -> dict[str, str]:
    names = partitions.once(_names, edge.name_in_recipe)
    found = dict(zip(names, digests_of((partition.record for partition in partitions), segment), strict=True))
    if edge.nothing is not None:
        found = {name: digest for name, digest in found.items() if digest != edge.nothing}
    return folded(edge.name_in_recipe, found) if edge.folded else found


def _names(partitions: Partitions, asset: str) -> list[str]:
    return [partition_name(asset, partition.key) for partition in partitions]
