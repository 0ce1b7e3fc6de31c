"""A tick of the sensor that the machine fails leaves no asset marked as fresh."""

from types import SimpleNamespace
from typing import Any

import pytest

from corpus_assets.orchestration import sensor
from resources.errors import StoreAccessError


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (OSError(5, "Input/output error", "ledger/a"), "ledger/a: Input/output error"),
        (StoreAccessError("SlowDown"), "SlowDown"),
    ],
)
def test_where_the_machine_fails_no_asset_stays_fresh(
    monkeypatch: pytest.MonkeyPatch, fault: Exception, words: str
) -> None:
    def fails() -> None:
        raise fault

    told: dict[str, Any] = {}
    monkeypatch.setattr(sensor, "tell", lambda _, __, found: told.update(found))
    current: Any = SimpleNamespace(now=fails, corpus=SimpleNamespace(graph=[SimpleNamespace(name="train")]))
    instance: Any = None
    with pytest.raises(type(fault)):
        sensor._planner(current, instance)
    assert told["train"].words == f"not known, since no plan can be made: {words}"
