"""The keys that can name a document: its id, (source, id), its URLs, and digests of its text."""

import hashlib
import re
import string
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import quote, urlsplit

import msgspec

from corpus_assets.raw.rows.json_values import lift
from resources.formats.documents import Document

ID, PAIR, URL, DIGEST = "id", "pair", "url", "sha256"
KINDS: Final = (ID, PAIR, URL, DIGEST)

_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_AFTER_HOST: Final = re.compile(r"(?::(?:80|443)?|[.\s])+$")
"""What changes no host: a port that is usual or missing, a dot at its end."""
_SCHEME: Final = re.compile(r"\A[a-z][a-z0-9+.-]*:(?=//)", re.IGNORECASE | re.ASCII)
"""At the beginning alone: the path of an archived page has a URL of its own."""
_ESCAPE: Final = re.compile("(?<!%)(?<!%[0-9A-Fa-f])%([0-9A-Fa-f]{2})")
"""Not behind a half one, with which its character would make another."""
_UNRESERVED: Final = frozenset(string.ascii_letters + string.digits + "-._~")
"""Characters that mean the same whether they are escaped or not (RFC 3986, section 2.3)."""
_SAFE: Final = string.punctuation
_STRING: Final = msgspec.json.Decoder(str)


def key_of(kind: str, value: str) -> bytes:
    """Returns the key of a value: 16 bytes of BLAKE2b, different for different values."""
    content = value.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=16, person=kind.encode()).digest()


def pair_of(source: str, identifier: str) -> str:
    """Returns source and id as one value."""
    return f"{source}\t{identifier}"


def plain_url(url: str) -> str:
    """Returns a URL in the form for comparisons, which is the same for all spellings that a browser takes for one.

    Without scheme, user, usual port, fragment, empty query and a slash at its end; the host in small letters and not in
    Punycode, without a dot at its end; a path without dot segments, and only what has to be escaped is.
    """
    rest = _SCHEME.sub("", url.strip().partition("#")[0], count=1).removeprefix("//")
    try:
        host = urlsplit(f"//{rest}").netloc
    except ValueError:  # invalid brackets; the URL is compared unchanged
        return rest.strip().rstrip("/ ")
    path, _, query = rest[len(host) :].partition("?")
    if "/." in path:
        path = _without_dots(path)
    query = query.rstrip("/")
    return f"{_plain_host(host)}{_escaped(path)}{'?' if query else ''}{_escaped(query)}".rstrip("/")


def _plain_host(host: str) -> str:
    name = _AFTER_HOST.sub("", host.rpartition("@")[2].lower()).lstrip()
    if name.isascii() and "xn--" not in name:
        return name
    return unicodedata.normalize("NFC", ".".join(map(_unicode, name.split(".")))).lower()


def _unicode(label: str) -> str:
    """Returns a part of a host's name, which may be in Punycode (RFC 3492)."""
    try:
        return label[4:].encode("ascii").decode("punycode") if label.startswith("xn--") else label
    except UnicodeError:
        return label


def _without_dots(path: str) -> str:
    """Returns a path without `.` and `..` (RFC 3986, section 5.2.4)."""
    kept = list[str]()
    for part in path.split("/"):
        if part == "..":
            del kept[max(1, len(kept) - 1) :]
        elif part != ".":
            kept.append(part)
    return "/".join(kept)


def _escaped(part: str) -> str:
    """Returns a path or query in which exactly what is no printable ASCII, and what was escaped of it, is escaped."""
    if "%" in part:
        part = _ESCAPE.sub(_escape, part)
    return quote(part, _SAFE, errors="surrogatepass")


def _escape(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def digest_of(text: str) -> str:
    """Returns the SHA-256 of a text in UTF-8, as 64 small hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def keys_of(document: Document, texts: Sequence[str], url_keys: Sequence[str]) -> Iterator[bytes]:
    """Yields the keys of a document. texts: its text in each form in which a digest may be given."""
    yield key_of(ID, document.id)
    yield key_of(PAIR, pair_of(document.source, document.id))
    for url in dict.fromkeys(urls_of(document, url_keys)):
        yield key_of(URL, url)
    for text in dict.fromkeys(texts):
        yield key_of(DIGEST, digest_of(text))


def urls_of(document: Document, url_keys: Sequence[str]) -> Iterator[str]:
    """Yields the URLs in a document's metadata, in the form in which they are compared; dots lead into objects."""
    fields = _url_fields(document, url_keys)
    for key in url_keys:
        value = bytes(fields.get(key, b""))
        if value.startswith(b'"'):
            yield plain_url(_STRING.decode(value))


def keys_with_url(document: Document, url_keys: Sequence[str]) -> list[str]:
    """Returns those of the keys under which a document's metadata has a URL."""
    fields = _url_fields(document, url_keys)
    return [key for key in url_keys if bytes(fields.get(key, b"")).startswith(b'"')]


def names_of_metadata(document: Document) -> list[str]:
    """Returns the keys of a document's metadata."""
    metadata = bytes(document.metadata)
    return list(_FIELDS.decode(metadata)) if metadata else []


def _url_fields(document: Document, url_keys: Sequence[str]) -> Mapping[str, msgspec.Raw]:
    """Returns a document's metadata, with those of the keys that have dots at its top.

    Empty if it certainly has none of the keys, which is cheap to find out.
    """
    metadata = bytes(document.metadata)
    if not any(f'{key.rpartition(".")[2]}"'.encode() in metadata or b"\\" in metadata for key in url_keys):
        return {}
    fields = _FIELDS.decode(metadata)
    lift(fields, [key for key in url_keys if "." in key])
    return fields
