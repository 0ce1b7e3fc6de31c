"""Pages escape what they are given, and tables show numbers as a person reads them."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from corpus_assets import numbers
from corpus_assets.html.pages import SCRIPT, STYLE, _environment, inline, static
from tests.viewer.browser import chromium, find_chromium

HOSTILE = "<script>alert(1)</script>\"'&"


def table(columns: list[tuple[str, str]], rows: list[list[object]]) -> str:
    template = '{% from "html/parts.html" import table %}{{ table(columns, rows, "caption") }}'
    return _environment(()).from_string(template).render(columns=columns, rows=rows)


def test_a_table_escapes_every_text() -> None:
    shown = table(
        [("a", "text"), (HOSTILE, "long"), ("n", "count")], [[HOSTILE, {"text": HOSTILE, "href": HOSTILE}, 1]]
    )
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") == 4


@pytest.mark.slow
@pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine (Debian package: chromium)")
def test_a_name_without_a_space_leaves_room_for_what_stands_beside_it(tmp_path: Path) -> None:
    shown = table([("partition", "text"), ("state", "text")], [["code--" + "very_long_name_" * 12, "fresh"]])
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><style>{static(STYLE)}</style>{shown}", encoding="utf-8")
    with chromium(tmp_path / "profile") as browser:
        for width in (1400, 500):
            browser.resize(width)
            browser.open(page.as_uri())
            assert browser.evaluate("document.querySelector('td').getBoundingClientRect().right") <= width


def test_a_table_sorts_by_the_number_not_by_its_words() -> None:
    shown = table([("a", "text"), ("bytes", "size"), ("share", "share")], [["x", 2100, None]])
    assert 'data-v="2100">2.1 kB<' in shown
    assert re.search(r'data-v="-1"><span class="soft">–', shown)


def test_a_template_must_be_given_what_it_names() -> None:
    with pytest.raises(UndefinedError):
        _environment(()).from_string("{{ missing }}").render()


@pytest.mark.parametrize("name", [STYLE, SCRIPT])
def test_files_of_pages_ask_for_nothing_from_elsewhere(name: str) -> None:
    assert "http" not in static(name)
    assert inline(name) == static(name)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (numbers.count(7256288), "7,256,288"),
        (numbers.size(2148), "2.1 kB"),
        (numbers.size(999), "999 B"),
        (numbers.size(999_999), "1.0 MB"),
        (numbers.share(0.999475), "99.95 %"),
        (numbers.share(0.003058), "0.31 %"),
        (numbers.share(0.999999), "> 99.99 %"),
        (numbers.share(1), "100.00 %"),
        (numbers.duration(0.0001), "< 1 ms"),
        (numbers.duration(3599.9), "1 h 0 min"),
        (numbers.duration(7500), "2 h 5 min"),
        (numbers.size(None), "–"),
    ],
)
def test_numbers_in_words(shown: str, expected: str) -> None:
    assert shown == expected


@given(st.floats(0, 1))
def test_only_nothing_and_all_are_shown_as_such(value: float) -> None:
    assert (numbers.share(value) == "0.00 %") == (value == 0)
    assert (numbers.share(value) == "100.00 %") == (value == 1)
