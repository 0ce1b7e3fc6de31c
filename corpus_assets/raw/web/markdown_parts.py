"""Code blocks, tables and formulas of HTML in Markdown. Elements are those of lxml."""

import re
from collections.abc import Iterator
from typing import Any, Final

from lxml import etree

_INLINE_CODE: Final = frozenset(("code", "kbd", "samp", "tt"))
_NO_CODE: Final = frozenset(("button", "script", "style"))
_NUMBERS: Final = re.compile(r"(?:^|[\s_-])(?:linenos?|lineno|line-?numbers?|gutter|ln-num)(?:$|[\s_-])", re.I)
"""Classes of the numbers of lines, which are no part of the code."""
_LANGUAGE: Final = re.compile(r"(?:^|\s)(?:language|lang|highlight|brush)[-:]\s*([A-Za-z][\w+#.-]{0,30})")
_NO_LANGUAGE: Final = frozenset(("default", "none", "text", "source"))
_TEX: Final = re.compile(r"^(?:math|tex|latex)$|^mwe-math-fallback-image|^arithmatex$")
_FENCE: Final = re.compile(r"`{3,}")
_WIDEST: Final = 1000
_MATH: Final = "{http://www.w3.org/1998/Math/MathML}"


def code_block(pre: Any) -> tuple[str, str]:
    """Returns a `pre` as a fenced block, and its code; the code stands there byte for byte, without indentation."""
    code = "".join(_code(pre)).removeprefix("\n")  # HTML does not count a line end at the beginning.
    fence = "`" * max(3, 1 + max(map(len, _FENCE.findall(code)), default=0))
    end = "" if code.endswith("\n") else "\n"
    return f"{fence}{_language(pre)}\n{code}{end}{fence}", code


def _code(element: Any) -> Iterator[str]:
    """Yields the texts of an element, a line end for each `br`, and no numbers of lines."""
    skipped = 0
    for event, one in _events(element):
        is_left_out = one.tag in _NO_CODE or (one is not element and bool(_NUMBERS.search(one.get("class", ""))))
        if event == "start":
            skipped += is_left_out
            if not skipped:
                yield "\n" if one.tag == "br" else one.text or ""
        else:
            skipped -= is_left_out
            if not skipped and one is not element:
                yield one.tail or ""


def _events(element: Any) -> Any:
    return etree.iterwalk(element, events=("start", "end"))


def _language(pre: Any) -> str:
    """Returns the language that the classes of a `pre` say, of its child, or of the two elements around it."""
    around = [pre.getparent(), pre.getparent() is not None and pre.getparent().getparent()]
    for element in (pre, *pre[:1], *around):
        found = _LANGUAGE.search(element.get("class") or "") if element is not None and element is not False else None
        if found and found[1] not in _NO_LANGUAGE:
            return found[1]
    return ""


def inline_code(element: Any) -> str | None:
    """Returns code within a line between backticks; None for another element, and for one without a text."""
    if element.tag not in _INLINE_CODE:
        return None
    code = " ".join("".join(element.itertext()).split())
    if not code:
        return None
    fence = "`" * (1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{fence} {code} {fence}" if "`" in code else f"`{code}`"


def formula(element: Any) -> str | None:
    """Returns a formula between dollar signs; None for an element that is none, or has no source in TeX or text.

    It knows MathML with an annotation, KaTeX, the scripts of MathJax, images of formulas with their source as `alt`,
    and elements of the class `math` as Sphinx and Pandoc write them.
    """
    name, classes = str(element.tag).removeprefix(_MATH), (element.get("class") or "").split()
    if name == "script":
        kind = element.get("type") or ""
        return _dollars(element.text or "", "display" in kind) if kind.startswith("math/tex") else None
    if name == "math":
        source = _annotation(element) or element.get("alttext") or "".join(element.itertext())
        return _dollars(source, "block" in (element.get("display") or ""))
    if "katex" in classes or "katex-display" in classes:
        return _dollars(_annotation(element), "katex-display" in classes)
    if name == "img" and any(_TEX.search(one) for one in classes):
        return _dollars(element.get("alt") or "", False)
    if name in ("span", "div") and any(one in ("math", "arithmatex") for one in classes) and not len(element):
        return _dollars(element.text or "", name == "div" or "display" in classes)
    return None


def _annotation(element: Any) -> str:
    """Returns the source in TeX that MathML carries, or nothing."""
    for one in element.iter():
        if str(one.tag).endswith("annotation") and "tex" in (one.get("encoding") or ""):
            return "".join(one.itertext())
    return ""


def _dollars(source: str, is_display: bool) -> str | None:
    tex = " ".join(source.split())
    for begin, end in (("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$")):
        if tex.startswith(begin) and tex.endswith(end) and len(tex) >= len(begin) + len(end):
            is_display, tex = is_display or begin in ("\\[", "$$"), tex[len(begin) : -len(end)].strip()
    if not tex:
        return None
    return f"$${tex}$$" if is_display else f"${tex}$"


def table_rows(table: Any) -> list[str]:
    """Returns a table of data as rows of a pipe table; none for one that only arranges other blocks.

    The first row is the head. Cells have one line each, and bars in them are escaped.
    """
    if next(table.iter("pre", "ul", "ol", "h1", "h2", "h3", "h4"), None) is not None:
        return []
    if sum(1 for _ in table.iter("table")) > 1:
        return []
    rows = [[_cell(cell) for cell in row.iterchildren("td", "th")] for row in table.iter("tr")]
    rows = [row for row in rows if any(row)]
    width = max(map(len, rows), default=0)
    if len(rows) < 2 or not 2 <= width <= _WIDEST:
        return []
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in rows]
    return [lines[0], "|" + " --- |" * width, *lines[1:]]


def _cell(cell: Any) -> str:
    return " ".join("".join(_said(cell)).split()).replace("|", "\\|")


def _said(cell: Any) -> Iterator[str]:
    """Yields the texts of a cell, with its code and formulas."""
    walk = _events(cell)
    for event, element in walk:
        if event == "end":
            if element is not cell:
                yield element.tail or ""
            continue
        found = formula(element)
        if found is None and element is not cell:
            found = inline_code(element)
        if found is not None:
            yield found
            walk.skip_subtree()
        elif element.tag in ("script", "style", "button"):
            walk.skip_subtree()
        else:
            yield " " if element.tag in ("br", "p", "div", "li") else ""
            yield element.text or ""
