"""The text of web pages: several extractors that agree, one after another, one's own, and Markdown."""

import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from unittest.mock import Mock

import pytest

from corpus_assets.raw.rows.faults import RowError
from corpus_assets.raw.web import extractors, libraries
from corpus_assets.raw.web.agreement import agreed_text, leads_elsewhere, words
from corpus_assets.raw.web.extractors import Extraction, extractor, extractor_version, main_text
from resources.errors import ConfigError, StorageError
from tests.raw.test_warc import extras

FIRST = "The first paragraph of the article says a lot."
SECOND = "The second one has other words, and more of them."
TEASER = "Ten things that you never knew about ships."


def test_a_line_that_no_other_text_has_goes() -> None:
    text, other = f"{FIRST}\n{TEASER}\n{SECOND}", f"{FIRST}\n{SECOND}"
    assert agreed_text("", text, text, [other, ""]) == other
    assert agreed_text("", text, text, ["", f"{FIRST} {SECOND}"]) == other
    assert agreed_text("", text, text, ["", ""]) == text


def test_a_text_that_lost_most_of_what_others_agree_on_is_replaced() -> None:
    whole = "\n".join(f"Paragraph {n} of the article is about {n} and {n + 1}." for n in range(9))
    assert agreed_text("", whole.splitlines()[0], f"{TEASER}\n{whole}", ["", whole]) == whole
    most = "\n".join(whole.splitlines()[:8])
    assert agreed_text("", most, f"{TEASER}\n{whole}", ["", whole]) == most


def test_lines_without_spaces_between_words_are_compared_by_their_letters() -> None:
    text = "これは最初の段落です。\n全く関係のない広告文。"
    assert agreed_text("", text, text, ["", "見出し これは最初の段落です。"]) == "これは最初の段落です。"


@pytest.mark.parametrize(
    ("line", "leads"),
    [
        ("READ MORE: A plague in the city that nobody has seen before", True),
        ("A plague in the city that nobody has seen before", True),
        ("They say that it was a plague in the city that nobody has seen before, and more than that.", False),
        ("https://example.org/plague", False),
        ("", False),
        ("Another line", False),
    ],
)
def test_a_line_that_is_a_link_leads_elsewhere(line: str, leads: bool) -> None:
    links = {
        words("A plague in the city that nobody has seen before"),
        words("https://example.org/plague"),
        words("more"),
    }
    assert leads_elsewhere(line, links) == leads


def test_links_of_the_page_are_known() -> None:
    page = f"<p>{FIRST}<p>See also: <A href='/x'><b>Ten things that you never knew about ships &amp; more</b></a>"
    text = f"{FIRST}\nSee also: Ten things that you never knew about ships & more"
    assert agreed_text(page, text, text, [text, text]) == FIRST


@pytest.mark.parametrize("page", ["<a " * 200_000, "<a>" * 200_000, "<a><" * 200_000 + "</a>"])
def test_pages_of_unfinished_links_are_read_in_one_pass(page: str) -> None:
    assert agreed_text(page, FIRST, FIRST, [FIRST, FIRST]) == FIRST


def test_a_very_long_line_is_text() -> None:
    line = "word " * 300_000
    assert agreed_text("<a>word</a>", line, line, [line, line]) == line


def test_the_next_extractor_is_asked_where_one_finds_too_little(own: Callable[[str], None]) -> None:
    own(
        "def short(page): return 'short'\ndef none(page): return None\ndef broken(page): raise KeyError('x')\n"
        "def long(page): return page * 9\n"
    )

    def read(*names: str, least: int = 6) -> str:
        how = Extraction(tuple(f"own_pages:{name}" for name in names), least)
        return main_text("page", extractor(how))

    assert read("short", "long") == "page" * 9
    assert read("short", "long", least=5) == "short"
    assert read("none", "short", "broken") == "short"
    assert read("broken", "long") == "page" * 9
    assert read("short") == "short"
    assert read("none") == ""
    with pytest.raises(RowError, match="extraction_failed"):
        read("none", "broken")


@pytest.mark.parametrize("seconds", [None, 60])
@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("OSError(errno.EMFILE, 'Too many open files')", r"OSError: \[Errno 24\] Too many open files"),
        ("MemoryError('none left')", "MemoryError: none left"),
    ],
)
def test_a_fault_of_the_machine_is_no_fault_of_a_page(
    own: Callable[[str], None], seconds: float | None, raised: str, said: str
) -> None:
    """The page was dropped as a bad row, or had the text of the next extractor."""
    own(f"import errno\ndef broken(page): raise {raised}\ndef long(page): return page * 9\n")
    for names in (("broken",), ("broken", "long"), ("long", "broken")):
        how = Extraction(tuple(f"own_pages:{name}" for name in names), 99, seconds=seconds)
        with pytest.raises(StorageError, match=f"the text of a page: the machine failed: {said}"):
            main_text("page", extractor(how))
    with pytest.raises(StorageError, match="none left"):
        libraries._or_nothing(Mock(side_effect=MemoryError("none left")), "page")


