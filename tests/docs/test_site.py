"""The pages as a site: it builds without a warning, asks no other host, and its search finds a page."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

from docs.generate import FOLDER
from tests.viewer.browser import chromium, find_chromium

SEARCHED = """
(async () => {
    const field = document.querySelector('[data-md-component=search-query]');
    document.querySelector('label.md-header__button[for=__search]').click();
    field.focus();
    field.value = 'takedown';
    for (;;) {
        field.dispatchEvent(new Event('input', {bubbles: true}));
        field.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}));
        const found = [...document.querySelectorAll('.md-search-result__link')].map(link => link.href);
        if (found.length) return found;
        await new Promise(resume => requestAnimationFrame(resume));
    }
})()
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("material") is None, reason="no mkdocs-material: extra `docs`"),
]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        return


def built(top: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """What `make site` runs. With `--quiet` mkdocs counts no warnings, and a broken link would pass."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    return subprocess.run(command, check=False, cwd=top, capture_output=True, text=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("site")
    done = built(FOLDER.parent, found)
    assert done.returncode == 0, done.stdout + done.stderr
    return found


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_every_page_is_in_the_site_and_loads_nothing_from_another_host(site: Path) -> None:
    pages = {page.relative_to(FOLDER).with_suffix("") for page in FOLDER.rglob("*.md")}
    made = {page.relative_to(site).with_suffix("") for page in site.rglob("*.html")}
    assert {page.parent / "index" if page.name == "README" else page for page in pages} <= made
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|link|img)\b[^>]*?(?:src|href)="?(https?:)?//', page.read_text(encoding="utf-8")
        )
        assert loaded == [], page


@pytest.mark.parametrize("link", ["nowhere.md", "stores.md#nothing"])
def test_a_broken_link_fails(link: str, tmp_path: Path) -> None:
    top = tmp_path / "top"
    shutil.copytree(FOLDER, top / "docs")
    shutil.copytree(FOLDER.parent / "deploy", top / "deploy")
    for file in (*FOLDER.parent.glob("*.md"), FOLDER.parent / "mkdocs.yml"):
        shutil.copy(file, top)
    with (top / "docs" / "viewer.md").open("a", encoding="utf-8") as page:
        page.write(f"\n[broken]({link})\n")
    done = built(top, tmp_path / "site")
    assert done.returncode != 0
    assert link.partition("#")[0] in done.stderr


@pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine (Debian package: chromium)")
def test_the_search_finds_a_page(address: str, tmp_path: Path) -> None:
    with chromium(tmp_path / "profile") as browser:
        browser.open(f"{address}/index.html")
        found = browser.evaluate(SEARCHED)
        assert any(urlsplit(link).path == "/takedown.html" for link in found)
        browser.open(found[0])
        assert "takedown" in browser.text.lower()
        assert browser.faults == []
        assert {urlsplit(one).hostname for one in browser.requested if one.startswith("http")} == {"127.0.0.1"}
