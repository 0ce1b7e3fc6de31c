"""Classifiers by fastText, with a local model (docs/formats/dolma.md "Models")."""

import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from corpus_assets.attributes.fasttext_layout import SUPERVISED, ModelError, check_layout, read_arguments
from corpus_assets.attributes.taggers.languages import (
    ALL,
    BOTH,
    OF_PARAGRAPHS,
    SHARES,
    WHETHER_ENGLISH,
    Language,
    languages,
    likely,
    types_of,
)
from corpus_assets.attributes.units import paragraphs
from resources.documents.fasttext_models import UNOPENED
from resources.documents.tagger import Spans, Tagger, Text
from resources.errors import BadFileError, StorageError
from resources.formats.attributes import Span
from resources.outside_files import OutsideFile

LABEL = "__label__"
_WHITESPACE = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_LEAST_LINE = 4
_OTHER = "other"
_COMPARED = ("code", "prose")


def model_of(files: Sequence[OutsideFile]) -> Any:
    """Returns the model of one file; `BadFileError` if it is none, or no classifier.

    A layout that is right takes no more memory than the file, so that `MemoryError` is of the machine.
    """
    from fasttext.FastText import _FastText

    file = files[0]
    try:
        with file.open() as stream:
            if read_arguments(stream).model != SUPERVISED:
                raise ModelError("a model of word vectors, which classifies nothing; valid: one trained with labels")
            stream.seek(0)
            check_layout(stream)
    except ModelError as error:
        raise BadFileError(file.name, str(error)) from None
    try:
        with file.copied() as path:
            return _FastText(path)
    except (ValueError, RuntimeError) as error:
        if UNOPENED in str(error):
            raise StorageError(f"{file.name}: fastText cannot open a copy of it now") from None
        raise BadFileError(file.name, f"no model that fastText can read: {error}") from None


def predict(model: Any, line: str, count: int = -1) -> list[Language]:
    """Returns labels and their probabilities, the most probable first. line: without newline. count: -1 for all."""
    labels, scores = model.predict(line, k=count)
    return [(label, float(score)) for label, score in zip(labels, scores, strict=True)]


def _bare(label: str) -> str:
    return label.replace(LABEL, "")


def _line(string: str) -> str:
    return string.replace("\n", " ").strip()


def _detected(string: str, model: Any) -> list[Language]:
    return [(_bare(label), score) for label, score in predict(model, _line(string.lower()))]


def _detected_likely(string: str, model: Any) -> list[Language]:
    return likely(string, partial(_detected, model=model))


def languages_by_model(text: Text, model: Any, *, only_likely: bool = False, **options: bool) -> Spans:
    """Returns languages by a model of them; options as in `languages`."""
    detect = _detected_likely if only_likely else _detected
    return languages(text, partial(detect, model=model), **options)


def _by_type(spans: Iterator[tuple[str, Span]]) -> dict[str, list[Span]]:
    found: dict[str, list[Span]] = {}
    for kind, span in spans:
        found.setdefault(kind, []).append(span)
    return found


def labels_of_text(text: Text, model: Any) -> Spans:
    """Returns every label of the whole text, as the model names it."""
    return {label: text.whole(score) for label, score in predict(model, _line(text.string))}


def labels_of_sentences(text: Text, model: Any) -> Spans:
    """Returns every label of each sentence that blingfire finds, as the model names it."""
    return _by_type(
        (label, (start, end, score))
        for start, end in _sentences(text.string)
        for label, score in predict(model, _line(text.string[start:end]))
    )


def _sentences(string: str) -> list[tuple[int, int]]:
    if not string:
        return []
    from blingfire import text_to_sentences_and_offsets

    _, offsets = text_to_sentences_and_offsets(string)
    return list(offsets)


def bare_labels_of_text(text: Text, model: Any) -> Spans:
    """Returns every label of the whole text, without `__label__`."""
    return {_bare(kind): spans for kind, spans in labels_of_text(text, model).items()}


def bare_labels_of_paragraphs(text: Text, model: Any) -> Spans:
    """Returns every label of each paragraph that is not blank, without `__label__`."""
    found = text.once(paragraphs)
    return _by_type(
        (_bare(label), (start, end, score))
        for start, end in zip(found.starts.tolist(), found.ends.tolist(), strict=True)
        for label, score in predict(model, _line(text.string[start:end]))
    )


def dclm_quality(text: Text, model: Any) -> Spans:
    """Returns the probability that the text is of high quality, as DCLM measures it."""
    ((label, score),) = predict(model, " ".join(text.string.strip().splitlines()), 1)
    score = 1.0 - score if label == f"{LABEL}cc" else score
    return {_bare(label).replace("cc", "score").replace("hq", "score"): text.whole(score)}


def dolma17_quality(text: Text, model: Any) -> Spans:
    """Returns every label of the words of a text; none if it has no words."""
    words = [word for word in _WHITESPACE.split(text.string) if word]
    return {_bare(label): text.whole(score) for label, score in predict(model, " ".join(words))} if words else {}


def dolma17_quality_of_dolma(text: Text, model: Any) -> Spans:
    """Returns the same; `ValueError` for a text without words, as in the toolkit."""
    if not _WHITESPACE.sub("", text.string):
        raise ValueError("a text without words; valid: without compat")
    return dolma17_quality(text, model)


