"""Which compiled functions look at texts while they are normalized: a build compiles these, and no others, ahead."""

from collections.abc import Mapping
from typing import Any

SCAN = "corpus_assets.normalize.kernels.scan"


def of_documents(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns what normalizes texts and counts their cleaned lengths."""
    nfc = (f"{SCAN}.unsettled",) if settings["normalize"]["method"] == "nfc" else ()
    return (*nfc, *of_lengths(settings))


def of_lengths(_: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns what counts the cleaned length of a text."""
    return (f"{SCAN}.cleaned_length",)
