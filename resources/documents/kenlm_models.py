"""Language models that KenLM reads. The library wants files; a model from elsewhere becomes a temporary one."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from resources.errors import BadFileError

_BLOCK = 1 << 20


def read_model(path: str, name: str) -> Any:
    """Returns the language model at a path; `BadFileError` if it is none. name: of the file, for messages."""
    import kenlm

    config = kenlm.Config()
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    try:
        return kenlm.Model(path, config)
    except (OSError, RuntimeError, ValueError) as error:
        said = str(error).rpartition("threw ")[2].removesuffix(")")
        raise BadFileError(name, f"no model that KenLM can read: {said}") from None


def opened_model(stream: BinaryIO, name: str) -> Any:
    """Returns the language model in a stream; `BadFileError` if it is none. name: of the file, for messages."""
    with TemporaryDirectory(prefix="corpus-kenlm-") as folder:
        path = Path(folder, "model")
        with path.open("wb") as file:
            shutil.copyfileobj(stream, file, _BLOCK)
        return read_model(str(path), name)
