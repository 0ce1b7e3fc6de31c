"""E-mail addresses, phone numbers and IP addresses as Presidio finds them (docs/formats/dolma.md "PII")."""

from collections.abc import Callable, Sequence
from typing import Any

from corpus_assets.attributes.personal.phones import is_of_book
from corpus_assets.attributes.taggers.personal.pii import TYPES
from corpus_assets.attributes.taggers.personal.pii_of_dolma import ADDRESS, EMAIL, NO_TEXT, PHONE, is_email, is_number
from resources.documents.tagger import Spans, Tagger, Text
from resources.errors import BadFileError, raise_machine_fault
from resources.formats.attributes import Span
from resources.outside_files import OutsideFile

_LANGUAGE = "en"
_LONGEST = 1 << 40


def analyzer_of(files: Sequence[OutsideFile]) -> Any:
    """Returns the analyzer for the folder of a spaCy pipeline, offline; `BadFileError` if it is none.

    `StorageError` if the machine cannot read it now.
    """
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine
    from presidio_analyzer.predefined_recognizers import EmailRecognizer, IpRecognizer, PhoneRecognizer
    from tldextract import TLDExtract

    domains = TLDExtract(suffix_list_urls=(), cache_dir=None)

    class OfflineEmailRecognizer(EmailRecognizer):  # type: ignore[misc]
        """Uses the list of domains that its library contains; the original downloads one."""

        def validate_result(self, pattern_text: str) -> bool:
            return bool(domains(pattern_text).fqdn)

    try:
        with files[0].copied() as path:
            engine = SpacyNlpEngine(models=[{"lang_code": _LANGUAGE, "model_name": path}])
            engine.load()
    except (OSError, ValueError) as error:
        raise_machine_fault(files[0].name, error)
        raise BadFileError(files[0].name, f"no folder of a spaCy pipeline: {error}") from None
    engine.nlp[_LANGUAGE].max_length = _LONGEST
    registry = RecognizerRegistry([OfflineEmailRecognizer(), PhoneRecognizer(), IpRecognizer()])
    return AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=[_LANGUAGE])


def pii_presidio(text: Text, model: Any) -> Spans:
    """Returns Presidio's findings, without numbers of books, and their number per word."""
    return _presidio(text, model, _is_phone)


def _presidio(text: Text, model: Any, counts: Callable[[str, str, Span], bool]) -> Spans:
    string = text.string
    found: dict[str, list[Span]] = {}
    results = model.analyze(text=string, entities=[EMAIL, PHONE, ADDRESS], language=_LANGUAGE)
    for result in sorted(results, key=lambda result: (result.start, result.end)):
        span = (result.start, result.end, 1.0)
        if counts(string, result.entity_type, span):
            found.setdefault(result.entity_type, []).append(span)
    words = len(string.split())
    return {**found, "doc": text.whole(sum(map(len, found.values())) / words if words else NO_TEXT)}


def _is_phone(string: str, kind: str, span: Span) -> bool:
    return kind != PHONE or not is_of_book(string, span[:2])


def _counts_in_dolma(string: str, kind: str, span: Span) -> bool:
    if kind == EMAIL:
        return is_email(*string[span[0] : span[1]].split("@")[:2])
    return is_number(string, span)


def pii_presidio_of_dolma(text: Text, model: Any) -> Spans:
    """Returns the part of them that the toolkit keeps; `ZeroDivisionError` for a text without words, as there."""
    if not text.string.split():
        raise ZeroDivisionError("a text without words; valid: without compat")
    return _presidio(text, model, _counts_in_dolma)


TAGGERS = [
    Tagger(
        "pii_presidio_v1",
        pii_presidio,
        version="2",
        types=TYPES,
        gives=f"`{EMAIL}`, `{PHONE}`, `{ADDRESS}`: 1 for each; `doc`: how many per word, -1 without words; `model` is "
        "the folder of a spaCy pipeline",
        source="Presidio, as in Dolma",
        dolma=pii_presidio_of_dolma,
        dolma_version="1",
        extra="presidio",
        wheels=("presidio-analyzer", "spacy", "phonenumbers", "tldextract"),
        files={"model": analyzer_of},
    )
]
