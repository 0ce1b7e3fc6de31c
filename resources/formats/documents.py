"""The document: the one row type that flows from the readers to the token shards (Dolma schema)."""

import hashlib

import msgspec

DOCUMENT_COLUMNS = {
    "id": "string: as given, or made from source, file and row; given ones may repeat",
    "text": "string: the text, as this asset leaves it",
    "source": "string: the source, as corpus.yaml names it",
    "added": "string: when it was added to the raw data, if that is given",
    "created": "string: when the text was written, if that is given",
    "metadata": "json: everything else that was given with it",
}
NO_METADATA = msgspec.Raw(b"")


class Document(msgspec.Struct, omit_defaults=True):
    """One document, in the field order of the Dolma schema (docs/formats/dolma.md "Documents").

    `text` always encodes to UTF-8 (readers refuse lone surrogates, or leave them for ftfy to repair). `metadata` is a
    JSON object kept as the bytes that were read, so that nothing is lost or reinterpreted; empty means no metadata.
    """

    id: str
    text: str
    source: str
    added: str | None = None
    created: str | None = None
    metadata: msgspec.Raw = NO_METADATA


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Document)


def encode_document(document: Document) -> bytes:
    """Returns a document as one JSON line, newline included, without the keys that have no value."""
    return _ENCODER.encode(document) + b"\n"


def decode_document(line: bytes) -> Document:
    """Returns the document of a JSON line; raises `msgspec.DecodeError` for anything that is not a document."""
    return _DECODER.decode(line)


def text_digest(text: str) -> tuple[int, bytes]:
    """Returns the number of UTF-8 bytes of a text, and their SHA-256 (32 bytes).

    Equal digests mean equal texts in the whole project.
    """
    encoded = text.encode()
    return len(encoded), encoded_digest(encoded)


def encoded_digest(encoded: bytes) -> bytes:
    """Returns the digest of a text that is already UTF-8."""
    return hashlib.sha256(encoded).digest()
