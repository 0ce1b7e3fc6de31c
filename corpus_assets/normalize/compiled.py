"""The kernels that normalization calls; a build compiles exactly these ahead."""

from collections.abc import Mapping
from typing import Any

SCAN = "corpus_assets.normalize.kernels.scan"


def of_documents(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the kernels that normalize texts and count their cleaned lengths."""
    nfc = (f"{SCAN}.unsettled",) if settings["normalize"]["method"] == "nfc" else ()
    return (*nfc, *of_lengths(settings))


def of_lengths(_: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the kernels that count the cleaned length of a text."""
    return (f"{SCAN}.cleaned_length",)
