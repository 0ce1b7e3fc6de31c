"""Layout of token rows in HDF5: one dataset `data` (rows, channels, L) int32, and named attributes.

It follows Cerebras' Model Zoo (docs/formats/cerebras-hdf5.md "File layout" and "Readers"), so Cerebras' readers open
the files. This project adds attributes and the byte shuffle filter, which makes rows smaller. A chunk holds one row, as
in Cerebras' files, since trainers read rows at random and reading a row reads its whole chunk. Only short rows share a
chunk, because opening a chunk costs more than reading their content.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final

import h5py
import xxhash

Attribute = str | int | float | list[str] | tuple[str, ...]

LM_FEATURES = ("input_ids", "attention_mask", "labels")
VSL_FEATURES = (*LM_FEATURES, "attention_span", "position_ids")
DPO_FEATURES = tuple(f"{side}_{name}" for side in ("chosen", "rejected") for name in LM_FEATURES)
FEATURES_BY_CHANNELS = {len(names): names for names in (LM_FEATURES, VSL_FEATURES, DPO_FEATURES)}

RESERVED = ("n_examples", "features", "content_digest", "recipe")
"""Attributes that the writer sets."""
FILTERS: Final = [h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_DEFLATE]


def start_digest(attributes: Mapping[str, Attribute], features: Sequence[str]) -> xxhash.xxh3_128:
    """Returns an xxh3-128 of the attributes as canonical JSON; the rows follow as little-endian int32."""
    header = json.dumps({**attributes, "features": list(features)}, sort_keys=True).encode()
    return xxhash.xxh3_128(len(header).to_bytes(8, "little") + header)
