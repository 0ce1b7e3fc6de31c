"""A new user's questions, answered by clicking through the viewer of the sample corpus in a headless Chromium.

Screenshots are kept in `$CORPUS_SCREENSHOTS`, else in pytest's own folder.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from corpus_assets.raw.sample.writing import write_sample
from tests.build.small import drive, opened
from tests.viewer.browser import Browser, chromium, find_chromium
from tests.viewer.served import served

ROOT = Path(__file__).parents[2]
WIDTHS = (1600, 400)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine (Debian package: chromium)"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample corpus, built; the chat dataset in short rows, and what would run after a change."""
    found = tmp_path_factory.mktemp("sample")
    values = yaml.safe_load((ROOT / "corpus.yaml").read_text(encoding="utf-8"))
    for dataset in values["datasets"]:
        if dataset["name"] == "questions":
            dataset["sequence_length"] = 128
    values["engine"] = {"workers": 0}
    values["storage"]["sync"] = False
    (found / "corpus.yaml").write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")
    write_sample(found / "data" / "raw", megabytes=2)
    corpus = opened(found)
    assert not drive(corpus, list(corpus.graph)).failed
    return found


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with served(folder) as base:
        yield f"{base}/corpus/"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with chromium(tmp_path / "profile") as found:
        found.resize(WIDTHS[0])
        yield found
        assert found.faults == []
        assert {urlsplit(one).hostname for one in found.requested if not one.startswith("data:")} == {"127.0.0.1"}


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    found = Path(os.environ.get("CORPUS_SCREENSHOTS") or tmp_path)
    found.mkdir(parents=True, exist_ok=True)
    return found


def look(browser: Browser, pictures: Path, name: str) -> None:
    """Keeps pictures of the page in both widths, in which it fits the window, and asks axe-core about it."""
    for width in WIDTHS:
        browser.resize(width)
        browser.screenshot(pictures / f"viewer-{name}-{width}.png")
        assert browser.too_wide() <= 0, f"{name} does not fit {width} pixels"
    browser.resize(WIDTHS[0])
    assert browser.accessibility_faults() == []


def test_how_many_tokens_has_a_source(browser: Browser, address: str, folder: Path, pictures: Path) -> None:
    browser.open(address)
    cell = "[...document.querySelectorAll('h2#tokens + div tbody tr')].find(r => r.cells[0].innerText == 'docstrings')"
    head = "[...document.querySelectorAll('h2#tokens + div thead th')].map(h => h.innerText)"
    column = browser.evaluate(head).index("megatron")
    shown = int(browser.evaluate(f"{cell}.cells[{column}].innerText").replace(",", ""))
    records = opened(folder).ledger.records("megatron_tokens").values()
    assert shown == sum(one.counters["by_source"].get("docstrings", {}).get("tokens", 0) for one in records) > 0
    look(browser, pictures, "overview")


def test_why_a_document_is_not_in_train(browser: Browser, address: str, folder: Path, pictures: Path) -> None:
    browser.open(address)
    browser.click("Duplicates", within="nav")
    browser.click("is kept", within="article")
    look(browser, pictures, "cluster")
    gone = str(browser.evaluate("document.querySelectorAll('.side h3')[1].innerText")).partition(" / ")[2]
    browser.click("Search", within="nav")
    browser.fill("q", gone)
    browser.click("Search", within="main")
    look(browser, pictures, "search")
    browser.click("where did it go?")
    assert "ended in duplicates" in browser.text.replace("\n", " ")
    assert "near-duplicate" in browser.text or "its text is that of" in browser.text
    look(browser, pictures, "why")
    browser.click("normalized_documents", within=".way")
    look(browser, pictures, "asset")


def test_ten_duplicates_and_what_was_kept(browser: Browser, address: str, pictures: Path) -> None:
    browser.open(address)
    browser.click("Duplicates", within="nav")
    clusters = browser.evaluate("document.querySelectorAll('article').length")
    assert 0 < clusters <= 10
    look(browser, pictures, "duplicates")
    browser.evaluate("document.querySelector('[name=order]').value = 'random'")
    browser.click("Show", within="main")
    browser.click("is kept", within="article")
    assert browser.evaluate("document.querySelectorAll('.side .text').length") == 2


