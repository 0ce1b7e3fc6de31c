"""Models of fastText: trained from lines, and opened from bytes. The library wants files; they are temporary."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from resources.errors import ConfigError, CorpusError, StorageError

LABEL = "__label__"
UNOPENED = "cannot be opened"
"""What the library says of a file that it cannot open."""


def trained_model(lines: Iterable[tuple[str, str]], **options: Any) -> bytes:
    """Returns a classifier trained by one thread, so that equal lines in equal order give equal bytes.

    lines: label and text of each example. options: of `train_supervised`. `CorpusError` if the library fails.
    """
    import fasttext

    with TemporaryDirectory(prefix="corpus-fasttext-") as folder:
        examples, model = Path(folder, "examples.txt"), Path(folder, "model.bin")
        with examples.open("w", encoding="utf-8", newline="\n") as out:
            out.writelines(f"{LABEL}{label} {in_line(text)}\n" for label, text in lines)
        try:
            found = fasttext.train_supervised(str(examples), thread=1, verbose=0, **options)
            found.save_model(str(model))
        except (ValueError, RuntimeError) as error:
            raise CorpusError(f"fastText cannot be trained: {error}") from None
        return model.read_bytes()


def opened_model(content: bytes) -> Any:
    """Returns a model whose layout was checked; `ValueError` if the library cannot read it.

    `ConfigError` without the library, `StorageError` if the machine cannot open the copy that it reads.
    """
    try:
        from fasttext.FastText import _FastText
    except ModuleNotFoundError:
        raise ConfigError("a classifier of kind fasttext needs: pip install 'corpus-assets[fasttext]'") from None
    with TemporaryDirectory(prefix="corpus-fasttext-") as folder:
        file = Path(folder, "model.bin")
        file.write_bytes(content)
        try:
            return _FastText(str(file))
        except (ValueError, RuntimeError) as error:
            if UNOPENED in str(error):
                raise StorageError("fastText cannot open a copy of the model now") from None
            raise ValueError(f"fastText cannot read it: {error}") from None


def in_line(text: str) -> str:
    """Returns a text in one line, without what fastText takes for a label."""
    return " ".join(text.split()).replace(LABEL, "__label _")
