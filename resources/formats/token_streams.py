"""The files of a partition of a token stream, which `corpus_assets/export` writes and `corpus_assets/reading` reads.

It is a ragged array (docs/exports.md): ids of all documents one after another, how many each has, and beside
them a row for every document (`DOCUMENT`).
"""

import numpy as np

DATA, LENGTHS, DOCUMENTS, IDS, NAMES = ".data.npy", ".len.npy", ".documents.npy", ".ids.npy", ".names.json"
"""Suffixes: ids, unsigned (ids,); int32 (documents,); `DOCUMENT` (documents,); ids of documents as UTF-8; names."""

ORIGINS, STREAMS = ".origins.npy", ".streams.json"
"""Suffixes of a stream that is made of others: `ORIGIN` (documents,); of each partition the asset, the key, and how
many separators stand before each document."""

NOWHERE = 2**32 - 1
"""The row of a document whose raw row is not recorded."""

DOCUMENT = np.dtype(
    [
        ("id_end", "<u8"),
        ("source", "<u4"),
        ("row", "<u4"),
        ("copy", "<u4"),
        ("start", "<u8"),
        ("end", "<u8"),
    ]
)
"""id_end: where its id ends in the file of ids.

source: number in the file of names. row: number of the example in the partition's file; `NOWHERE` for documents of a
split: their raw file and row may change, which is no reason to encode them again (`corpus trace` finds them). copy: 0
for its first use. start, end: bytes of the row's text, which count once: none for a further document made of it.
"""

ORIGIN = np.dtype([("stream", "<u4"), ("document", "<u4"), ("use", "<u4"), ("begin", "<u8")])
"""stream: number of the partition in the file of streams. document: number in it. use: 0 for its first use.

begin: ids of the document, with its separators, before those of this piece.
"""
