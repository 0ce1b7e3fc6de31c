"""Reads a parquet file once for each byte of its footer, with bits of it flipped; a library may end the process."""

import io
from functools import partial
from typing import Final

from corpus_assets.raw.readers import RawFile, RowRules, read_documents
from resources.errors import BadFileError
from tests.raw.every_format import table

MASKS: Final = (0x01, 0x10, 0x14)
"""The last two change how many values a list in the footer has."""


def refused() -> int:
    """Returns how many of the files are refused by name."""
    content, found = table(), 0
    for place in range(len(content) - 8 - int.from_bytes(content[-8:-4], "little"), len(content)):
        for mask in MASKS:
            damaged = content[:place] + bytes([content[place] ^ mask]) + content[place + 1 :]
            try:
                list(read_documents(RawFile("a.parquet", partial(io.BytesIO, damaged)), RowRules("s")))
            except BadFileError as error:
                found += error.where == "a.parquet"
    return found


if __name__ == "__main__":
    print(refused())
