"""A page over a file that the machine or the store cannot read now does not say that the file is damaged."""

import html
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import patch

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from corpus_assets.viewer import browse, states
from corpus_assets.viewer.app import _endpoint
from corpus_assets.viewer.opened import Opened
from corpus_assets.viewer.site import Asked
from resources.errors import StoreAccessError

OF_THE_MACHINE = [
    (OSError(5, "Input/output error", "documents/a.jsonl.gz"), "documents/a.jsonl.gz: Input/output error"),
    (StoreAccessError("s3://bucket: the store answers SlowDown"), "the store answers SlowDown"),
]
OF_THE_FILE = [OSError("no HDF5 signature"), FileNotFoundError(2, "No such file or directory", "a")]


def answered(fault: Exception) -> tuple[int, str]:
    """Status and text of a page whose file raises a fault."""

    def page(_: Asked) -> str:
        raise fault

    opened = cast(Opened, SimpleNamespace(view=lambda: None))
    client = TestClient(Starlette(routes=[Route("/", _endpoint(opened, page, True))]))
    with patch.object(states, "page", lambda *_, **__: "What is stored of it is damaged"):
        answer = client.get("/")
    return answer.status_code, html.unescape(answer.text)


@pytest.mark.parametrize(("fault", "words"), OF_THE_MACHINE)
def test_a_fault_of_the_machine_is_said_as_it_is(fault: Exception, words: str) -> None:
    status, text = answered(fault)
    assert status == 503
    assert words in text and "damaged" not in text


@pytest.mark.parametrize("fault", OF_THE_FILE)
def test_a_fault_of_a_file_is_damage(fault: Exception) -> None:
    assert answered(fault) == (200, "What is stored of it is damaged")


def test_rows_of_a_file_that_cannot_be_read_now_are_not_shown_as_damaged() -> None:
    record: Any = SimpleNamespace(files=[SimpleNamespace(path="a")])
    for fault, _ in OF_THE_MACHINE:
        with patch.object(browse, "_rows", side_effect=fault), pytest.raises(type(fault)):
            browse._readable_rows(cast(Any, None), cast(Any, None), record, 0, 0)
    with patch.object(browse, "_rows", side_effect=OF_THE_FILE[0]):
        assert browse._readable_rows(cast(Any, None), cast(Any, None), record, 0, 0)["damaged"] == "no HDF5 signature"
