"""Makes the text of a page: one extractor or several, one after another, and plain text or Markdown."""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any, Final

from corpus_assets.raw.rows.faults import RowError
from corpus_assets.raw.web.libraries import PAGE, Extract, library, library_version
from corpus_assets.raw.web.limited import LimitedExtractor
from resources.errors import ConfigError, CorpusError, StorageError, raise_machine_fault
from resources.user.modules import module_digest

HTML_CHARACTERS: Final = 16 << 20
MOST_NESTED: Final = 512
"""Depth at which browsers stop nesting. The libraries take quadratic time in the depth."""

_MANY_TAGS: Final = 4096
_TAG: Final = re.compile(r"<(/?[a-zA-Z][a-zA-Z0-9]*)")
_HALF_OF_A_PAIR: Final = re.compile("[\ud800-\udfff]")
_ENDS_BY_ITSELF: Final = frozenset(
    (
        *("p", "li", "dt", "dd", "option", "optgroup", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup"),
        *("rt", "rp", "a", "button", "nobr", "html", "head", "body", "area", "base", "br", "col", "embed", "hr"),
        *("img", "input", "link", "meta", "param", "source", "track", "wbr"),
    )
)


@dataclass(frozen=True)
class Extraction:
    """How the text of a page is made.

    extractors: names of libraries, or `module:function` of the user's own; the next one is asked where one gives fewer
        characters than `least`, and the longest text is taken if all of them do. form: `text` or `markdown`.
    seconds: of CPU time that a page may take; None for no limit.
    """

    extractors: tuple[str, ...]
    least: int = 1
    form: str = "text"
    seconds: float | None = None


def extractor_version(name: str) -> str:
    """Returns name and version of an extractor; its name stands before the first space.

    The version of a function of the user's own is the digest of its module. `ConfigError` names the extra of a library
    that is absent, or a module that cannot be imported.
    """
    if ":" not in name:
        return library_version(name)
    return f"{name} {module_digest(own_extractor(name).__module__)}"


def own_extractor(name: str) -> Extract:
    """Returns the function that `module:function` names; raises `ConfigError` if there is none."""
    module, _, function = name.partition(":")
    try:
        found: Any = getattr(import_module(module), function, None)
    except Exception as error:
        raise ConfigError(
            f"extractor: module {module!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    if not callable(found):
        raise ConfigError(f"extractor: module {module!r} has no function {function!r}")
    return _checked(found, name)


def _checked(function: Callable[[str], Any], name: str) -> Extract:
    def extract(html: str) -> str:
        try:
            text = function(html)
        except SystemExit as end:
            raise RuntimeError(f"{name} ends the process ({end}); valid: a text, None, or another exception") from None
        if not isinstance(text, str | None):
            raise TypeError(f"{name} returned {type(text).__name__}; valid: str, or None for a page without a text")
        if text and _HALF_OF_A_PAIR.search(text):
            raise ValueError(f"{name} returned half of a surrogate pair, which is not a character")
        return text or ""

    extract.__module__ = function.__module__
    return extract


@cache
def extractor(how: Extraction) -> Extract:
    """Returns a function that makes the text of a page; `ConfigError` names what is not installed."""
    for name in how.extractors:
        extractor_version(name)
    if how.form != "text":
        _markdown()
    if how.seconds is not None:
        return LimitedExtractor(how.seconds, asdict(replace(how, seconds=None))).extract
    return unlimited(how)


def unlimited(how: Extraction) -> Extract:
    """Returns a function that makes the text of a page, however long it takes."""
    chain = [own_extractor(name) if ":" in name else library(name) for name in how.extractors]
    if how.form == "text":
        return lambda html: _first_with_enough(html, chain, how.least)
    as_markdown = _markdown()

    def extract(html: str) -> str:
        text = _first_with_enough(html, chain, how.least)
        return as_markdown(html, text) if text.strip() else text

    return extract


def _markdown() -> Callable[[str, str], str]:
    try:
        import_module("lxml.html")
    except ImportError:
        raise ConfigError(
            "html.form: markdown needs lxml, which is absent; install the extra: pip install 'corpus-assets[web]'"
        ) from None
    from corpus_assets.raw.web.markdown import as_markdown

    return as_markdown


def _first_with_enough(html: str, chain: list[Extract], least: int) -> str:
    """Returns the text of the first extractor that gives enough, else the longest; raises what the last one raised."""
    longest, fault = "", None
    for extract in chain:
        try:
            text = extract(html)
        except StorageError:
            raise
        except Exception as error:  # the libraries raise almost anything over broken pages
            raise_machine_fault(PAGE, error)
            fault = error
            continue
        if len(text.strip()) >= least:
            return text
        longest = max(longest, text, key=len)
    if fault is not None and not longest:
        raise fault
    return longest


def main_text(html: str, extract: Extract) -> str:
    """Returns the text of a page; raises `RowError` for one that is too large or too deep, or fails.

    `StorageError` if the machine failed: another build may get a text.
    """
    if len(html) > HTML_CHARACTERS:
        raise RowError("html_too_long", f"{len(html)} characters of HTML; valid: at most {HTML_CHARACTERS}")
    if html.count("<") > _MANY_TAGS and (depth := nesting(html)) > MOST_NESTED:
        raise RowError("html_too_deep", f"elements nest {depth} deep; valid: at most {MOST_NESTED}")
    try:
        return extract(html)
    except (RowError, CorpusError):
        raise
    except Exception as fault:  # the libraries raise almost anything over broken pages
        raise_machine_fault(PAGE, fault)
        raise RowError("extraction_failed", in_words(fault)) from None


def in_words(fault: Exception) -> str:
    """Returns what a library raised, shortened."""
    return f"{type(fault).__name__}: {fault}"[:200]


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
