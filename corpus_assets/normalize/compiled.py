"""Which compiled functions look at texts while they are normalized: a build compiles these, and no others, ahead."""

from collections.abc import Mapping
from typing import Any

SCAN = "corpus_assets.normalize.kernels.scan"


def of_documents(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns what normalizes texts and counts their cleaned lengths."""
    nfc = (f"{SCAN}.unsettled",) if settings["normalize"]["method"] == "nfc" else ()
    return (*nfc, f"{SCAN}.cleaned_length")


def of_short_documents(_: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns what counts the cleaned lengths that a partition of version 0.1 lacks."""
    return (f"{SCAN}.cleaned_length",)
