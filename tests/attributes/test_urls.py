"""URLs in lists: what a list names, and which documents it hits."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.attributes.string_set import StringSet
from resources.documents.tagger import Text
from resources.formats.documents import Document
from resources.outside_files import OutsideFile

HOSTS = """# comment
127.0.0.1 localhost
0.0.0.0 ads.example.org # why
1.2.3.4 numbered.example.net
999.1.1.1 wrong.example.net
https://www.full.example.com:8080/Path/x/?q=1
web.de
||abp.example.com^
"""
SITES = [
    {"url": "https://www.bbc.co.uk/news", "description": "British broadcaster"},
    {"url": "http://games.example.com", "description": "Casino"},
    {"url": None, "description": None},
]
Hit = Callable[[Any], bool]


def hit(tmp_path: Path, tagger: str, content: str, compat: str | None = None) -> Hit:
    """Whether a tagger with a list says that a URL is in it."""
    (tmp_path / "list.gz").write_bytes(gzip.compress(content.encode()))
    chosen, files = BUILT_IN[tagger], [OutsideFile(str(tmp_path / "list.gz"))]
    held = {option: load(files) for option, load in chosen.loaders(compat).items()}

    def of(url: Any) -> bool:
        document = Document("a", "text", "s", metadata=msgspec.Raw(json.dumps({"url": url}).encode()))
        found = chosen.function(compat)(Text(document), **held)
        assert found in ({}, {"url": [(0, 4, 1.0)]})
        return bool(found)

    return of


def test_hosts(tmp_path: Path) -> None:
    blocked = hit(tmp_path, "blocklist_hosts_porn_v1", HOSTS)
    for url in ("http://ads.example.org/x?y", "WEB.de", "https://www.web.de", "http://full.example.com", "1.2.3.4"):
        assert blocked(url), url
    assert blocked("http://user@abp.example.com:81/")
    for other in (
        "http://eb.de",
        "localhost",
        "127.0.0.1",
        "wrong.example.net",
        "sub.web.de",
        "",
        None,
        5,
        "http://[x",
    ):
        assert not blocked(other), other


def test_hosts_as_in_the_toolkit(tmp_path: Path) -> None:
    blocked = hit(tmp_path, "blocklist_hosts_porn_v1", HOSTS, "dolma")
    assert blocked("http://eb.de")
    assert blocked("127.0.0.1")
    with pytest.raises(ValueError, match="Failed to parse"):
        blocked("http://[x")


def test_whole_urls(tmp_path: Path) -> None:
    blocked = hit(tmp_path, "url_list", HOSTS)
    assert blocked("http://www.full.example.com:8080/path/X?other#there")
    assert not blocked("http://www.full.example.com/path/x")
    links = hit(tmp_path, "link_blocklist_phishing_v1", "#no\nbad.example.com/Login\n")
    assert links("https://bad.example.com/login/")
    assert not links("https://bad.example.com")


def test_sites_allow_the_hosts_below_them(tmp_path: Path) -> None:
    allowed = hit(tmp_path, "allowlist_wikidata_v1", json.dumps(SITES))
    assert allowed("http://news.bbc.co.uk/a")
    assert allowed("games.example.com")
    assert not allowed("http://other.thing.co.uk")
    assert not hit(tmp_path, "allowlist_wikidata_cleaned_v1", json.dumps(SITES))("games.example.com")
    assert hit(tmp_path, "allowlist_wikidata_cleaned_v1", json.dumps(SITES), "dolma")("http://other.thing.co.uk")


def test_rules(tmp_path: Path) -> None:
    pytest.importorskip("adblock", reason="the extra adblock is not installed")
    blocked = hit(tmp_path, "rule_list", "! Title\n||ads.example.com^\n@@||ads.example.com/fine^\n")
    assert blocked("https://x.ads.example.com/a")
    assert not blocked("https://ads.example.com/fine/a")
    assert not blocked("https://example.com")


@given(st.lists(st.text(max_size=4)), st.text(max_size=4))
def test_a_set_of_strings(strings: list[str], other: str) -> None:
    found = StringSet(strings)
    assert all(string in found for string in strings)
    assert (other in found) == (other in strings)
