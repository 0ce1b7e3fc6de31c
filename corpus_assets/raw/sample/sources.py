"""Finds the texts of the sample corpus in what Python has installed, and yields them as documents.

No file that it reads is imported: files are read as text, and docstrings come from the syntax tree.
Every function yields in an order that depends only on names: the same installation gives the same documents.
"""

import ast
import os
import platform
import re
import sys
import unicodedata
from codecs import getincrementaldecoder
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath

import msgspec

from corpus_assets.raw.sample.installed import Installation, InstalledFile, Origin
from corpus_assets.raw.sample.python_syntax import docstrings_of, nodes, statements
from resources.errors import is_of_the_file
from resources.formats.documents import Document
from resources.hashing import content_digest, keyed_hash

# The date of an installed file is unknown; a fixed one keeps the rows the same after a reinstallation.
UNKNOWN_DATE = "1980-01-01T00:00:00.000Z"
LARGE_FILE = 500_000
HEAD = 1 << 14  # Bytes; no comment before the code of a file is longer.

PYTHON = frozenset({".py"})
NATIVE = frozenset({".c", ".cc", ".cpp", ".h", ".hpp", ".pxd", ".pxi", ".pyx"})
PROSE = frozenset({".html", ".md", ".rst", ".txt"})
LICENCE_NAME = re.compile(r"(licen[cs]e|copying|copyright|notice)[^/]*$", re.IGNORECASE)
PROSE_NAME = re.compile(r"(readme|changes|changelog|history|news|credits|help|due)[^/]*$", re.IGNORECASE)
LICENCE_WORDS = re.compile(r"licen[cs]e|copyright", re.IGNORECASE)
# A `#` is a comment unless it is a directive of the C preprocessor, which has no space after it.
LEADING_COMMENT = re.compile(r"(?:[ \t]*(?:(?:#(?![a-z])|//).*)?\n)+|\s*/\*(?s:.*?)\*/")
COMMENT_MARKS = re.compile(r"^[ \t]*(?:#+|//+|/?\*+/?)[ \t]?|[ \t]+$", re.MULTILINE)
NUMBERS = re.compile(r"\d+")
MODULE_DOCSTRING = re.compile(r"(?:[ \t]*(?:#.*)?\n)*([rR]?(\"{3}|'{3})(?s:.*?)\2)")
SourceTexts = Callable[[Installation], Iterator[Document]]


def _ranked(files: Iterable[InstalledFile], suffixes: frozenset[str]) -> list[InstalledFile]:
    """Returns the files with one of the suffixes in a fixed random order.

    The order depends on the last two parts of the path, so copies of a file (vendored packages) come together.
    """
    chosen = [file for file in files if os.path.splitext(file.name)[1].lower() in suffixes]  # noqa: PTH122 (faster)
    return sorted(chosen, key=lambda file: (keyed_hash("sample", 0, *file.name.split("/")[-2:]), file.name))


def _read(file: InstalledFile) -> str:
    """Returns the file's text; empty, so that it gives no document, if it is gone, unreadable or not UTF-8.

    `OSError` if the machine cannot read it now.
    """
    with _may_be_unreadable():
        return file.path.read_bytes().decode()
    return ""


def _head(file: InstalledFile) -> str:
    """Returns the beginning of the file's text; empty if it cannot be read as UTF-8; errors as above."""
    with _may_be_unreadable(), open(file.path, "rb", buffering=0) as stream:  # noqa: PTH123 (faster)
        return getincrementaldecoder("utf-8")().decode(stream.read(HEAD))
    return ""


@contextmanager
def _may_be_unreadable() -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError:
        pass
    except OSError as error:
        if not is_of_the_file(error):  # A sample without a file that is there would count as the whole of it.
            raise


def _document(name: str, text: str, origin: Origin) -> Document:
    fields = {"path": name, "package": origin.package, "version": origin.version, "license": origin.license}
    return Document(
        id=f"{origin.package}/{name}",
        text=text,
        source="",
        added=UNKNOWN_DATE,
        created=UNKNOWN_DATE,
        metadata=msgspec.Raw(msgspec.json.encode(fields)),
    )


def _whole(files: Iterable[InstalledFile]) -> Iterator[Document]:
    return (_document(file.name, _read(file), file.origin) for file in files)


def standard_code(installed: Installation) -> Iterator[Document]:
    """Yields Python source of the standard library; a few very large files come first, so that samples have some."""
    ranked = _ranked(installed.standard, PYTHON)
    return _whole(sorted(ranked, key=lambda file: file.path.stat().st_size < LARGE_FILE))


def package_code(installed: Installation) -> Iterator[Document]:
    """Yields Python source of the installed packages, vendored copies next to the files they are copies of."""
    return _whole(_ranked(installed.packages, PYTHON))


