"""Perplexity by KenLM, and CCNet's buckets of it (Wenzek et al. 2020, section 3.3; cc_net `perplexity.py`)."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

from corpus_assets.attributes.lists import lines_of
from resources.documents.kenlm_models import read_model
from resources.documents.tagger import Spans, Tagger, Text
from resources.errors import BadFileError
from resources.outside_files import OutsideFile

PERPLEXITY, BUCKETS = "perplexity", ("head", "middle", "tail")
_DIGIT = re.compile(r"\d")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f]")
_PUNCTUATION = str.maketrans(
    {
        **dict(zip("，。、∶：？！（）；–━〈〉【】％►～", ",.,::?!();--<>[]%-~", strict=True)),
        **dict.fromkeys("„”“«»１」「《》", '"'),
        **{"´": "'", "’": "'", "—": " - ", "．": ". ", "…": "..."},
    }
)


class Borders(NamedTuple):
    """The perplexities at which middle and tail begin."""

    head: float
    middle: float


def model_of(files: Sequence[OutsideFile]) -> Any:
    """Returns the language model of one file, in ARPA or KenLM's binary form; `BadFileError` if it is none."""
    with files[0].copied() as path:
        return read_model(path, files[0].name)


def pieces_of(files: Sequence[OutsideFile]) -> Any:
    """Returns the SentencePiece model of one file; `BadFileError` if it is none."""
    with files[0].open() as stream:
        return read_pieces(stream.read(), files[0].name)


def read_pieces(content: bytes, name: str) -> Any:
    """Returns the SentencePiece model of some bytes; `BadFileError` if they are none. name: of the file."""
    from sentencepiece import SentencePieceProcessor

    try:
        return SentencePieceProcessor(model_proto=content)
    except (OSError, RuntimeError, ValueError) as error:
        raise BadFileError(name, f"no model of SentencePiece: {error}") from None


def borders_of(files: Sequence[OutsideFile]) -> Borders:
    """Returns the two numbers of a file; `BadFileError` if it has others."""
    file = files[0]
    words = [word for line in lines_of(file) for word in line.split()]
    try:
        head, middle = map(float, words)
    except ValueError:
        raise BadFileError(
            file.name, f"received {' '.join(words)[:60]!r}; valid: two numbers, such as 300 600"
        ) from None
    if not 0 < head < middle < float("inf"):
        raise BadFileError(file.name, f"received {head:g} and {middle:g}; valid: two rising numbers over 0")
    return Borders(head, middle)


def normalized(string: str) -> str:
    """Returns a text as CCNet prepares it: lower case, without accents and control characters, digits as 0."""
    decomposed = unicodedata.normalize("NFD", string.strip().lower())
    bare = "".join(character for character in decomposed if unicodedata.category(character) != "Mn")
    return _UNPRINTABLE.sub("", _DIGIT.sub("0", bare).translate(_PUNCTUATION))


def perplexity_of(model: Any, lines: Sequence[str]) -> float:
    """Returns the perplexity over all words of lines, and an end for each line."""
    length = sum(len(line.split()) + 1 for line in lines)
    exponent = -sum(model.score(line) for line in lines) / length
    return float(round(10.0 ** min(exponent, 300.0), 1))


def perplexity(text: Text, model: Any) -> Spans:
    """Returns the perplexity of the words of the text, line by line."""
    lines = [line for line in text.string.splitlines() if line.strip()]
    return {PERPLEXITY: text.whole(perplexity_of(model, lines))} if lines else {}


def _by_pieces(text: Text, model: Any, tokenizer: Any) -> float | None:
    if not text.string.strip():
        return None
    return perplexity_of(model, [" ".join(tokenizer.encode(normalized(text.string), out_type=str))])


def ccnet_perplexity(text: Text, model: Any, tokenizer: Any) -> Spans:
    """Returns the perplexity of the pieces of the normalized text."""
    found = _by_pieces(text, model, tokenizer)
    return {} if found is None else {PERPLEXITY: text.whole(found)}


def ccnet_bucket(text: Text, model: Any, tokenizer: Any, borders: Borders) -> Spans:
    """Returns the bucket of the text with its perplexity, and no other type."""
    found = _by_pieces(text, model, tokenizer)
    if found is None:
        return {}
    bucket = BUCKETS[(found >= borders.head) + (found >= borders.middle)]
    return {bucket: text.whole(found)}


_KENLM: dict[str, Any] = {"version": "1", "extra": "kenlm", "wheels": ("kenlm",)}
_CCNET: dict[str, Any] = {**_KENLM, "source": "Wenzek et al. 2020 (CCNet)"}
_FILES = {"model": model_of, "tokenizer": pieces_of}
TAGGERS = [
    Tagger(
        "perplexity",
        perplexity,
        types=(PERPLEXITY,),
        gives="`perplexity`: by the KenLM `model` of words, over the lines that are not blank",
        source="Heafield 2011 (KenLM)",
        files={"model": model_of},
        **_KENLM,
    ),
    Tagger(
        "ccnet_perplexity",
        ccnet_perplexity,
        types=(PERPLEXITY,),
        gives="`perplexity`: by the KenLM `model` of the pieces of `tokenizer` (SentencePiece), of the text "
        "in lower case, without accents, digits as 0",
        files=_FILES,
        **_CCNET,
    ),
    Tagger(
        "ccnet_bucket",
        ccnet_bucket,
        types=BUCKETS,
        gives="one of `head`, `middle`, `tail`, with the same perplexity: under the first number in `borders`, "
        "under the second, and others",
        files={**_FILES, "borders": borders_of},
        **_CCNET,
    ),
]
