"""All formats: add one by its section in `config`, its module in `formats`, and its line in `FORMATS`.

Those of masked documents have sections and modules of their own.
"""

from typing import Any

from corpus_assets.config.datasets.export_options import Export
from corpus_assets.export.format import Format
from corpus_assets.export.formats.amber import AMBER
from corpus_assets.export.formats.arrow import ARROW
from corpus_assets.export.formats.datatrove import DATATROVE
from corpus_assets.export.formats.litdata import LITDATA
from corpus_assets.export.formats.llmc import LLMC
from corpus_assets.export.formats.masked.arrow import ARROW_MASKED, ARROW_ROWS
from corpus_assets.export.formats.masked.mds import MDS_MASKED
from corpus_assets.export.formats.masked.megatron_bridge import BRIDGE_MASKED
from corpus_assets.export.formats.masked.olmo import OLMO_MASKED
from corpus_assets.export.formats.masked.parquet import PARQUET_MASKED, PARQUET_ROWS
from corpus_assets.export.formats.mds import MDS
from corpus_assets.export.formats.megatron import MEGATRON
from corpus_assets.export.formats.nanogpt import NANOGPT
from corpus_assets.export.formats.olmo import OLMO
from corpus_assets.export.formats.parquet import PARQUET
from corpus_assets.export.formats.ragged import RAGGED
from corpus_assets.export.formats.torchtitan import TORCHTITAN

AnyFormat = Format[Any]

FORMATS: tuple[AnyFormat, ...] = (
    MEGATRON,
    RAGGED,
    OLMO,
    LLMC,
    NANOGPT,
    TORCHTITAN,
    DATATROVE,
    MDS,
    LITDATA,
    PARQUET,
    ARROW,
    PARQUET_ROWS,
    ARROW_ROWS,
    AMBER,
    PARQUET_MASKED,
    ARROW_MASKED,
    BRIDGE_MASKED,
    MDS_MASKED,
    OLMO_MASKED,
)


def format_of(section: Export) -> AnyFormat:
    """Returns the format of a dataset."""
    (found,) = (known for known in FORMATS if known.section is type(section))
    return found
