"""Languages of texts and paragraphs, by four libraries (docs/formats/dolma.md "Languages")."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any, cast

from corpus_assets.attributes.taggers.lingua import languages as lingua
from corpus_assets.attributes.units import paragraphs
from resources.documents.tagger import Spans, Tagger, Text
from resources.formats.attributes import Span

Language = tuple[str, float]
Detect = Callable[[str], Sequence[Language]]
ENGLISH = "en"
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def languages(
    text: Text,
    detect: Detect,
    *,
    by_paragraph: bool = False,
    english: bool = False,
    negative: bool = False,
    share: bool = False,
) -> Spans:
    """Returns a span per language, with its probability.

    by_paragraph: of each paragraph that is not blank, not of the text. english: only English, 0 where it was not
    detected. negative: also `not_en`. share: `doc_en`, the mean over all code points of the text.
    """
    found: dict[str, list[Span]] = {}
    for start, end, language, score in _detected(text, detect, by_paragraph, english):
        found.setdefault(language, []).append((start, end, score))
        if negative:
            found.setdefault(f"not_{language}", []).append((start, end, 1.0 - score))
    return {**found, **_share(text, found.get(ENGLISH, []))} if share else found


def types_of(*, english: bool = False, negative: bool = False, share: bool = False, **_: object) -> tuple[str, ...]:
    """Returns the types that `languages` gives with these options; empty if any language is possible."""
    return (ENGLISH, *(["not_en"] * negative), *(["doc_en", "doc_not_en"] * share)) if english else ()


def _detected(text: Text, detect: Detect, by_paragraph: bool, english: bool) -> Iterator[tuple[int, int, str, float]]:
    for start, end in _parts(text) if by_paragraph else [(0, len(text.string))]:
        detected: Iterable[Language] = detect(text.string[start:end])
        if english:
            detected = [one for one in detected if one[0] == ENGLISH] or [(ENGLISH, 0.0)]
        for language, score in detected:
            yield start, end, language, score


def _parts(text: Text) -> list[tuple[int, int]]:
    found = text.once(paragraphs)
    return list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))


def _share(text: Text, spans: Iterable[Span]) -> Spans:
    size = len(text.string)
    share = sum((end - start) * score for start, end, score in spans) / size if size else 0.0
    return {"doc_en": text.whole(share), "doc_not_en": text.whole(1.0 - share if size else 0.0)}


def likely(string: str, detect: Detect) -> list[Language]:
    """Returns the languages with a probability over 0.01, rounded to two digits."""
    return [(language, round(score, 2)) for language, score in detect(string) if score > 0.01]


def cld2(string: str) -> list[Language]:
    """Returns up to three languages by code; none if the library reports an unreliable result."""
    import pycld2

    try:
        reliable, _, found = pycld2.detect(string)
    except pycld2.error:  # The library refuses characters that are not printable.
        try:
            reliable, _, found = pycld2.detect(_UNPRINTABLE.sub(" ", string))
        except pycld2.error:
            return []
    return [(code, percent / 100.0) for _, code, percent, _ in found if reliable and code != "un"]


def cld2_of_dolma(string: str) -> list[Language]:
    """Returns the same by the first two letters of a language's name, as in the toolkit."""
    import pycld2
    from anyascii import anyascii

    reliable, found = False, cast(Sequence[tuple[str, str, int, float]], ())
    for changed in (str, anyascii, partial(_UNPRINTABLE.sub, "")):
        try:
            reliable, _, found = pycld2.detect(changed(string))
            break
        except pycld2.error:
            continue
    return [(name[:2].lower(), percent / 100.0) for name, _, percent, _ in found if reliable]


@cache
def _cld3() -> Any:
    import gcld3

    return gcld3.NNetLanguageIdentifier(min_num_bytes=0, max_num_bytes=1000)


def cld3(string: str) -> list[Language]:
    """Returns the most probable language; none for a text without letters."""
    found = _cld3().FindLanguage(string)
    return [] if found.language == "und" else [(found.language, float(found.probability))]


@cache
def _langdetect() -> Any:
    from langdetect import PROFILES_DIRECTORY, DetectorFactory

    factory = DetectorFactory()
    factory.load_profile(PROFILES_DIRECTORY)
    factory.set_seed(0)
    return factory


