"""Language models that KenLM reads. The library wants files; a model from elsewhere becomes a temporary one."""

import errno
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from resources.errors import BadFileError, StorageError

_BLOCK = 1 << 20
_OF_THE_SYSTEM = ("ErrnoException", "FDException")
"""Exceptions of the library for errors of the system; those for content have other names."""


def read_model(path: str, name: str) -> Any:
    """Returns the language model at a path; `BadFileError` if it is none. name: of the file, for messages.

    `StorageError` if the machine cannot read it now.
    """
    import kenlm

    config = kenlm.Config()
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    try:
        return kenlm.Model(path, config)
    except (OSError, RuntimeError, ValueError) as error:
        said = str(error).rpartition("threw ")[2].removesuffix(")")
        if said.startswith(_OF_THE_SYSTEM) and os.strerror(errno.EISDIR) not in said:
            raise StorageError(f"{name}: KenLM cannot read it now: {said}") from None
        raise BadFileError(name, f"no model that KenLM can read: {said}") from None


def opened_model(stream: BinaryIO, name: str) -> Any:
    """Returns the language model in a stream; `BadFileError` if it is none. name: of the file, for messages."""
    with TemporaryDirectory(prefix="corpus-kenlm-") as folder:
        path = Path(folder, "model")
        with path.open("wb") as file:
            shutil.copyfileobj(stream, file, _BLOCK)
        return read_model(str(path), name)