def test_row_17_of_the_chat_dataset_with_its_loss_mask(browser: Browser, address: str, pictures: Path) -> None:
    browser.open(address)
    browser.click("questions", within="h2#datasets ~ div")
    browser.fill("row", "17")
    browser.click("Show", within="main")
    assert "questions, row 17" in browser.text
    learned = browser.evaluate("[...document.querySelectorAll('.sequence .t.loss')].map(t => t.innerText).join('')")
    context = browser.evaluate("[...document.querySelectorAll('.sequence .t.context')].map(t => t.innerText).join('')")
    assert "<|im_end|>" in learned and "<|im_start|>" not in learned
    assert "assistant" in context and "user" in context
    look(browser, pictures, "tokens")
    browser.click("as a table of ids")
    assert "loss mask" in browser.text
    look(browser, pictures, "token-table")
    browser.open(f"{address}tokens/documents?row=2")
    look(browser, pictures, "tokens-of-documents")
    browser.open(f"{address}tokens/huggingface?row=1")
    browser.click("which document is this?")
    assert "reached" in browser.text
    look(browser, pictures, "reached")


def test_the_plan_and_the_configuration(browser: Browser, address: str, folder: Path, pictures: Path) -> None:
    browser.open(f"{address}plan")
    assert "a build has nothing to do" in browser.text
    file = folder / "corpus.yaml"
    before = file.read_text(encoding="utf-8")
    try:
        file.write_text(before.replace("holdout: 0.02", "holdout: 0.03"), encoding="utf-8")
        browser.open(f"{address}plan")
        assert "Will be computed" in browser.text
        assert "split.holdout 0.02 -> 0.03" in browser.text
        look(browser, pictures, "plan")
        browser.click("Configuration", within="nav")
        assert "Recorded, and set now" in browser.text
        look(browser, pictures, "config")
    finally:
        file.write_text(before, encoding="utf-8")


def test_a_document_with_its_attributes(browser: Browser, address: str, pictures: Path) -> None:
    browser.open(f"{address}assets/filtered_documents")
    browser.click("docstrings--", within="main table")
    look(browser, pictures, "partition")
    browser.click("3", within="main h2#rows ~ div")
    assert "Attributes" in browser.text
    look(browser, pictures, "document")


def test_documents_by_two_numbers_in_the_list_and_in_counts(browser: Browser, address: str, pictures: Path) -> None:
    browser.open(f"{address}documents?number=bytes&min=200")
    browser.fill("max2", "4000")
    browser.click("Show", within="main")
    assert {"number=bytes", "min=200", "max2=4000"} <= set(str(browser.evaluate("location.search")[1:]).split("&"))
    level = "new Set([...document.querySelectorAll('main form .fields:first-of-type :is(input, select)')]"
    assert browser.evaluate(f"{level}.map(e => e.getBoundingClientRect().top)).size") == 1, "fields beside each other"
    look(browser, pictures, "documents")
    browser.click("How many of each kind")
    look(browser, pictures, "facets")


def test_a_token_offset_and_its_document(browser: Browser, address: str, pictures: Path) -> None:
    browser.open(f"{address}tokens/megatron?token=70000")
    look(browser, pictures, "token-offset")
    browser.click("Which document is it of?")
    assert "reached" in browser.text


def test_phrases_with_what_stands_around_them(browser: Browser, address: str, pictures: Path) -> None:
    browser.open(f"{address}search?q=return")
    assert browser.evaluate("document.querySelectorAll('article mark').length") > 0
    look(browser, pictures, "phrases")


def test_the_report_runs_only_its_own_script(browser: Browser, address: str, pictures: Path) -> None:
    browser.open(f"{address}report")
    assert browser.evaluate("document.querySelectorAll('th button').length") > 0
    browser.screenshot(pictures / "viewer-report-1600.png")