def native_code(installed: Installation) -> Iterator[Document]:
    """Yields C, C++ and Cython sources and headers that packages install."""
    return _whole(_ranked(installed.packages, NATIVE))


Turns = list[tuple[str, str]]
"""Role and text of every message."""


def docstrings(installed: Installation) -> Iterator[Document]:
    """Yields one document per docstring of a class or function, of a few characters up to many pages."""
    files = _ranked([*installed.standard, *installed.packages], PYTHON)
    for file, found in zip(files, docstrings_of(files, _read), strict=True):
        for line, text in found:
            yield _document(f"{file.name}:{line}", text, file.origin)


def conversations(installed: Installation) -> Iterator[Turns]:
    """Yields questions about functions of the standard library, answered by the paragraphs of their docstrings."""
    for file in _ranked(installed.standard, PYTHON):
        module = file.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for node in statements(_read(file)):
            if isinstance(node, ast.FunctionDef) and (text := ast.get_docstring(node)):
                first, *others = text.split("\n\n")
                turns = [("user", f"What does `{module}.{node.name}` do?"), ("assistant", first)]
                yield [*turns, ("user", "Tell me more."), ("assistant", others[0])] if others else turns


def package_texts(installed: Installation) -> Iterator[Document]:
    """Yields package descriptions, then readme-like files, then the docstrings of packages' modules."""
    for origin, text in installed.descriptions:
        yield _document("description", text, origin)
    prose = _ranked(installed.packages, PROSE)
    yield from _whole(file for file in prose if PROSE_NAME.search(file.name))
    for file in _ranked(installed.packages, PYTHON):
        yield _document(file.name, _module_docstring(_read(file)), file.origin)


def licences(installed: Installation) -> Iterator[Document]:
    """Yields licence files, then each wording of the licence headers in source files once."""
    files = [*installed.standard, *installed.packages]
    yield from _whole(file for file in _ranked(files, PROSE | {""}) if LICENCE_NAME.search(file.name))
    seen: set[str] = set()
    for file in _ranked(files, PYTHON | NATIVE):
        header = _licence_header(_head(file))
        wording = content_digest(_wording(header, file.path.name).encode())
        if header and wording not in seen:
            seen.add(wording)
            yield _document(file.name, header, file.origin)


def reference(installed: Installation) -> Iterator[Document]:
    """Yields topics of the language reference, charts of Unicode scripts, manuals of the standard library."""
    origin = Origin("python", platform.python_version(), "PSF-2.0")
    charts = Origin("unicode", unicodedata.unidata_version, "Unicode-3.0")
    texts = [_document(f"topics/{name}", text, origin) for name, text in _topics(installed.standard)]
    texts += [_document(f"charts/{name}", text, charts) for name, text in _unicode_charts()]
    texts += _whole(file for file in installed.standard if PurePosixPath(file.name).suffix in PROSE)
    yield from sorted(texts, key=lambda document: keyed_hash("sample", 0, document.id))


def _module_docstring(text: str) -> str:
    """Returns a module's docstring, found by its position, since parsing modules would take most of the time."""
    found = MODULE_DOCSTRING.match(text)
    modules = (node for node in nodes(found[1]) if isinstance(node, ast.Module)) if found else ()
    return next((ast.get_docstring(node) or "" for node in modules), "")


def _licence_header(text: str) -> str:
    comment = LEADING_COMMENT.match(text)
    if comment is None or not LICENCE_WORDS.search(comment[0]):
        return ""
    return COMMENT_MARKS.sub("", comment[0]).strip()


def _wording(header: str, file_name: str) -> str:
    """Returns a header without file name and numbers, in which the headers of a package differ."""
    return NUMBERS.sub("", "\n".join(line for line in header.splitlines() if file_name not in line))


def _topics(standard: Iterable[InstalledFile]) -> Iterator[tuple[str, str]]:
    for file in standard:
        if file.name == "pydoc_data/topics.py":
            dicts = [node for node in nodes(_read(file)) if isinstance(node, ast.Dict)]
            for table in dicts:
                yield from sorted(ast.literal_eval(table).items())


def _unicode_charts() -> Iterator[tuple[str, str]]:
    """Yields one chart per first word of the character names, usually the script, without the huge numbered ones."""
    charts: dict[str, list[str]] = defaultdict(list)
    for code in range(sys.maxunicode + 1):
        name = unicodedata.name(chr(code), "")
        if name and not name.startswith(("CJK ", "HANGUL SYLLABLE", "TANGUT", "EGYPTIAN", "CUNEIFORM")):
            charts[name.split(" ")[0]].append(f"{chr(code)}\tU+{code:04X}\t{name.lower()}")
    for script, lines in sorted(charts.items()):
        if len(lines) > 1:
            yield script.lower(), f"{script.capitalize()}\n\n" + "\n".join(lines) + "\n"
