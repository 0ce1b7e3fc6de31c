"""E-mail addresses, phone numbers and IPv4 addresses as the Dolma toolkit finds them (docs/formats/dolma.md "PII")."""

from collections.abc import Iterator

from corpus_assets.attributes.characters import character_flags, codes
from corpus_assets.attributes.units import Positions, words
from resources.documents.tagger import Spans, Text
from resources.formats.attributes import Span

EMAIL, PHONE, ADDRESS = "EMAIL_ADDRESS", "PHONE_NUMBER", "IP_ADDRESS"
WINDOW = 100
NOT_NUMBERS = ("isbn", "doi", "#")
MOST_QUESTION_MARKS = 10_000
NO_TEXT = -1.0


def _addresses(text: Text) -> list[Span]:
    from corpus_assets.attributes.kernels.pii import find_addresses

    return _found(*find_addresses(text.once(codes)))


def _phones(text: Text, by_paragraph: bool) -> list[Span]:
    from corpus_assets.attributes.kernels.pii import find_phones

    return _found(*find_phones(text.once(codes), character_flags(), by_paragraph))


def _found(starts: Positions, ends: Positions) -> list[Span]:
    return [(start, end, 1.0) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def _emails(text: Text, start: int, stop: int) -> Iterator[tuple[int, int, str]]:
    """Yields beginning and end of each match in a part of the text, and the address in it."""
    from corpus_assets.attributes.kernels.pii import find_emails

    for begin, end, first, last in find_emails(text.once(codes), character_flags(), start, stop).tolist():
        yield begin, end, text.string[first:last]


def _whole_text(text: Text) -> dict[str, list[Span]]:
    """Returns the matches of the expressions in the whole text that are addresses or numbers."""
    string = text.string
    found = {
        EMAIL: [(s, e, 1.0) for s, e, _ in _emails(text, 0, len(string)) if is_email(*string[s:e].split("@")[:2])],
        PHONE: [span for span in _phones(text, by_paragraph=False) if is_number(string, span)],
        ADDRESS: [span for span in text.once(_addresses) if is_number(string, span)],
    }
    return {kind: spans for kind, spans in found.items() if spans}


def is_email(user: str, domain: str) -> bool:
    """Returns whether an address has a dot in its domain, and more than a parenthesis before it."""
    return user.strip() != "(" and "." in domain


def is_number(string: str, span: Span) -> bool:
    """Returns whether no word near a number marks it as that of a book, an article or an issue."""
    around = string[max(0, span[0] - WINDOW) : span[1] + WINDOW]
    return not any(word in around for word in NOT_NUMBERS)


def pii_regex(text: Text) -> Spans:
    """Returns the matches in the whole text, and their number per word."""
    found = text.once(_whole_text)
    count = len(text.once(words).starts)
    per_word = sum(map(len, found.values())) / count if count else NO_TEXT
    return {**found, "doc": text.whole(per_word)}


def pii_regex_of_words(text: Text) -> Spans:
    """Returns the same; `ZeroDivisionError` for a text without words, as in the toolkit."""
    _require_words(text)
    return text.once(pii_regex)


def pii_regex_with_counts(text: Text) -> Spans:
    """Returns the same, and their number; `ZeroDivisionError` for a text without words, as in the toolkit."""
    _require_words(text)
    count = sum(map(len, text.once(_whole_text).values()))
    return {**text.once(pii_regex), "doc_count": text.whole(float(count))}


def _require_words(text: Text) -> None:
    if not len(text.once(words).starts):
        raise ZeroDivisionError("a text without words; valid: without compat, or pii_regex_v2")


def _by_paragraph(text: Text) -> dict[str, list[Span]]:
    """Returns the matches of the expressions in each paragraph."""
    if text.string.count("?") > MOST_QUESTION_MARKS:
        return {}
    found = {
        EMAIL: list(_emails_by_paragraph(text)),
        PHONE: _phones(text, by_paragraph=True),
        ADDRESS: text.once(_addresses),
    }
    return {kind: spans for kind, spans in found.items() if spans}


def _emails_by_paragraph(text: Text) -> Iterator[Span]:
    string, at = text.string, text.string.find("@")
    while at >= 0:
        start, newline = string.rfind("\n", 0, at) + 1, string.find("\n", at)
        stop = newline + 1 if newline >= 0 else len(string)
        for begin, end, address in _emails(text, start, stop):
            if is_email(*address.split("@", 1)):
                yield begin, end, 1.0
        at = string.find("@", stop)


def pii_regex_with_counts_fast(text: Text) -> Spans:
    """Returns the matches in each paragraph, their number, and their share of the text plus 1."""
    found = text.once(_by_paragraph)
    count = sum(map(len, found.values()))
    covered = sum(end - start for spans in found.values() for start, end, _ in spans)
    share = (covered + len(text.string)) / len(text.string) if text.string else NO_TEXT
    return {**found, "doc_count": text.whole(float(count)), "doc_frac": text.whole(share)}