def langdetect(string: str) -> list[Language]:
    """Returns languages, the most probable first; none for a text without letters."""
    from langdetect import LangDetectException

    detector = _langdetect().create()
    detector.append(string)
    try:
        return [(one.lang.lower(), float(one.prob)) for one in detector.get_probabilities()]
    except LangDetectException:
        return []


def lingua_likely(string: str) -> list[Language]:
    """Returns the languages with a probability over 0.01."""
    return likely(string, lingua)


ALL = "each language by its code, with its probability"
WHETHER_ENGLISH = "`en`: probability that it is English, 0 if it was not detected"
BOTH = f"{WHETHER_ENGLISH}; `not_en`: the rest"
OF_PARAGRAPHS = "of each paragraph that is not blank: "
SHARES = "; `doc_en`, `doc_not_en`: their means over the text"

_CLD2 = {"source": "Compact Language Detector 2, as in Dolma", "extra": "cld2", "wheels": ("pycld2", "anyascii")}
_CLD3 = {"source": "Compact Language Detector 3, as in Dolma", "extra": "cld3", "wheels": ("cld3-py",)}
_LANGDETECT = {"source": "langdetect, as in Dolma", "extra": "langdetect", "wheels": ("langdetect",)}
_LINGUA: dict[str, Any] = {
    **{"source": "lingua, as in Dolma", "extra": "lingua", "wheels": ("lingua-language-detector",)},
    "version": "2",
}


def _tagger(name: str, detect: Detect, gives: str, library: dict[str, Any], **options: Any) -> Tagger:
    tag = partial(languages, detect=detect, **options)
    dolma = partial(languages, detect=cld2_of_dolma, **options) if detect is cld2 else None
    return Tagger(name, tag, gives=gives, types=types_of(**options), dolma=dolma, **{"version": "1", **library})


_PARTS: dict[str, Any] = {"by_paragraph": True}
_ENGLISH: dict[str, Any] = {"english": True, "negative": True}
TAGGERS = [
    _tagger("cld2_doc_v2", cld2, ALL, _CLD2),
    _tagger("cld2_paragraph_v2", cld2, OF_PARAGRAPHS + ALL, _CLD2, **_PARTS),
    _tagger("cld2_en_doc_v2", cld2, BOTH, _CLD2, **_ENGLISH),
    _tagger("cld2_en_paragraph_v2", cld2, OF_PARAGRAPHS + BOTH, _CLD2, **_ENGLISH, **_PARTS),
    _tagger(
        "cld2_en_paragraph_with_doc_score_v2",
        cld2,
        OF_PARAGRAPHS + BOTH + SHARES,
        _CLD2,
        share=True,
        **_ENGLISH,
        **_PARTS,
    ),
    _tagger("cld3_en_doc_v2", cld3, BOTH, _CLD3, **_ENGLISH),
    _tagger("cld3_en_paragraph_v2", cld3, OF_PARAGRAPHS + BOTH, _CLD3, **_ENGLISH, **_PARTS),
    _tagger(
        "cld3_en_paragraph_with_doc_score_v2",
        cld3,
        OF_PARAGRAPHS + BOTH + SHARES,
        _CLD3,
        share=True,
        **_ENGLISH,
        **_PARTS,
    ),
    _tagger("langdetect_doc_v1", langdetect, ALL, _LANGDETECT),
    _tagger("langdetect_doc_en_v1", langdetect, BOTH, _LANGDETECT, **_ENGLISH),
    _tagger("langdetect_paragraph_v1", langdetect, OF_PARAGRAPHS + ALL, _LANGDETECT, **_PARTS),
    _tagger("langdetect_en_paragraph_v1", langdetect, OF_PARAGRAPHS + BOTH, _LANGDETECT, **_ENGLISH, **_PARTS),
    _tagger("lingua_doc_v1", lingua, ALL, _LINGUA),
    _tagger("lingua_1e2", lingua_likely, f"{ALL}, those over 0.01 in two digits", _LINGUA),
    _tagger("lingua_doc_en_v1", lingua, BOTH, _LINGUA, **_ENGLISH),
    _tagger("lingua_en_only_v1", lingua, WHETHER_ENGLISH, _LINGUA, english=True),
    _tagger("lingua_par_v1", lingua, OF_PARAGRAPHS + ALL, _LINGUA, **_PARTS),
    _tagger("lingua_en_par_v1", lingua, OF_PARAGRAPHS + BOTH, _LINGUA, **_ENGLISH, **_PARTS),
]
