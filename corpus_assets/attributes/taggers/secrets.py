"""Keys and passwords in source code, as detect-secrets finds them (docs/formats/dolma.md "Code")."""

from collections.abc import Iterator

from resources.formats.attributes import Span
from resources.tagger import Spans, Tagger, Text

_NAME = "code_str.yml"
_NO_TEXT = -1.0


def code_secrets(text: Text) -> Spans:
    """Returns a span for each secret, and how many there are per word."""
    found: dict[str, list[Span]] = {}
    for kind, start, end in _secrets(text.string):
        found.setdefault(kind, []).append((start, end, 1.0))
    words = len(text.string.split())
    return {**found, "doc": text.whole(sum(map(len, found.values())) / words if words else _NO_TEXT)}


def code_secrets_of_dolma(text: Text) -> Spans:
    """Returns the same, each where its line first occurs in the text, as in the toolkit."""
    found: dict[str, list[Span]] = {}
    for kind, start, end in _secrets(text.string, of_dolma=True):
        found.setdefault(kind, []).append((start, end, 1.0))
    words = len(text.string.split())
    return {**found, "doc": text.whole(sum(map(len, found.values())) / words if words else _NO_TEXT)}


def _secrets(string: str, *, of_dolma: bool = False) -> Iterator[tuple[str, int, int]]:
    """Yields kind, beginning and end of each secret that the library finds, in the order of its collection."""
    from detect_secrets.core.scan import _process_line_based_plugins
    from detect_secrets.core.secrets_collection import SecretsCollection
    from detect_secrets.settings import default_settings

    lines = string.splitlines()
    starts = _starts(string)
    collection = SecretsCollection()
    with default_settings():
        for secret in _process_line_based_plugins(lines=list(enumerate(lines, start=1)), filename=_NAME):
            collection[_NAME].add(secret)
    for _, secret in collection:
        row, value = secret.line_number - 1, secret.secret_value or ""
        line = string.find(lines[row]) if of_dolma else starts[row]
        start = line + lines[row].find(value)
        yield f"SECRET_{secret.type.replace(' ', '_')}", start, start + len(value)


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
        version="1",
        gives="`SECRET_KIND`: 1 for each secret, such as `SECRET_AWS_Access_Key`; `doc`: how many per word, -1 without "
        "words",
        source="detect-secrets, as in Dolma",
        dolma=code_secrets_of_dolma,
        extra="code",
        wheels=("detect-secrets",),
    )
]
