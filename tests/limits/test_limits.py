"""Every limit on what comes from outside is on the page about security, and holds just within and just beyond."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

from docs.limits import LIMITS
from resources.endpoint import client
from resources.errors import EndpointError
from tests.attributes.endpoint_server import endpoint
from tests.house import TOP
from tests.limits.cases import CASES, REFUSALS
from tests.limits.named import NO_LIMIT, READERS

_CODECS, _WARC = "tests/resources/formats/test_codecs.py", "tests/raw/test_warc.py"
_TEMPLATES, _GUARD = "tests/tokenize/test_limited_template.py", "tests/viewer/test_guard.py"
ELSEWHERE = {
    "corpus_assets.raw.rows.rules:Limits.window": f"{_CODECS}::test_zstd_window_limit",
    "corpus_assets.raw.formats.columns:FREE_VALUE_BYTES": (
        "tests/raw/test_parquet.py::test_values_that_rows_share_have_a_limit_in_all"
    ),
    "corpus_assets.raw.web.extractors:MOST_NESTED": f"{_WARC}::test_pages_that_nest_too_deep_are_bad_rows",
    "resources.raw_places.connection:LONGEST_ASKED_FOR": (
        "tests/resources/raw_places/test_web.py::test_a_busy_server_is_asked_again"
    ),
    "resources.endpoint.client:_LONGEST_WAIT": "tests/limits/test_limits.py::test_an_endpoint_is_waited_for_no_longer",
    "resources.processes.limited_work:Limits.cpu_seconds": f"{_TEMPLATES}::test_limits_hold_whatever_a_template_does",
    "resources.processes.limited_work:Limits.memory": f"{_TEMPLATES}::test_limits_hold_whatever_a_template_does",
    "corpus_assets.tokenize.modes.chat.limited_template:MAX_OVER_LIMIT": (
        f"{_TEMPLATES}::test_a_file_has_few_conversations_that_cost_too_much"
    ),
    "corpus_assets.viewer.guard:MOST_QUERY": f"{_GUARD}::test_texts_have_limits",
    "corpus_assets.viewer.reading:MOST_JSON": f"{_GUARD}::test_files_that_are_shown_have_limits",
    "corpus_assets.viewer.report:MOST_BYTES": f"{_GUARD}::test_files_that_are_shown_have_limits",
}
"""Limits with a test of their own."""
_LIKE_A_LIMIT = re.compile(r"_?(MAX|MOST|LARGEST|LONGEST|DEEPEST)")


def named() -> set[str]:
    """Returns every constant of the readers that is named like a limit."""
    found: set[str] = set()
    for place in READERS:
        files = [TOP / place] if place.endswith(".py") else sorted((TOP / place).rglob("*.py"))
        for file in files:
            module = ".".join(file.relative_to(TOP).with_suffix("").parts)
            for node in ast.parse(file.read_text(encoding="utf-8")).body:
                targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
                names = [one for target in targets if target is not None for one in ast.walk(target)]
                found |= {f"{module}:{one.id}" for one in names if isinstance(one, ast.Name)}
    return {name for name in found if _LIKE_A_LIMIT.match(name.partition(":")[2])}


def set_limit(monkeypatch: pytest.MonkeyPatch, places: tuple[str, ...], value: int) -> None:
    for place in places:
        module, _, name = place.partition(":")
        if "." not in name:
            monkeypatch.setattr(import_module(module), name, value)


@pytest.mark.parametrize("place", CASES)
def test_a_limit_holds_just_within_and_just_beyond(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resources.raw_places.connection.BACKOFF", 0.0)
    case = CASES[place]
    for folder in ("within", "beyond"):
        (tmp_path / folder).mkdir()
    set_limit(monkeypatch, (place, *case.also), case.measure)
    case.read(tmp_path / "within", case.measure)
    set_limit(monkeypatch, (place, *case.also), case.measure - 1)
    with pytest.raises(REFUSALS):
        case.read(tmp_path / "beyond", case.measure - 1)


def test_every_limit_has_a_test() -> None:
    assert {limit.place for limit in LIMITS} == CASES.keys() | ELSEWHERE.keys()
    assert not CASES.keys() & ELSEWHERE.keys()
    for test in ELSEWHERE.values():
        file, _, name = test.partition("::")
        assert f"def {name}(" in (TOP / file).read_text(encoding="utf-8"), test


def test_every_limit_is_on_the_page() -> None:
    missing = named() - {limit.place for limit in LIMITS} - NO_LIMIT.keys()
    assert not missing, "add them to docs/limits.py, or say in NO_LIMIT what they are"
    assert NO_LIMIT.keys() <= named(), "they are gone"
    page = (TOP / "docs/trust.md").read_text(encoding="utf-8")
    assert all(f"| {limit.shown}" in page and f"| `{limit.place}` |" in page for limit in LIMITS)


def test_an_endpoint_is_waited_for_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("resources.endpoint.client.time.sleep", waits.append)
    with endpoint(lambda *_: (503, "busy")) as served:
        address = client.Address(served.url, "m", retries=3, wait=client._LONGEST_WAIT / 2)
        with pytest.raises(EndpointError):
            client.Client(address, tmp_path).ask("/x", {})
    assert waits == [client._LONGEST_WAIT / 2, client._LONGEST_WAIT, client._LONGEST_WAIT]
