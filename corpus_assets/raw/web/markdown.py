"""Writes the main text of a page as Markdown: headings, lists, tables, code blocks byte for byte, and formulas.

An extractor says which text of a page is the main one; this module finds the blocks of the page that hold it, and
writes them with their form. A code block, table or formula counts as main text if the extractor has it, or if it stands
in the element that holds nearly all of the main text: extractors lose these, or their white space.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from lxml import etree
from lxml import html as lxml_html

from corpus_assets.raw.web.agreement import SEQUENCE, Words, sequences, words
from corpus_assets.raw.web.markdown_parts import code_block, formula, inline_code, table_rows

_SKIPPED: Final = frozenset(
    (
        *("head", "style", "noscript", "template", "svg", "button", "select", "option", "textarea", "input", "iframe"),
        *("object", "canvas", "audio", "video", "nav", "dialog", "script"),
    )
)
_BLOCKS: Final = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr"),
        *("legend", "li", "main", "ol", "p", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead"),
        *("tr", "ul"),
    )
)
HELD: Final = 0.75
"""Share of the three-word sequences of a block that the extractor's text must have."""
_MAIN: Final = 0.9
"""Share of the main text that its element holds."""


@dataclass
class _Block:
    """A paragraph, heading, item of a list, code block or table.

    node: number of its element.
    written: in Markdown.
    plain: the words by which it is found in the extractor's text.
    is_rich: whether extractors lose it.
    is_code: whether it is a code block.
    is_item: whether it belongs to a list.
    begins: whether it begins an item, which has no blank line before it.
    """

    node: int
    written: str
    plain: str
    is_rich: bool = False
    is_code: bool = False
    is_item: bool = False
    begins: bool = False


@dataclass
class _Item:
    """An item of a list: what stands before its first block, and whether that was written."""

    marker: str
    is_written: bool = False


@dataclass
class _Place:
    """Where a walk through a page is: lists, quotations and headings that are open, and the text of the next block."""

    parents: list[int] = field(default_factory=lambda: [-1])
    open: list[int] = field(default_factory=lambda: [0])
    numbers: list[int | None] = field(default_factory=list)
    items: list[_Item] = field(default_factory=list)
    quotes: int = 0
    heading: int = 0
    written: list[str] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)
    declared: set[int] = field(default_factory=set)

    def enter(self, element: Any) -> None:
        self.parents.append(self.open[-1])
        self.open.append(len(self.parents) - 1)
        if element.tag in ("main", "article") or element.get("role") == "main":
            self.declared.add(self.open[-1])

    def say(self, text: str | None, plain: str | None = None) -> None:
        if text:
            self.written.append(text)
            self.plain.append(text if plain is None else plain)

    def block(self) -> Iterator[_Block]:
        """Yields the block that ends here, if it has any text."""
        written, plain = " ".join("".join(self.written).split()), " ".join(self.plain)
        self.written, self.plain = [], []
        if written:
            only_formulas = not plain.strip()
            yield self.placed("#" * self.heading + " " * bool(self.heading) + written, plain, is_rich=only_formulas)

    def placed(self, written: str, plain: str, *, is_rich: bool = False) -> _Block:
        before, begins = "> " * self.quotes, False
        if self.items:
            indent = "".join(" " * len(item.marker) for item in self.items[:-1])
            item = self.items[-1]
            before += indent + (" " * len(item.marker) if item.is_written else item.marker)
            begins, item.is_written = not item.is_written, True
        return _Block(self.open[-1], before + written, plain, is_rich, is_item=bool(self.items), begins=begins)


def as_markdown(html: str, text: str) -> str:
    """Returns the blocks of a page that hold the main text, as Markdown; the text itself if no block has it."""
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    page = lxml_html.document_fromstring(html.encode(), parser=parser)
    place = _Place()
    blocks = list(_blocks(page, place))
    found = [words(block.plain) for block in blocks]
    held = _taken(text, found, range(len(found)))
    if not any(held):
        return text
    main = _main(blocks, held, place.parents)
    # A teaser elsewhere on the page may have the words of a paragraph: those in the main element come first.
    inside = [_is_in(block.node, main, place.parents) for block in blocks]
    held = _taken(text, found, sorted(range(len(found)), key=lambda number: not inside[number]))
    of_kind = {False: main, True: _declared(main, place)}
    kept = [
        block
        for block, is_held in zip(blocks, held, strict=True)
        if is_held or (block.is_rich and _is_in(block.node, of_kind[block.is_code], place.parents))
    ]
    return "".join(_joined(kept))


