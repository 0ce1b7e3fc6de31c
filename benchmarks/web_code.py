"""Code blocks that extractors keep: `python -m benchmarks.web_code [--quick] [--json]`.

Pages of documentation with code blocks, from Debian packages that apt downloads. The blocks are those that the HTML
parser of Python finds. One is kept if its characters stand in the text in a row, all of them.
"""

import hashlib
import sys
import tempfile
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from benchmarks import real_texts
from benchmarks.printed import printed
from corpus_assets.raw.web.extractors import Extraction, extractor
from resources.errors import ConfigError

OURS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "combined": (("combined",), "text"),
    "combined as Markdown": (("combined",), "markdown"),
    "trafilatura": (("trafilatura",), "text"),
    "trafilatura as Markdown": (("trafilatura",), "markdown"),
    "trafilatura then resiliparse": (("trafilatura", "resiliparse"), "text"),
    "resiliparse": (("resiliparse",), "text"),
    "resiliparse as Markdown": (("resiliparse",), "markdown"),
}
"""Extractors and form of the text."""
LEAST = 200
DOCUMENTATION = ("python3.11-doc", "rust-doc")
PAGES_OF_PACKAGE, QUICK_PAGES, LARGEST = 150, 5, 1_000_000


class _Code(HTMLParser):
    """The texts of the `pre` elements of a page: a line end for each `br`, nothing of buttons."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._pre = self._button = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        if tag == "pre":
            self._pre += 1
            self.found.append("")
        elif self._pre and tag == "br":
            self.found[-1] += "\n"
        self._button += tag == "button"

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre" and self._pre:
            self._pre -= 1
        self._button -= tag == "button" and self._button > 0

    def handle_data(self, data: str) -> None:
        if self._pre and not self._button:
            self.found[-1] += data


def code_of(html: str) -> list[str]:
    """The code blocks of a page; HTML does not count a line end at the beginning of one."""
    parser = _Code()
    parser.feed(html)
    return [code for code in (text.removeprefix("\n") for text in parser.found) if code.strip()]


def documentation(package: str, cache: Path, most: int) -> dict[str, str]:
    """Pages of a package with code blocks, chosen by a hash of their names; none if apt does not have it."""
    try:
        real_texts.unpack(real_texts.download(package, cache), cache / package)
    except real_texts.AbsentError as fault:
        print(f"{package} is left out: {fault}", file=sys.stderr)
        return {}
    found = {}
    files = sorted(
        (path for path in (cache / package).rglob("*.html") if "src" not in path.parts and path.is_file()),
        key=lambda path: hashlib.sha256(str(path.relative_to(cache)).encode()).digest(),
    )
    for path in files:
        html = path.read_text(encoding="utf-8", errors="replace")
        if len(html) < LARGEST and code_of(html):
            found[str(path.relative_to(cache))] = html
        if len(found) >= most:
            break
    return found


def measure(quick: bool) -> dict[str, dict[str, Any]]:
    """By extractor and form the share of code blocks that are kept, package by package."""
    rows: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as place:
        for package in DOCUMENTATION:
            htmls = documentation(package, Path(place), QUICK_PAGES if quick else PAGES_OF_PACKAGE)
            codes = {name: code_of(html) for name, html in htmls.items()}
            total = sum(map(len, codes.values()))
            for name, (names, form) in OURS.items() if total else ():
                try:
                    extract = extractor(Extraction(names, LEAST, form))
                except ConfigError:
                    continue
                texts = {page: extract(html) for page, html in htmls.items()}
                kept = sum(code in texts[page] for page, found in codes.items() for code in found)
                rows.setdefault(name, {})[f"code kept of {package}"] = round(kept / total, 4)
    return rows


def flat(quick: bool) -> dict[str, Any]:
    """The share of code blocks that are kept, by extractor and package."""
    return {f"{name}, {package}": share for name, row in measure(quick).items() for package, share in row.items()}


if __name__ == "__main__":
    printed(__doc__, flat)