def code_composition(text: Text, model: Any) -> Spans:
    """Returns how many lines have each label, their share and mean entropy, and changes between code and prose."""
    return _composition(text, model, of_dolma=False)


def code_composition_of_dolma(text: Text, model: Any) -> Spans:
    """Returns the same by labels that lack every `_`, `l`, `a`, `b` and `e` at their beginning, as in the toolkit."""
    return _composition(text, model, of_dolma=True)


def _composition(text: Text, model: Any, *, of_dolma: bool) -> Spans:
    entropies: dict[str, list[float]] = {}
    boundaries, before = 0, ""
    for line in filter(None, map(str.strip, text.string.splitlines())):
        found = predict(model, line) if len(line) >= _LEAST_LINE else [(_OTHER, 0.0)]
        label = found[0][0].lstrip(LABEL) if of_dolma and len(line) >= _LEAST_LINE else _bare(found[0][0])
        entropies.setdefault(label, []).append(-sum(p * math.log2(p) for _, p in found if p > 0))
        boundaries += before != label and before in _COMPARED and label in _COMPARED
        before = label
    lines = sum(map(len, entropies.values()))
    spans = {"boundaries": text.whole(float(boundaries))}
    for label, values in entropies.items():
        spans[f"{label}_pct"] = text.whole(round(len(values) / lines, 2))
        spans[label] = text.whole(float(len(values)))
        spans[f"{label}_entropy"] = text.whole(sum(values) / len(values))
    return spans


_SHARED: dict[str, Any] = {
    "version": "1",
    "extra": "fasttext",
    "wheels": ("fasttext-community",),
    "files": {"model": model_of},
}
_SENTENCES: dict[str, Any] = {**_SHARED, "wheels": ("fasttext-community", "blingfire")}
_LABELS = "each label of `model` with its probability"


def _languages(name: str, gives: str, **options: Any) -> Tagger:
    tag = partial(languages_by_model, **options)
    return Tagger(
        name,
        tag,
        types=types_of(**options),
        gives=f"by `model`, {gives}",
        source="fastText lid.176, as in Dolma",
        **_SHARED,
    )


_ENGLISH: dict[str, Any] = {"english": True, "negative": True}
_JIGSAW = "Jigsaw's comments, as in Dolma"
TAGGERS = [
    Tagger("fasttext_doc", bare_labels_of_text, gives=_LABELS, source="a model of your own", **_SHARED),
    Tagger(
        "fasttext_paragraph",
        bare_labels_of_paragraphs,
        gives=OF_PARAGRAPHS + _LABELS,
        source="a model of your own",
        **_SHARED,
    ),
    _languages("ft_lang_id_doc_v1", ALL),
    _languages("ft_lang_id_1e2", f"{ALL}, those over 0.01 in two digits", only_likely=True),
    _languages("ft_lang_id_paragraph_v1", OF_PARAGRAPHS + ALL, by_paragraph=True),
    _languages("ft_lang_id_en_doc_v2", BOTH, **_ENGLISH),
    _languages("ft_lang_id_en_only_v2", WHETHER_ENGLISH, english=True),
    _languages("ft_lang_id_en_paragraph_v2", OF_PARAGRAPHS + BOTH, by_paragraph=True, **_ENGLISH),
    _languages(
        "ft_lang_id_en_paragraph_with_doc_score_v2",
        OF_PARAGRAPHS + BOTH + SHARES,
        by_paragraph=True,
        share=True,
        **_ENGLISH,
    ),
    Tagger("jigsaw_hatespeech_document_v2", labels_of_text, gives=_LABELS, source=_JIGSAW, **_SHARED),
    Tagger(
        "jigsaw_hatespeech_sentence_v2",
        labels_of_sentences,
        gives=f"of each sentence: {_LABELS}",
        source=_JIGSAW,
        **_SENTENCES,
    ),
    Tagger("jigsaw_nsfw_document_v1", labels_of_text, gives=_LABELS, source=_JIGSAW, **_SHARED),
    Tagger(
        "jigsaw_nsfw_sencence_v2",
        labels_of_sentences,
        gives=f"of each sentence: {_LABELS}; the name is spelled as in the toolkit",
        source=_JIGSAW,
        **_SENTENCES,
    ),
    Tagger(
        "dclm-oh-eli5",
        dclm_quality,
        types=("score",),
        gives="`score`: by `model`, the probability of `hq`, 1 less that of `cc`",
        source="DCLM, as in Dolma",
        **_SHARED,
    ),
    Tagger(
        "dolma17-quality",
        dolma17_quality,
        gives=_LABELS,
        source="Dolma 1.7",
        dolma=dolma17_quality_of_dolma,
        **_SHARED,
    ),
    Tagger(
        "code_composition",
        code_composition,
        gives="for each label that `model` gives lines: `LABEL` how many, `LABEL_pct` their share, `LABEL_entropy`; "
        "`boundaries`: changes between code and prose",
        source="Dolma toolkit",
        dolma=code_composition_of_dolma,
        **_SHARED,
    ),
]
