"""Draws a sample of what deduplication removed, and puts judgements of it beside the numbers of all."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from corpus_assets.audit.neighbours import nearest
from corpus_assets.audit.removed import Deduplicated
from corpus_assets.audit.sample import Chosen, Sample
from corpus_assets.audit.sheet import Item, Judgement, judgements
from corpus_assets.report.audit.result import Band, Result, Source
from corpus_assets.tracing.resemblance import resemblance
from corpus_assets.tracing.tables import id_at, text_at
from resources.errors import BadFileError


def drawn(found: Deduplicated, size: int, seed: int) -> tuple[list[Item], Result]:
    """Returns so many removed documents of each source and band, and the numbers of all, without judgements."""
    sample = Sample(found, size, seed)
    return [_item(found, chosen) for chosen in sample.chosen()], _result(found, sample)


def read(found: Deduplicated, path: Path) -> Result:
    """Returns the numbers of all removed documents with the judgements of a sheet; `BadFileError` names a bad row."""
    said = _by_number(found, path, judgements(path, found.build))
    result, names = _result(found, Sample(found, 0, 0)), found.bands.names
    asked = np.array(sorted(said), dtype=found.numbering.dtype)
    for block in found.removed():
        bands = found.bands.of(block)
        for place in np.flatnonzero(np.isin(block.documents, asked)).tolist():
            number = int(block.documents[place])
            source = result.sources[found.numbering.described(number)["source"]]  # type: ignore[index]
            if not block.equal[place]:
                _count(source.bands[names[bands[place]]], said.pop(number).said)
    for judgement in said.values():
        shard, row = judgement.removed
        raise BadFileError(f"{path}, row {judgement.row}", f"row {row} of {shard} is not a removed document to judge")
    return result


def _by_number(found: Deduplicated, path: Path, said: Iterable[Judgement]) -> dict[int, Judgement]:
    numbers: dict[int, Judgement] = {}
    for judgement in said:
        shard, row = judgement.removed
        if shard not in found.numbering.shards or row >= found.numbering.rows(shard):
            words = f"there is no row {row} of shard {shard[:80]!r} among the documents that were compared"
            raise BadFileError(f"{path}, row {judgement.row}", words)
        numbers[found.numbering.first(shard) + row] = judgement
    return numbers


def _count(band: Band, said: str) -> None:
    band.judged += said != "unsure"
    band.wrong += said == "wrong"
    band.unsure += said == "unsure"


def _result(found: Deduplicated, sample: Sample) -> Result:
    names, near = found.bands.names, nearest(found)
    sources: Mapping[str, Source] = {
        name: Source(
            removed=counted.removed,
            equal=counted.equal,
            bands={names[band]: Band(count) for band, count in sorted(counted.bands.items())},
            bars=counted.bars.tolist(),
            held=counted.held.tolist() if counted.held.any() else [],
            nearest=near[name].tolist() if name in near else [],
        )
        for name, counted in sample.counted.items()
    }
    return Result(found.build, dict(sources))


def _item(found: Deduplicated, chosen: Chosen) -> Item:
    places = [found.numbering.locate(number) for number in (chosen.document, chosen.kept)]
    sides = [(found.look.shard(found.look.documents, shard), row) for shard, row in places]
    (removed, kept), (removed_id, kept_id) = places, [id_at(*side) for side in sides]
    alike = resemblance(found.look, *sides)
    return Item(
        source=chosen.source,
        band=found.bands.names[chosen.band],
        similarity=float(alike.get("resemblance", chosen.similarity)),
        held=chosen.held,
        removed_id=removed_id,
        removed=removed,
        kept_source=str(found.numbering.described(chosen.kept)["source"]),
        kept_id=kept_id,
        kept=kept,
        texts=(text_at(*sides[0]), text_at(*sides[1])),
    )