def _taken(text: str, blocks: Sequence[Words], order: Iterable[int]) -> list[bool]:
    """Returns which blocks take most of their words from a text, in which every word may be taken once."""
    left = Counter(sequences(words(text), SEQUENCE))
    lines = Counter(words(line) for line in text.splitlines())
    held = [False] * len(blocks)
    for number in order:
        block = blocks[number]
        if len(block) < SEQUENCE:
            held[number] = bool(block) and lines[block] > 0
            lines[block] -= 1
            continue
        ours = Counter(sequences(block, SEQUENCE))
        held[number] = (ours & left).total() >= HELD * ours.total()
        if held[number]:
            left.subtract(ours)
    return held


def _joined(blocks: list[_Block]) -> Iterator[str]:
    for number, block in enumerate(blocks):
        if number:
            yield "\n" if block.begins and blocks[number - 1].is_item else "\n\n"
        yield block.written


def _main(blocks: list[_Block], held: list[bool], parents: list[int]) -> int:
    """Returns the deepest element that holds nearly all of the main text."""
    sizes = [0] * len(parents)
    for block, is_held in zip(blocks, held, strict=True):
        if is_held:
            sizes[block.node] += len(block.plain)
    for node in range(len(parents) - 1, 0, -1):  # Elements come after their parents.
        sizes[parents[node]] += sizes[node]
    return max(node for node, size in enumerate(sizes) if size >= _MAIN * sizes[0])


def _declared(node: int, place: _Place) -> int:
    """Returns the element around one that the page declares its main content; the same one if there is none."""
    found = node
    while found > 0 and found not in place.declared:
        found = place.parents[found]
    return found if found in place.declared else node


def _is_in(node: int, main: int, parents: list[int]) -> bool:
    while node > main:
        node = parents[node]
    return node == main


def _blocks(page: Any, place: _Place) -> Iterator[_Block]:
    """Yields all blocks of a page in its order."""
    walk = etree.iterwalk(page, events=("start", "end"))
    for event, element in walk:
        name = element.tag
        if event == "end":
            yield from _after(element, name, place)
            continue
        place.enter(element)
        if (found := formula(element)) is not None:
            place.say(found, "")
            walk.skip_subtree()
        elif name in _SKIPPED:
            walk.skip_subtree()
        elif name == "pre":
            yield from place.block()
            written, code = code_block(element)
            if code.strip():
                yield _Block(place.open[-1], written, code, is_rich=True, is_code=True)
            walk.skip_subtree()
        elif name == "table" and (rows := table_rows(element)):
            yield from place.block()
            yield place.placed("\n".join(rows), "\n".join(element.itertext()), is_rich=True)
            walk.skip_subtree()
        elif (inline := inline_code(element)) is not None:
            place.say(inline)
            walk.skip_subtree()
        else:
            yield from _before(element, name, place)
            place.say(element.text)


def _before(element: Any, name: str, place: _Place) -> Iterator[_Block]:
    if name == "br":
        place.say("\n")
    if name not in _BLOCKS:
        return
    yield from place.block()
    if name in ("ul", "ol"):
        place.numbers.append(_start(element) if name == "ol" else None)
    elif name == "li":
        number = place.numbers[-1] if place.numbers else None
        place.items.append(_Item("- " if number is None else f"{number}. "))
        if number is not None:
            place.numbers[-1] = number + 1
    elif name == "blockquote":
        place.quotes += 1
    elif name[0] == "h" and name[1:].isdigit():
        place.heading = int(name[1:])


def _start(element: Any) -> int:
    given = element.get("start", "1")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 1


def _after(element: Any, name: str, place: _Place) -> Iterator[_Block]:
    if name in _BLOCKS:
        yield from place.block()
    if name in ("ul", "ol") and place.numbers:
        place.numbers.pop()
    elif name == "li" and place.items:
        place.items.pop()
    elif name == "blockquote":
        place.quotes -= 1
    elif name in ("h1", "h2", "h3", "h4", "h5", "h6"):
        place.heading = 0
    place.open.pop()
    place.say(element.tail)
