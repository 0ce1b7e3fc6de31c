"""Every fault that the code can give a row is declared, so that plots of dropped rows have no gaps."""

import ast
from typing import get_args

import pytest

from corpus_assets.config.datasets.files import Shape
from corpus_assets.config.datasets.modes import SECTIONS
from corpus_assets.raw import reasons
from corpus_assets.raw.losses import BAD_FILE, NO_DOCUMENT, SKIPPED_MEMBER, TAKEDOWN
from corpus_assets.tokenize.modes.registry import mode_of
from tests.house import sources

RAISED = {"RowError", "BadRow", "_NothingError", "TurnsError", "UnusablePairError", "TemplateFault", "discard_document"}


def raised(package: str) -> set[str]:
    """The plain words that the modules of a package give as the reason of a fault."""
    found = set()
    for module, file in sources().items():
        if not module.startswith(package):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _name(node.func) in RAISED:
                found |= {word for given in node.args[:2] if (word := _word(given))}
    return found


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _word(node: ast.expr) -> str:
    """A constant that is a reason; details have spaces."""
    value = node.value if isinstance(node, ast.Constant) else ""
    return value if isinstance(value, str) and value.isidentifier() else ""


def given(**values: object) -> dict[str, object]:
    base = {"format": "auto", "glob": "**/*", "extractor": None, "on_bad_file": "skip"}
    return {**base, **values}


def test_every_fault_of_a_row_is_declared() -> None:
    """Each is the fault of some format, or of the values of some shape."""
    settings = {"sources": [given(extractor="resiliparse")], "remove": {"location": "lists"}}
    declared = set(reasons.document_reasons(settings))
    for shape in get_args(Shape):
        declared |= set(reasons.shape_reasons(shape))
    assert raised("corpus_assets.raw") - declared == set()
    assert {BAD_FILE, SKIPPED_MEMBER, TAKEDOWN, *NO_DOCUMENT} <= declared


def test_every_reason_to_discard_a_document_is_declared_by_a_mode() -> None:
    declared = {reason for section in SECTIONS.values() for reason in _reasons_of(section)}
    assert raised("corpus_assets.tokenize") - declared == set()


def _reasons_of(section: type) -> set[str]:
    return {
        reason
        for pack in (True, False)
        for reason in mode_of(section.model_construct(None, pack=pack)).reasons  # type: ignore[attr-defined]
    }


@pytest.mark.parametrize(
    ("source", "there", "absent"),
    [
        (given(format="jsonl"), {"invalid_json", BAD_FILE}, {"bad_quotes", "bad_value", "http_status", SKIPPED_MEMBER}),
        (given(format="csv.gz", on_bad_file="fail"), {"bad_quotes", "nul"}, {BAD_FILE, "bad_value"}),
        (given(format="warc.wet.gz"), {"no_text_found", "http_status"}, {"bad_quotes"}),
        (given(glob="*.warc"), {"http_status", "bad_quotes"}, {TAKEDOWN}),
    ],
)
def test_a_source_declares_what_its_format_can_give(
    source: dict[str, object], there: set[str], absent: set[str]
) -> None:
    found = set(reasons.document_reasons({"sources": [source], "remove": None}))
    assert there <= found
    assert not absent & found
