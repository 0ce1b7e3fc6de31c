"""E-mail addresses, phone numbers and IP addresses; with `compat: dolma` as the toolkit finds them."""

from corpus_assets.attributes.personal.emails import emails
from corpus_assets.attributes.personal.ip_addresses import ip_addresses
from corpus_assets.attributes.personal.phones import phones
from corpus_assets.attributes.personal.signs import signs
from corpus_assets.attributes.personal.spans import apart
from corpus_assets.attributes.taggers.personal import pii_of_dolma
from corpus_assets.attributes.taggers.personal.pii_of_dolma import ADDRESS, EMAIL, NO_TEXT, PHONE
from corpus_assets.attributes.units import words
from resources.documents.tagger import Spans, Tagger, Text
from resources.formats.attributes import Span


def _found(text: Text) -> dict[str, list[Span]]:
    """Returns the spans by kind; they overlap only if an IP address is the domain of an e-mail address."""
    string, near = text.string, text.once(signs)
    mail, network = list(emails(string)), list(ip_addresses(string, near))
    numbers = apart(apart(phones(string, near.numbers), mail), network)
    spans = {EMAIL: mail, PHONE: numbers, ADDRESS: network}
    found = {kind: [(start, end, 1.0) for start, end in of_kind] for kind, of_kind in spans.items()}
    return {kind: of_kind for kind, of_kind in found.items() if of_kind}


def _count(text: Text) -> int:
    return sum(map(len, text.once(_found).values()))


def pii_regex(text: Text) -> Spans:
    """Returns the spans, and their number per word."""
    count = len(text.once(words).starts)
    return {**text.once(_found), "doc": text.whole(_count(text) / count if count else NO_TEXT)}


def pii_regex_with_counts(text: Text) -> Spans:
    """Returns the same, and their number."""
    return {**text.once(pii_regex), "doc_count": text.whole(float(_count(text)))}


def pii_regex_with_counts_fast(text: Text) -> Spans:
    """Returns the spans, their number, and their share of the text."""
    found = text.once(_found)
    apart_from = [(start, end) for start, end, _ in found.get(EMAIL, ())]
    others = [(start, end) for kind in (PHONE, ADDRESS) for start, end, _ in found.get(kind, ())]
    covered = sum(end - start for start, end in [*apart_from, *apart(sorted(others), apart_from)])
    share = covered / len(text.string) if text.string else NO_TEXT
    return {**found, "doc_count": text.whole(float(_count(text))), "doc_frac": text.whole(share)}


TYPES = (EMAIL, PHONE, ADDRESS, "doc")
_GIVES = f"`{EMAIL}`, `{PHONE}`, `{ADDRESS}`: 1 for each"
_SOURCE = "Dolma toolkit"
TAGGERS = [
    Tagger(
        "pii_regex_v1",
        pii_regex,
        version="3",
        types=TYPES,
        gives=f"{_GIVES}; `doc`: how many per word, -1 without words",
        source=_SOURCE,
        dolma=pii_of_dolma.pii_regex_of_words,
        dolma_version="1",
    ),
    Tagger(
        "pii_regex_v2",
        pii_regex,
        version="3",
        types=TYPES,
        gives="as `pii_regex_v1`",
        source=_SOURCE,
        dolma=pii_of_dolma.pii_regex,
        dolma_version="1",
    ),
    Tagger(
        "pii_regex_with_counts_v2",
        pii_regex_with_counts,
        version="3",
        types=(*TYPES, "doc_count"),
        gives="as `pii_regex_v1`, and `doc_count`: how many",
        source=_SOURCE,
        dolma=pii_of_dolma.pii_regex_with_counts,
        dolma_version="1",
    ),
    Tagger(
        "pii_regex_with_counts_fast_v2",
        pii_regex_with_counts_fast,
        version="3",
        types=(EMAIL, PHONE, ADDRESS, "doc_count", "doc_frac"),
        gives=f"{_GIVES}; `doc_count`: how many; `doc_frac`: their share of the text",
        source=_SOURCE,
        dolma=pii_of_dolma.pii_regex_with_counts_fast,
        dolma_version="1",
    ),
]
