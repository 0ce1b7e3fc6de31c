"""Reads the documents of a WARC file: main texts of web pages, plain texts, and the texts of WET files."""

import base64
import hashlib
import io
from collections import Counter
from collections.abc import Iterator
from typing import Final, TypeVar

from corpus_assets.raw.binary import binary_kind, controls, replacements
from corpus_assets.raw.losses import GUESSED, REPLACED
from corpus_assets.raw.rows.faults import BadRow, PassedOver, RowError
from corpus_assets.raw.rows.rules import Limits, RowParser
from corpus_assets.raw.web.charsets import Read, read
from corpus_assets.raw.web.extractors import Extraction, extractor, main_text
from corpus_assets.raw.web.headers import charset_of, media_type
from corpus_assets.raw.web.http import body, parse_response
from corpus_assets.raw.web.libraries import Extract
from corpus_assets.raw.web.records import Record, read_records
from resources.errors import ConfigError, StorageError

Row = TypeVar("Row")

_HTML: Final = ("text/html", "application/xhtml+xml")
_TEXTUAL: Final = (*_HTML, "text/plain")
_TEXT_LIKE: Final = frozenset(
    (
        *("xml", "json", "javascript", "ecmascript", "x-javascript", "typescript", "x-typescript", "yaml", "x-yaml"),
        *("toml", "sql", "x-sql", "x-sh", "x-csh", "x-httpd-php", "x-perl", "x-python", "x-ruby", "x-tex", "x-latex"),
        *("x-bibtex-text-file", "x-subrip", "rtf", "mbox", "octet-stream"),
    )
)
"""Types of `application/` that are texts, or say nothing about the content."""
_HOLDS_DOCUMENTS: Final = ("response", "resource", "conversion")


