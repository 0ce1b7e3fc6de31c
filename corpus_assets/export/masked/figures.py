"""How full rows of several documents are, in the words of `corpus packing`."""

from collections.abc import Mapping
from typing import Any

from corpus_assets.config.datasets.masked import MaskedExport
from corpus_assets.export.format import ids_in_files
from corpus_assets.export.masked.documents import SEQUENCES


def row_figures(section: MaskedExport, totals: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the figures of rows. totals: of the partitions with them, with what was dropped under `dropped`.

    A document takes as many positions as the format shares out: ids, or ids without the last one (`more_ids`).
    """
    rows, dropped = totals.get("units", 0), totals["dropped"]
    sequences = totals.get(SEQUENCES, totals.get("documents", 0))
    filled = ids_in_files(totals, dropped) - section.more_ids * sequences
    positions = rows * section.sequence_length
    return {
        "method": section.packing,
        "depth": section.packing_depth,
        "sequence_length": section.sequence_length,
        "rows": rows,
        "sequences": sequences,
        "fill": round(filled / positions, 6) if positions else 0.0,
        "sequences_per_row": round(sequences / rows, 2) if rows else 0.0,
        "truncated_tokens": sum(lost["ids"] for lost in dropped.values()),
        "padded_tokens": positions - filled,
    }


def shown(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Returns those of them that records show."""
    return {key: figures[key] for key in ("fill", "sequences_per_row", "truncated_tokens", "padded_tokens")}
