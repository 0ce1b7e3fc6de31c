"""Measures of source code by its language (docs/formats/dolma.md "Code")."""

import ast
import contextlib
import io
import json
import math
import tokenize
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from resources.documents.tagger import Spans, Tagger, Text

COMMENTED = ("python", "java", "javascript")
_XML, _XML_WITHIN = "<?xml version=", 100
_LEAST_TEXT = 100
_FAILED, _NEUTRAL = -1.0, 0.5
_KINDS: Mapping[type[ast.AST], str] = {
    ast.ClassDef: "Class",
    ast.FunctionDef: "Function/Method",
    ast.Module: "Module",
}
_NO_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError, TypeError)


@cache
def _by_suffix() -> dict[str, str]:
    """Returns the language of each suffix of a file name."""
    data = files("corpus_assets.attributes").joinpath("data", "languages_by_suffix.json")
    found: dict[str, str] = json.loads(data.read_text(encoding="utf-8"))
    return found


def language_of(text: Text) -> str | None:
    """Returns the language that `metadata.ext` names."""
    suffix = text.metadata.get("ext")
    return _by_suffix().get(suffix) if isinstance(suffix, str) else None


def code_starcoder_v1(text: Text) -> Spans:
    """Returns values of the metadata, and shares of comments and of visible text, -1 for an unknown language."""
    language = language_of(text)
    shares = [_FAILED, _FAILED]
    if language is not None:
        shares = [comment_share(text.string, language), visible_share(text.string) if language == "html" else 1.0]
    comments, page = shares if _FAILED not in shares else (_FAILED, _FAILED)
    return {**_common(text), "nl_ratio_doc": text.whole(comments), "code_to_text_ratio_html_doc": text.whole(page)}


def code_starcoder_v2(text: Text) -> Spans:
    """Returns values of the metadata, the share of comments in three languages, and of visible text in HTML."""
    language = language_of(text)
    comments = comment_share(text.string, language) if language in COMMENTED else _NEUTRAL
    return {
        **_common(text),
        "code_to_comment_ratio_doc": text.whole(comments),
        "code_to_text_ratio_html_doc": text.whole(visible_share(text.string) if language == "html" else 1.0),
    }


def code_starcoder_v2_of_dolma(text: Text) -> Spans:
    """Returns the same; `ZeroDivisionError` for an empty text in one of the three languages, as in the toolkit."""
    if not text.string and language_of(text) in COMMENTED:
        raise ZeroDivisionError("an empty text; valid: without compat")
    return code_starcoder_v2(text)


def _common(text: Text) -> Spans:
    return {
        "has_xml_template_doc": text.whole(float(_XML in text.string[:_XML_WITHIN])),
        "num_github_stars_doc": text.whole(_number(text.metadata.get("max_stars_count"))),
    }


def _number(value: Any) -> float:
    """Returns a number, or the number that a text holds; 0 for anything else."""
    try:
        number = float(value) if isinstance(value, int | float | str) else 0.0
    except (ValueError, OverflowError):
        return 0.0
    return number if math.isfinite(number) else 0.0


def comment_share(string: str, language: str) -> float:
    """Returns the share of comments in a text; -1 if it is empty, or no lexer knows the language."""
    if not string:
        return _FAILED
    if language == "python":
        return len(python_comments(string)) / len(string)
    from pygments import lex
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Comment
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return _FAILED
    kinds = (Comment.Multiline, Comment.Single)
    return sum(len(token) for kind, token in lex(string, lexer) if kind in kinds) / len(string)


def python_comments(string: str) -> str:
    """Returns docstrings and comments, the latter without `#`; neither if Python cannot parse the text."""
    docstrings, comments = "", ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(*_NO_PYTHON):
            docstrings = "\n".join(_docstrings(string))
    try:
        tokens = tokenize.generate_tokens(io.StringIO(string).readline)
        comments = "".join(token.string for token in tokens if token.type == tokenize.COMMENT).replace("#", "")
    except (*_NO_PYTHON, tokenize.TokenError):
        comments = ""
    return f"{docstrings}\n{comments}".strip()


def _docstrings(string: str) -> Iterator[str]:
    """Yields docstrings of classes, functions and the module, in this order and by name."""
    found = [node for node in ast.walk(ast.parse(string)) if type(node) in _KINDS]
    for node in sorted(found, key=lambda node: (_KINDS[type(node)], getattr(node, "name", ""))):
        known: Any = node
        if docstring := ast.get_docstring(known):
            yield docstring


def visible_share(page: str) -> float:
    """Returns the share of visible text in HTML, 0 if that has at most 100 characters; -1 if there is no text, or the
    parser rejects it.
    """
    if not page:
        return _FAILED
    from bs4 import BeautifulSoup
    from bs4.builder import ParserRejectedMarkup

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            soup = BeautifulSoup(page, features="html.parser")
        for element in soup(["script", "style"]):
            element.extract()
        size = len(soup.get_text())
    except (ValueError, TypeError, AssertionError, RecursionError, ParserRejectedMarkup):
        return _FAILED
    return size / len(page) if size > _LEAST_TEXT else 0.0


_COMMON = "`has_xml_template_doc`; `num_github_stars_doc`: `metadata.max_stars_count`"
_SHARED: dict[str, Any] = {
    "version": "1",
    "source": "StarCoder, as in Dolma",
    "extra": "code",
    "wheels": ("beautifulsoup4", "pygments"),
}
_TYPES = ("has_xml_template_doc", "num_github_stars_doc", "code_to_text_ratio_html_doc")
TAGGERS = [
    Tagger(
        "code_starcoder_taggers_v1",
        code_starcoder_v1,
        types=(*_TYPES, "nl_ratio_doc"),
        gives=f"{_COMMON}; by the language of `metadata.ext`, `nl_ratio_doc`: share of comments, "
        "`code_to_text_ratio_html_doc`: share of visible text in HTML, 1 in others; both -1 for an unknown language",
        reads=("ext",),
        **_SHARED,
    ),
    Tagger(
        "code_starcoder_taggers_v2",
        code_starcoder_v2,
        types=(*_TYPES, "code_to_comment_ratio_doc"),
        gives=f"{_COMMON}; by the language of `metadata.ext`, `code_to_comment_ratio_doc`: share of comments in "
        "Python, Java and JavaScript, 0.5 in others; `code_to_text_ratio_html_doc`: share of visible text in "
        "HTML, 1 in others",
        dolma=code_starcoder_v2_of_dolma,
        reads=("ext",),
        **_SHARED,
    ),
]