@pytest.mark.parametrize("seconds", [None, 60])
@pytest.mark.parametrize("broken", ["time.localtime(67768036191676800)", "open('/dev/null/a')", "os.stat('a' * 9999)"])
def test_an_error_of_the_system_over_what_a_page_says_is_one_of_the_page(
    own: Callable[[str], None], seconds: float | None, broken: str
) -> None:
    """Its partition would never be built."""
    own(f"import os, time\ndef broken(page): {broken}\ndef long(page): return page * 9\n")
    with pytest.raises(RowError) as fault:
        main_text("page", extractor(Extraction(("own_pages:broken",), 99, seconds=seconds)))
    assert fault.value.reason == "extraction_failed"
    how = Extraction(("own_pages:broken", "own_pages:long"), 9, seconds=seconds)
    assert main_text("page", extractor(how)) == "page" * 9


def test_an_extractor_of_ones_own_has_the_digest_of_its_module_as_version(own: Callable[[str], None]) -> None:
    own("def text(page): return 'one'\n")
    first = extractor_version("own_pages:text")
    assert first.startswith("own_pages:text ")
    own("def text(page): return 'two'\n")
    assert extractor_version("own_pages:text") not in ("", first)
    own("def text(page): return 3\n")
    with pytest.raises(RowError) as fault:
        main_text("page", extractor(Extraction(("own_pages:text",))))
    assert fault.value.detail == "TypeError: own_pages:text returned int; valid: str, or None for a page without a text"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("own_pages:absent", "module 'own_pages' has no function 'absent'"),
        ("no_such_pages:text", "module 'no_such_pages' cannot be imported"),
    ],
)
def test_an_extractor_that_is_nowhere_is_named(own: Callable[[str], None], name: str, message: str) -> None:
    own("")
    with pytest.raises(ConfigError, match=message):
        extractor_version(name)


def test_combined_names_the_package_that_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(libraries, "version", absent)
    with pytest.raises(ConfigError, match=r"readability-lxml is not installed; .*pip install 'corpus-assets\[web\]'"):
        extractor_version("combined")


PAGE = f"""<html><head><title>T</title></head><body><nav><ul><li>Home</li></ul></nav><main>
<h2>A <code>heading</code></h2><p>{FIRST}</p>
<div class="highlight-python3"><pre>
<span class="linenos">1 </span>def f(a):
<span class="linenos">2 </span>    return  "`a` ```x```"
</pre></div>
<ol start="3"><li>third thing in the list<ul><li>a nested thing in it</li></ul></li>
<li><p>fourth thing in the list</p><p>{SECOND}</p></li></ol>
<table><tr><th>name<th>a|b<tr><td>one<td><code>x</code></table>
<table><tr><td><pre>1 + 1<br>  2</pre></td></tr></table>
<p>Formulas are <math><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></semantics></math>
and <span class="math">\\(y_1\\)</span> in a line.</p><div class="math">\\[z\\]</div>
<blockquote><p>A quotation that says some things.</p></blockquote></main>
<div><p>{FIRST}</p><p>{TEASER}</p><pre>ads()</pre></div></body></html>"""
FOUND = f"""A heading\n{FIRST}\nthird thing in the list\na nested thing in it\nfourth thing in the list\n{SECOND}
Formulas are and in a line.\nA quotation that says some things."""
WRITTEN = f"""## A `heading`

{FIRST}

````python3
def f(a):
    return  "`a` ```x```"
````

3. third thing in the list
   - a nested thing in it
4. fourth thing in the list

   {SECOND}

| name | a\\|b |
| --- | --- |
| one | `x` |

```
1 + 1
  2
```

Formulas are $x^2$ and $y_1$ in a line.

$$z$$

> A quotation that says some things."""


def test_blocks_of_the_main_text_are_written_as_markdown(own: Callable[[str], None]) -> None:
    extras("lxml")
    own(f"def text(page): return {FOUND!r}\ndef none(page): return ''\ndef other(page): return 'Not in the page.'\n")

    def read(name: str) -> str:
        return main_text(PAGE, extractor(Extraction((f"own_pages:{name}",), form="markdown")))

    assert read("text") == WRITTEN
    assert read("none") == ""
    assert read("other") == "Not in the page."


def test_markdown_names_what_it_needs(own: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    own("def text(page): return page\n")
    monkeypatch.setitem(sys.modules, "lxml.html", None)
    with pytest.raises(ConfigError, match=r"html.form: markdown needs lxml, .*'corpus-assets\[web\]'"):
        extractor(Extraction(("own_pages:text",), form="markdown"))


def test_deep_pages_are_written_without_recursion(own: Callable[[str], None]) -> None:
    extras("lxml")
    own(f"def text(page): return {FIRST!r}\n")
    page = "<div><ul><li>" * 150 + FIRST + "</li></ul></div>" * 150
    found = main_text(page, extractor(Extraction(("own_pages:text",), form="markdown")))
    assert found.split(maxsplit=1)[1].replace("- ", "").strip().endswith(FIRST)


@pytest.mark.parametrize("name", ["combined", "trafilatura", "resiliparse"])
def test_each_library_gives_the_article(name: str) -> None:
    for package in {"combined": ("readability-lxml", "resiliparse", "trafilatura")}.get(name, (name,)):
        extras(package)
    body = "".join(f"<p>Paragraph {n} of the article is about the number {n}, and about {n + 1}.</p>" for n in range(9))
    page = f"<html><body><nav><a href='/'>Home</a></nav><article><h1>On numbers</h1>{body}</article></body></html>"
    found = main_text(page, extractors.extractor(Extraction((name,))))
    assert found.count("of the article is about the number") == 9
    assert "Home" not in found
