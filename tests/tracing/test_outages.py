"""A store that does not answer when a tokenizer is read is said: the tokenizer is not gone, and ids are not shown."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from corpus_assets.cli.questions import show
from corpus_assets.tracing import token_files
from corpus_assets.viewer.tokens import rows
from resources.errors import DamagedFileError, StoreAccessError
from resources.stage.declaration import Partitioning

RECORD: Any = SimpleNamespace(asset="a", parameters={}, files=[SimpleNamespace(path="tokenizer/spec.json")])
TOKENIZER = SimpleNamespace(name="tokenizer", partitioning=Partitioning.NONE)
CORPUS: Any = SimpleNamespace(
    graph={"a": SimpleNamespace(inputs=[SimpleNamespace(asset="tokenizer")]), "tokenizer": TOKENIZER},
    ledger=SimpleNamespace(read=lambda *_: RECORD),
    settings=SimpleNamespace(values={"datasets": [{"name": "train", "tokenizer": {"kind": "gpt2"}}]}),
    partition=lambda *_: RECORD,
    storage=None,
)
VIEW: Any = SimpleNamespace(corpus=CORPUS, partition=lambda *_: RECORD)
Asked = Callable[[], object]


@pytest.mark.parametrize(
    ("module", "ask"),
    [
        (show, lambda: show._decoder(CORPUS, RECORD, "digest")),
        (rows, lambda: rows._tokenizer(VIEW, "train", "digest")),
        (token_files, lambda: token_files._tokenizer(CORPUS, "tokenizer")),
    ],
)
def test_a_tokenizer_is_absent_only_if_the_store_says_so(
    module: object, ask: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise faults.pop()

    faults: list[Exception] = [DamagedFileError("tokenizer", None, "spec.json", "damaged"), FileNotFoundError()]
    monkeypatch.setattr(module, "load_tokenizer_of", fails)
    assert (ask(), ask()) == (None, None)
    faults.append(StoreAccessError("the store answers SlowDown"))
    with pytest.raises(StoreAccessError, match="SlowDown"):
        ask()
