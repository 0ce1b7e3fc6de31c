"""One label per document, its language and script, by a fastText model (schemes.py)."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from corpus_assets.attributes.taggers.fasttext import model_of, predict
from corpus_assets.attributes.taggers.labels.schemes import UNKNOWN, mapper
from resources.documents.tagger import Spans, Tagger, Text
from resources.errors import BadFileError
from resources.outside_files import OutsideFile


class Labelling(NamedTuple):
    """A model, and what makes a label with script of one of its labels and a text."""

    model: Any
    mapped: Callable[[str, str], str]


def labelling_of(files: Sequence[OutsideFile]) -> Labelling:
    """Returns the model of one file; `BadFileError` if it is none, or has labels that are of no known scheme."""
    model = model_of(files)
    try:
        return Labelling(model, mapper(model.get_labels()))
    except ValueError as error:
        raise BadFileError(files[0].name, str(error)) from None


def label_of(string: str, model: Labelling) -> tuple[str, float]:
    """Returns the most probable label of a text and its probability; `und_Zyyy` and 0 if the model gives none."""
    found = predict(model.model, string.replace("\n", " "), 1)
    if not found or not string.strip():
        return UNKNOWN, 0.0
    label, score = found[0]
    return model.mapped(label, string), min(score, 1.0)


def language(text: Text, model: Labelling) -> Spans:
    """Returns the most probable label of the text, and no other type."""
    label, score = label_of(text.string, model)
    return {label: text.whole(score)}


TAGGERS = [
    Tagger(
        "language",
        language,
        version="1",
        gives="by `model` (lid.176, GlotLID, OpenLID or one of your own), the one label of the document, such as "
        "`eng_Latn`, with its probability; `und_Zyyy` if there is none",
        source="ISO 639-3 and 15924, as in GlotLID",
        extra="fasttext",
        wheels=("fasttext-community",),
        files={"model": labelling_of},
    ),
]
