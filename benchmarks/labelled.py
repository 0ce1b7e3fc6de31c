"""Documents whose copies somebody labelled, or whose origin says which are copies: sets for `dedup_labelled`.

No label comes from a similarity that a tool computes, but for `pairs`, whose labels are exact Jaccard similarities.
"""

import gzip
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import zstandard

from benchmarks.dedup_pairs import LABELLED, labelled_pairs
from benchmarks.real_texts import AbsentError, download, is_in, pages, unpack

THRESHOLD = 0.8
EDITIONS = ("libboost1.74-doc", "libboost1.81-doc")
HELP, TRANSLATIONS = "gimp-help-en", ("gimp-help-hr", "gimp-help-fa", "gimp-help-lt", "gimp-help-sv")
_UNTRANSLATED = 0.8
"""Share of the lines of a page, by their letters, that stand in the English one."""

_LEAST_LINE = 20
_LEAST_TEXT = 200
"""Code points; shorter pages are titles and menus."""

_HIDDEN = ("script", "style", "head")
_BLOCKS = ("p", "div", "li", "tr", "td", "th", "dt", "dd", "pre", "br", "table", "h1", "h2", "h3", "h4", "h5", "h6")


@dataclass(frozen=True)
class Labelled:
    """Texts by name, pairs that are copies, and pairs that are none; None for all others of these texts.

    groups: of names that are versions of one thing, where labels are such.
    """

    texts: Mapping[str, str]
    copies: frozenset[tuple[str, str]]
    others: frozenset[tuple[str, str]] | None = None
    groups: Sequence[Sequence[str]] | None = None


def write(found: Labelled, raw: Path) -> None:
    """The texts as all peers read them."""
    folder = raw / "documents" / "labelled"
    folder.mkdir(parents=True)
    rows = (json.dumps({"id": name, "text": text, "source": "labelled"}) + "\n" for name, text in found.texts.items())
    (folder / "part-00.jsonl.gz").write_bytes(gzip.compress("".join(rows).encode(), 1, mtime=0))


def pairs(quick: bool) -> Labelled:
    """The labelled pairs of the shared data: copies from a Jaccard similarity of 0.8 on."""
    given = labelled_pairs(20 if quick else 1)
    if not given.texts:
        raise AbsentError("the shared data does not lie beside the checkout")
    names = [f"text-{number:05}" for number in range(len(given.texts))]
    named = [(names[one], names[other]) for one, other in given.pairs.tolist()]
    labels = [(pair, truth >= THRESHOLD) for pair, truth in zip(named, given.truth.tolist(), strict=True)]
    copies, others = (frozenset(pair for pair, label in labels if label is wanted) for wanted in (True, False))
    return Labelled(dict(zip(names, given.texts, strict=True)), copies, others)


def licences(quick: bool) -> Labelled:
    """Licence texts of choosealicense.com through its history: the versions of one file are copies."""
    path = LABELLED / "redpajama" / "licenses" / "licenses_00.jsonl.zst"
    if not path.is_file():
        raise AbsentError("the shared data does not lie beside the checkout")
    texts: dict[str, str] = {}
    groups: dict[str, list[str]] = defaultdict(list)
    with path.open("rb") as packed, zstandard.ZstdDecompressor().stream_reader(packed) as stream:
        for number, line in enumerate(io.TextIOWrapper(stream, encoding="utf-8")):
            row = json.loads(line)
            of = row["meta"]["name"]
            if quick and of > "b":
                continue
            name = f"{of}-{number:04}"
            texts[name] = row["text"]
            groups[of].append(name)
    return _grouped(texts, groups)


def editions(quick: bool, cache: Path, work: Path) -> Labelled:
    """Pages of two editions of the documentation of Boost: pages of one path are copies."""
    texts: dict[str, str] = {}
    groups: dict[str, list[str]] = defaultdict(list)
    for package in EDITIONS:
        for name, text in _pages_of(package, cache, work, 0.01 if quick else 0.1):
            path = name.partition("/html/")[2] or name
            texts[f"{package}:{path}"] = text
            groups[path].append(f"{package}:{path}")
    return _grouped(texts, groups)


def untranslated(quick: bool, cache: Path, work: Path) -> Labelled:
    """Pages of the GIMP's help in languages into which much of it is not translated.

    A page is a copy of the English one of its name if 80 % of its letters stand in lines of that one. All other pairs
    are none: translated pages, and pages of other names.
    """
    english = dict(_named_pages(HELP, cache, work, quick))
    texts = {f"{HELP}:{name}": text for name, text in english.items()}
    groups: dict[str, list[str]] = {name: [f"{HELP}:{name}"] for name in english}
    for package in TRANSLATIONS[: 1 if quick else None]:
        for name, text in _named_pages(package, cache, work, quick):
            texts[f"{package}:{name}"] = text
            if name in english and _share_of_lines(text, english[name]) >= _UNTRANSLATED:
                groups[name].append(f"{package}:{name}")
    return _grouped(texts, groups)


def _named_pages(package: str, cache: Path, work: Path, quick: bool) -> Iterator[tuple[str, str]]:
    for name, text in _pages_of(package, cache, work, 1.0):
        short = name.rpartition("/")[2]
        if not quick or is_in(short, 0.1):
            yield short, text


def _grouped(texts: Mapping[str, str], groups: Mapping[str, Sequence[str]]) -> Labelled:
    found = [sorted(group) for group in groups.values()]
    copies = frozenset(pair for group in found for pair in combinations(group, 2))
    return Labelled(dict(sorted(texts.items())), copies, None, found)


def _pages_of(package: str, cache: Path, work: Path, share: float) -> Iterator[tuple[str, str]]:
    """Name and text of the pages of a package; those of a share of all names below its folder of pages."""
    cache.mkdir(parents=True, exist_ok=True)
    folder = work / package
    unpack(download(package, cache)[:1], folder)
    for name, content in pages(folder):
        if is_in(name.partition("/html/")[2] or name, share):
            text = text_of(content.decode("utf-8", "replace"))
            if len(text) >= _LEAST_TEXT:
                yield name, text


def _share_of_lines(text: str, other: str) -> float:
    there = set(_lines(other))
    own = _lines(text)
    return sum(len(line) for line in own if line in there) / max(1, sum(map(len, own)))


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line) >= _LEAST_LINE]


class _Text(HTMLParser):
    """The text of a page, a line for each block."""

    def __init__(self) -> None:
        super().__init__()
        self._hidden = 0
        self._parts: list[str] = []

    def handle_starttag(self, tag: str, _: Iterable[tuple[str, str | None]]) -> None:
        self._hidden += tag in _HIDDEN
        if tag in _BLOCKS:
            self._parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _HIDDEN and self._hidden > 0
        if tag in _BLOCKS:
            self._parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._parts.append(data.replace("\n", " "))

    def text(self) -> str:
        lines = (" ".join(line.split()) for line in "".join(self._parts).splitlines())
        return "\n".join(line for line in lines if line)


def text_of(page: str) -> str:
    """The text of a page by the standard library alone, so that every tool is given the same."""
    parser = _Text()
    parser.feed(page)
    parser.close()
    return parser.text()
