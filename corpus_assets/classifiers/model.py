"""A trained classifier in one file: a line that names the format, a line of JSON, and weights or fastText's model."""

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.fasttext_layout import SUPERVISED, ModelError, check_layout, read_arguments
from corpus_assets.classifiers import linear
from corpus_assets.classifiers.calibration import Calibration
from corpus_assets.classifiers.figures import Figures
from resources.documents.fasttext_models import LABEL, in_line, opened_model
from resources.documents.tagger import Spans, Text
from resources.errors import BadFileError
from resources.hashing import content_digest

MAGIC: Final = b"corpus-assets classifier 1\n"
POSITIVE, NEGATIVE = "positive", "negative"
_LONGEST_HEAD = 16 << 20
_LEAST = 1e-6


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file says of itself.

    characters, ngrams, buckets: as they are configured. examples: how many of each class were trained on, calibrated
    on and held out. size, digest: of what follows.
    """

    kind: Literal["linear", "fasttext"]
    characters: int
    ngrams: int
    buckets: int
    calibration: Calibration
    figures: Figures
    examples: dict[str, dict[str, int]]
    size: int = 0
    digest: str = ""


def encoded(head: Head, body: bytes) -> bytes:
    """Returns a classifier as the bytes of its file. head: its `size` and `digest` are set here."""
    head = msgspec.structs.replace(head, size=len(body), digest=content_digest(body))
    return MAGIC + msgspec.json.encode(head) + b"\n" + body


@dataclass(frozen=True)
class Model:
    """A classifier that gives scores. body: weights, or a model of fastText."""

    head: Head
    body: Any

    def log_odds(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """Returns the score of each text before calibration."""
        return raw_scores(self.head.kind, self.body, self._cut(texts), self.head.ngrams)

    def probabilities(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Returns the probability of each text that it is a positive one."""
        return self.head.calibration.probabilities(self.log_odds(texts))

    def _cut(self, texts: Iterable[str]) -> Iterator[str]:
        return (text[: self.head.characters] for text in texts)


def raw_scores(kind: str, body: Any, texts: Iterable[str], ngrams: int) -> NDArray[np.float64]:
    """Returns log-odds of texts that are already cut."""
    if kind == "linear":
        return linear.scores(body, texts, ngrams)
    return np.array([_by_fasttext(body, text) for text in texts], np.float64)


def _by_fasttext(model: Any, text: str) -> float:
    labels, shares = model.predict(in_line(text), k=2)
    found = dict(zip(labels, shares, strict=True))
    share = min(max(float(found.get(f"{LABEL}{POSITIVE}", 0.0)), _LEAST), 1 - _LEAST)
    return math.log(share / (1 - share))


def decoded(name: str, content: bytes) -> Model:
    """Returns the classifier in a file; `BadFileError` says what is wrong with it. name: of the file, for messages."""
    if not content.startswith(MAGIC):
        raise BadFileError(name, f"is no classifier: it does not begin with {MAGIC.decode().strip()!r}")
    end = content.find(b"\n", len(MAGIC), len(MAGIC) + _LONGEST_HEAD)
    try:
        head = msgspec.json.decode(content[len(MAGIC) : max(end, 0)], type=Head)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadFileError(name, f"is damaged: its second line is no head of a classifier: {error}") from None
    body = content[end + 1 :]
    if (len(body), content_digest(body)) != (head.size, head.digest):
        raise BadFileError(name, f"is damaged: {len(body)} bytes follow its head, which says {head.size}, or others")
    try:
        return Model(head, opened_body(head.kind, body, head.buckets))
    except ValueError as error:
        raise BadFileError(name, f"is damaged: {error}") from None


def opened_body(kind: str, body: bytes, buckets: int) -> Any:
    """Returns weights, or a model of fastText, from bytes; `ValueError` if they are none."""
    if kind == "linear":
        return linear.weights_of(body, buckets)
    stream = io.BytesIO(body)
    if read_arguments(stream).model != SUPERVISED:
        raise ModelError("it is no model with labels")
    stream.seek(0)
    check_layout(stream)
    model = opened_model(body)
    if sorted(model.labels) != sorted((f"{LABEL}{POSITIVE}", f"{LABEL}{NEGATIVE}")):
        raise ModelError(f"its labels are {', '.join(model.labels)}; valid: {POSITIVE} and {NEGATIVE}")
    return model


def score(text: Text, model: Model) -> Spans:
    """Returns the probability that a text is a positive one."""
    return {"score": text.whole(float(model.probabilities([text.string])[0]))}
