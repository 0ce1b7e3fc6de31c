"""The libraries that extract the main text of HTML, each as a function of the page. All of them are extras."""

import logging
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from corpus_assets.raw.web.agreement import agreed_text
from resources.errors import ConfigError, raise_machine_fault

Extract = Callable[[str], str]

EXTRAS: Final = {"resiliparse": "warc", "trafilatura": "trafilatura", "combined": "web"}
"""The extra of pyproject.toml that installs each extractor."""

PAGE: Final = "extracting the text of a page"
"""What the libraries do, in messages."""

PARTS: Final = ("readability-lxml", "resiliparse", "trafilatura")
"""Packages that `combined` calls."""
_COMBINED: Final = 1
"""Version of the rules by which `combined` puts their texts together."""


def library_version(name: str) -> str:
    """Returns name and version of an extractor; `ConfigError` names the extra if a package is absent."""
    if name == "combined":
        parts = ", ".join(f"{part} {_version(part, name)}" for part in PARTS)
        return f"{name} {_COMBINED} ({parts})"
    return f"{name} {_version(name, name)}"


def _version(package: str, name: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        raise ConfigError(
            f"extractor: {package} is not installed; install the extra: pip install 'corpus-assets[{EXTRAS[name]}]'"
        ) from None


def library(name: str) -> Extract:
    """Returns the function of an extractor of `EXTRAS`."""
    made: dict[str, Callable[[], Extract]] = {
        "resiliparse": _resiliparse,
        "trafilatura": _trafilatura,
        "combined": _combined,
    }
    return made[name]()


def _resiliparse() -> Extract:
    found = import_module("resiliparse.extract.html2text").extract_plain_text

    def extract(html: str) -> str:
        return str(found(html, preserve_formatting=True, main_content=True, alt_texts=False, comments=False))

    return extract


def _trafilatura(**options: bool) -> Extract:
    found = import_module("trafilatura").extract
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # it logs every page without a text

    def extract(html: str) -> str:
        return found(html, include_comments=False, **options) or ""

    return extract


def _readability() -> Extract:
    document = import_module("readability").Document
    plain_text = import_module("resiliparse.extract.html2text").extract_plain_text
    logging.getLogger("readability").setLevel(logging.CRITICAL)

    def extract(html: str) -> str:
        return str(plain_text(document(html).summary(html_partial=True), main_content=False, alt_texts=False))

    return extract


def _combined() -> Extract:
    fast, precise = _trafilatura(fast=True), _trafilatura(favor_precision=True)
    readable, whole = _readability(), _resiliparse()

    def extract(html: str) -> str:
        return agreed_text(html, fast(html), whole(html), [_or_nothing(precise, html), _or_nothing(readable, html)])

    return extract


def _or_nothing(extract: Extract, html: str) -> str:
    """Returns a text that only confirms others, so a page that its library cannot read has none."""
    try:
        return extract(html)
    except Exception as error:  # the libraries raise almost anything over broken pages
        raise_machine_fault(PAGE, error)
        return ""
