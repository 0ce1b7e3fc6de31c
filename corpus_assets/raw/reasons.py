"""The reasons for which rows of raw files are dropped, by input and output."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from corpus_assets.config.datasets.files import Files, Shape
from corpus_assets.config.datasets.text_exports import mode_read, shape_read
from corpus_assets.raw.format_options import says_web
from corpus_assets.raw.losses import BAD_FILE, NO_DOCUMENT, NOT_SAMPLED, SKIPPED_MEMBER, TAKEDOWN
from resources.stage.hooks import Values

ROW: Final = (
    *("invalid_json", "invalid_utf8", "not_an_object", "lone_surrogate", "too_deep", "number_out_of_range"),
    *("line_too_long", "no_id", "bad_id"),
)
"""Faults of rows in any format."""

TEXT_OF_DOCUMENT: Final = ("no_text", "text_not_a_string")

_FORMATS: Final = {
    "tar": (SKIPPED_MEMBER,),
    "parquet": ("bad_value",),
    "arrow": ("bad_value",),
    "csv": ("bad_quotes", "stray_line_end", "ragged_row", "nul"),
    "tsv": ("bad_quotes", "stray_line_end", "ragged_row", "nul"),
}

WEB: Final = (
    *sorted(NO_DOCUMENT),
    *("record_too_long", "segmented_record", "too_large", "bad_http", "bad_chunks", "bad_encoding", "unknown_encoding"),
    *("html_too_long", "html_too_deep", "extraction_failed", "extraction_too_long"),
)
"""Records of WARC files."""

_TEXTS: Final[Mapping[Shape, tuple[str, ...]]] = {
    "text": ("text",),
    "pair": ("prompt", "completion"),
    "exchange": ("prompt", "completion"),
    "conversation": ("messages",),
    "preference": ("prompt", "chosen", "rejected"),
}
_MESSAGES: Final = (
    *("messages_not_a_list", "message_not_an_object", "content_not_text", "part_not_text", "role_not_text"),
    *("no_role", "no_content"),
)
MIXED: Final = "mixed_responses"


def document_reasons(settings: Values) -> list[str]:
    """Returns the reasons for which rows of any source give no document."""
    return [*_of_files(settings["sources"], settings), *TEXT_OF_DOCUMENT]


def example_reasons(settings: Values, name: str) -> list[str]:
    """Returns the reasons for which rows of a dataset's own files give no example."""
    (dataset,) = (entry for entry in settings["datasets"] if entry["name"] == name)
    given = dataset["input"]
    shape = shape_read(mode_read(dataset), Files.model_construct(None, **given))
    return [*_of_files([given], settings), *shape_reasons(shape)]


def item_reasons(settings: Values, name: str) -> list[str]:
    """Returns the reasons for which rows of a benchmark's files give no item."""
    given = [entry for entry in settings["benchmarks"] if entry["name"] == name]
    return [reason for reason in (*_of_files(given, settings), *shape_reasons("text")) if reason != TAKEDOWN]


def shape_reasons(shape: Shape) -> list[str]:
    """Returns the faults of the values that make an example of a shape."""
    texts = _TEXTS[shape]
    found = [f"{fault}_{text}" for text in texts for fault in ("no", "empty")]
    if shape != "conversation":
        found += [f"{text}_not_text" for text in texts]
    if shape in ("conversation", "exchange", "preference"):
        found += _MESSAGES
    return [*found, MIXED] if shape == "preference" else found


def _of_files(sections: list[Mapping[str, Any]], settings: Values) -> list[str]:
    return list(dict.fromkeys((*ROW, *(reason for given in sections for reason in _of_section(given, settings)))))


def _of_section(given: Mapping[str, Any], settings: Values) -> Iterator[str]:
    """Yields the faults of the formats that a section may read, and of whole files."""
    declared: str = given["format"]
    for name, reasons in _FORMATS.items():
        if declared == "auto" or name in declared:
            yield from reasons
    # With format `auto` any file may be a WARC file; these reasons are declared for declared crawls only, and appear
    # otherwise when they first occur.
    if says_web(given):
        yield from WEB
    if "sample" in given:
        yield NOT_SAMPLED
    if given["on_bad_file"] == "skip":
        yield BAD_FILE
    if settings["remove"]:
        yield TAKEDOWN
