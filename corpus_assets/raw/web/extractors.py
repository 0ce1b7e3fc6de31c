"""Extracts the main text of HTML with a library that is an extra."""

import logging
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from corpus_assets.raw.rows.faults import RowError
from resources.errors import ConfigError

EXTRAS: Final = {"resiliparse": "warc", "trafilatura": "trafilatura"}
"""The extra of pyproject.toml that installs each extractor."""

HTML_CHARACTERS: Final = 16 << 20
MOST_NESTED: Final = 512
"""Depth at which browsers stop nesting. The libraries take quadratic time in the depth."""

_MANY_TAGS: Final = 4096
_TAG: Final = re.compile(r"<(/?[a-zA-Z][a-zA-Z0-9]*)")
_ENDS_BY_ITSELF: Final = frozenset(
    (
        *("p", "li", "dt", "dd", "option", "optgroup", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup"),
        *("rt", "rp", "a", "button", "nobr", "html", "head", "body", "area", "base", "br", "col", "embed", "hr"),
        *("img", "input", "link", "meta", "param", "source", "track", "wbr"),
    )
)

Extract = Callable[[str], str]


def extractor_version(name: str) -> str:
    """Returns name and version of an installed extractor; `ConfigError` names the extra if it is absent."""
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        extra = EXTRAS[name]
        raise ConfigError(
            f"extractor: {name} is not installed; install the extra: pip install 'corpus-assets[{extra}]'"
        ) from None


@cache
def extractor(name: str) -> Extract:
    """Returns a function that extracts the main text of HTML; `ConfigError` names the extra if it is absent."""
    extractor_version(name)
    return {"resiliparse": _resiliparse, "trafilatura": _trafilatura}[name]()


def main_text(html: str, extract: Extract) -> str:
    """Returns the main text of a page; raises `RowError` for one that is too large or too deep for extractors."""
    if len(html) > HTML_CHARACTERS:
        raise RowError("html_too_long", f"{len(html)} characters of HTML; valid: at most {HTML_CHARACTERS}")
    if html.count("<") > _MANY_TAGS and (depth := nesting(html)) > MOST_NESTED:
        raise RowError("html_too_deep", f"elements nest {depth} deep; valid: at most {MOST_NESTED}")
    try:
        return extract(html)
    except Exception as fault:  # the libraries raise almost anything over broken pages
        raise RowError("extraction_failed", f"{type(fault).__name__}: {fault}"[:200]) from None


def nesting(html: str) -> int:
    """Returns the approximate nesting depth of elements by their tags, without void elements."""
    depth = deepest = 0
    steps: dict[str, int] = {}
    for tag in _TAG.findall(html):
        step = steps.get(tag)
        if step is None:
            step = steps[tag] = _step(tag)
        if step > 0:
            depth += 1
            deepest = max(deepest, depth)
        elif step < 0 < depth:
            depth -= 1
    return deepest


def _step(tag: str) -> int:
    """Returns what a tag adds to the depth. tag: a name, after `/` if it ends an element."""
    if tag.lstrip("/").lower() in _ENDS_BY_ITSELF:
        return 0
    return -1 if tag.startswith("/") else 1


def _resiliparse() -> Extract:
    found = import_module("resiliparse.extract.html2text").extract_plain_text

    def extract(html: str) -> str:
        return str(found(html, preserve_formatting=True, main_content=True, alt_texts=False, comments=False))

    return extract


def _trafilatura() -> Extract:
    found = import_module("trafilatura").extract
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # it logs every page without a text

    def extract(html: str) -> str:
        return found(html, include_comments=False) or ""

    return extract
