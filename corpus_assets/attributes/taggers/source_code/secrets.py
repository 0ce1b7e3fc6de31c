"""Keys and passwords in source code, as detect-secrets finds them (docs/formats/dolma.md "Code")."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from resources.documents.tagger import Spans, Tagger, Text
from resources.formats.attributes import Span

_NAME = "code_str.yml"
_NO_TEXT = -1.0


def code_secrets(text: Text) -> Spans:
    """Returns a span for each occurrence of a secret, and their number per word."""
    return _spans(text, _secrets(text.string))


def code_secrets_of_dolma(text: Text) -> Spans:
    """Returns each secret once, where its line first occurs in the text, as in the toolkit."""
    return _spans(text, _secrets_of_dolma(text.string))


def _spans(text: Text, secrets: Iterable[tuple[str, int, int]]) -> Spans:
    found: dict[str, list[Span]] = {}
    for kind, start, end in secrets:
        found.setdefault(f"SECRET_{kind.replace(' ', '_')}", []).append((start, end, 1.0))
    words = len(text.string.split())
    return {**found, "doc": text.whole(sum(map(len, found.values())) / words if words else _NO_TEXT)}


def _reported(lines: list[str]) -> Iterator[Any]:
    """Yields the secrets that the library reports for lines."""
    from detect_secrets.core.scan import _process_line_based_plugins
    from detect_secrets.settings import default_settings

    with default_settings():
        yield from _process_line_based_plugins(lines=list(enumerate(lines, start=1)), filename=_NAME)


def _secrets(string: str) -> Iterator[tuple[str, int, int]]:
    """Yields kind, beginning and end of each occurrence of a secret in its line, or of the whole line."""
    lines, starts = string.splitlines(), _starts(string)
    places = set()
    for secret in _reported(lines):
        row, value = secret.line_number - 1, secret.secret_value or ""
        inside = [match.span() for match in re.finditer(re.escape(value), lines[row])] if value else []
        for start, end in inside or [(0, len(lines[row]))]:
            places.add((starts[row] + start, starts[row] + end, secret.type))
    for start, end, kind in sorted(places):
        yield kind, start, end


def _secrets_of_dolma(string: str) -> Iterator[tuple[str, int, int]]:
    from detect_secrets.core.secrets_collection import SecretsCollection

    lines, collection = string.splitlines(), SecretsCollection()
    for secret in _reported(lines):
        collection[_NAME].add(secret)
    for _, secret in collection:
        line, value = lines[secret.line_number - 1], secret.secret_value or ""
        start = string.find(line) + line.find(value)
        yield secret.type, start, start + len(value)


def _starts(string: str) -> list[int]:
    """Returns where each line of `str.splitlines` begins."""
    starts, position = [], 0
    for line in string.splitlines(keepends=True):
        starts.append(position)
        position += len(line)
    return starts


TAGGERS = [
    Tagger(
        "code_secrets_v1",
        code_secrets,
        version="2",
        gives="`SECRET_KIND`: 1 for each place of a secret, such as `SECRET_AWS_Access_Key`; `doc`: how many per word, "
        "-1 without words",
        source="detect-secrets, as in Dolma",
        dolma=code_secrets_of_dolma,
        dolma_version="1",
        extra="code",
        wheels=("detect-secrets",),
    )
]