class _NothingError(Exception):
    """A record that by its kind holds no document: the word for the reason, and details."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.detail = detail


def read_rows(
    stream: io.BufferedReader,
    parser: RowParser[Row],
    limits: Limits,
    where: str,
    *,
    how: Extraction | None,
    counts: Counter[str],
) -> Iterator[Row | BadRow]:
    """Yields the rows that a parser makes from the records of a decompressed WARC file, and bad rows.

    Documents are in `response` records (HTTP, status 2xx), `resource` and `conversion` records whose content is HTML or
    plain text. All others come as `PassedOver`. A row has the values of the Dolma toolkit (docs/formats/dolma.md
    "WARC"). how: how main text is extracted. counts: gets the number of U+FFFD from decoding, and of documents with
    a guessed charset. Raises `BadFileError` if the file is not a valid WARC file, and `ConfigError` for HTML without an
    extractor.
    """
    reader = _Reader(limits, where, how, counts)
    for record in read_records(stream, where):
        try:
            yield parser.from_record(reader.values(record), where)
        except _NothingError as reason:
            yield PassedOver(record.where, str(reason), reason.detail or record.kind)
        except RowError as error:
            yield error.at(record.where)


class _Reader:
    """Makes the values of rows from records in reading order."""

    def __init__(self, limits: Limits, where: str, how: Extraction | None, counts: Counter[str]) -> None:
        self._counts = counts
        self._limits = limits
        self._how = how
        self._filename = where.rpartition("/")[2]

    def values(self, record: Record) -> dict[str, object]:
        """Returns the values of a record's row; a fault of the record replaces its text."""
        if record.kind == "warcinfo":
            self._filename = record.headers.get("warc-filename", self._filename)
        if record.kind not in _HOLDS_DOCUMENTS:
            raise _NothingError("not_a_document")
        if not record.length:
            raise _NothingError("empty_record")
        try:
            return self._row(record)
        except RowError as error:
            return {"text": error}

    def _row(self, record: Record) -> dict[str, object]:
        if record.headers.get("warc-segment-number"):
            raise RowError("segmented_record", "the record is one part of a document")
        content, payload, kind = self._content(record)
        text = self._text(content, kind, record.where)
        if not text.strip():
            raise _NothingError("no_text_found")
        return {
            "text": text,
            "id": _payload_digest(record, payload),
            "created": record.headers.get("warc-date"),
            **self._metadata(record, media_type(kind)),
        }

    def _content(self, record: Record) -> tuple[bytes, bytes, str]:
        """Returns the content of a record, its payload as it was sent, and the type of the content."""
        own = record.headers.get("content-type", "")
        if record.kind != "response":
            kind = own or ("text/plain" if record.kind == "conversion" else "")
            _require_textual(kind)
            block = record.block(self._limits.line_bytes)
            return block, block, kind
        if media_type(own) != "application/http":
            raise _NothingError("not_text")
        response = parse_response(record.block(self._limits.line_bytes))
        if not 200 <= response.status < 300:
            raise _NothingError("http_status")
        identified = record.headers.get("warc-identified-payload-type", "")
        kind = response.headers.get("content-type", "") or identified
        _require_textual(kind)
        _require_identified(identified, kind)
        content = body(response, self._limits, cut="warc-truncated" in record.headers)
        return content, response.payload, kind

    def _text(self, content: bytes, kind: str, where: str) -> str:
        told = media_type(kind)
        if found := binary_kind(content):
            raise _NothingError("binary_content", f"begins like {found}, and is called {told}")
        is_html = told in _HTML
        page = read(content, charset_of(kind), is_html=is_html)
        _require_characters(page, content)
        self._counts[REPLACED] += page.replaced
        self._counts[GUESSED] += page.guessed
        if not is_html:
            return page.text
        try:
            return main_text(page.text, self._extract(where))
        except StorageError as error:
            raise StorageError(f"{where}: {error}") from error

    def _extract(self, where: str) -> Extract:
        if self._how is None:
            valid = "combined (extra web), trafilatura, resiliparse, or module:function of your own"
            raise ConfigError(f"{where}: holds HTML, and its source has no `extractor`; valid: {valid}")
        return extractor(self._how)

    def _metadata(self, record: Record, kind: str) -> dict[str, object]:
        url = record.headers.get("warc-target-uri", "").strip("<>")
        values: dict[str, object] = {
            "warc_url": url,
            "url": url.split("//", 1)[-1],
            "warc_date": record.headers.get("warc-date", ""),
            "warc_filename": self._filename,
            "content_type": kind,
            "uncompressed_offset": record.offset,
        }
        cut = record.headers.get("warc-truncated")
        return {**values, "warc_truncated": cut} if cut else values


def _require_textual(kind: str) -> None:
    if media_type(kind) not in _TEXTUAL:
        raise _NothingError("not_text")


def _require_identified(identified: str, kind: str) -> None:
    """Raises `_NothingError` if the crawler identified a payload as no text, whatever type its server sent."""
    family, _, subtype = media_type(identified).partition("/")
    if family in ("", "text", "message") or subtype.endswith(("+xml", "+json")) or "/" not in identified:
        return
    if family != "application" or subtype not in _TEXT_LIKE:
        detail = f"identified as {media_type(identified)[:80]}, and is called {media_type(kind)}"
        raise _NothingError("identified_otherwise", detail)


def _require_characters(page: Read, content: bytes) -> None:
    """Raises `_NothingError` for content with too many characters that texts do not have."""
    if page.encoding == "replacement":
        raise _NothingError("undecodable", "is in an encoding that browsers refuse (ISO-2022-CN or -KR, HZ)")
    utf8 = content if page.is_sound and page.encoding == "utf-8" else None
    if share := controls(page.text, sound=page.is_sound, utf8=utf8):
        raise _NothingError("control_characters", f"{share} of its characters are NUL or control characters")
    if share := replacements(page.text, sound=page.is_sound):
        raise _NothingError("undecodable", f"{share} of its characters are U+FFFD, read as {page.encoding}")


def _payload_digest(record: Record, payload: bytes) -> str:
    """Returns the record's payload digest, or computes SHA-1 in base 32 as crawlers do."""
    given = record.headers.get("warc-payload-digest", "").partition(":")[2].strip()
    digest = given or base64.b32encode(hashlib.sha1(payload, usedforsecurity=False).digest()).decode()
    return digest.lower()
