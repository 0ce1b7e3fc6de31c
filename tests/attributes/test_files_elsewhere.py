"""Files of attributes in a bucket and on the Hugging Face hub give the same rows as those in a folder."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.attributes.test_files import DOCUMENTS, build, changed, configure, scores, write
from tests.build.small import opened
from tests.build.test_raw_places import Elsewhere, of_hub, of_object_store

pytestmark = pytest.mark.slow


@pytest.fixture(params=[of_object_store, of_hub], ids=["s3", "hub"])
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Elsewhere]:
    opening: Callable[..., Iterator[Elsewhere]] = request.param
    yield from opening(tmp_path / "place", monkeypatch)


def test_files_elsewhere_give_the_same_and_are_looked_at_again(tmp_path: Path, elsewhere: Elsewhere) -> None:
    (tmp_path / "place").mkdir(exist_ok=True)
    local = tmp_path / "local"
    for name in ("a.jsonl.gz", "b.parquet"):
        write(local / "data/documents/web" / name, DOCUMENTS)
        write(local / "data/attributes/tox/web" / name, scores())
    configure(local)
    corpus, done = build(local)
    assert done.failed == []
    wanted = {key: record.digest for key, record in corpus.records("tox_attributes").items()}
    assert len(wanted) == 2
    place: dict[str, Any] = elsewhere.location("attributes/tox")
    elsewhere.publish(local / "data")
    configure(local, place, storage={"sync": False, "root": "other"})
    corpus, done = build(local)
    assert done.failed == []
    assert {key: record.digest for key, record in corpus.records("tox_attributes").items()} == wanted
    write(local / "data/attributes/tox/web/a.jsonl.gz", changed(2, attributes={"score": 7}))
    elsewhere.publish(local / "data")
    stale = {(one.asset, one.partition) for one in opened(local).planner().plan().decisions if one.status == "stale"}
    assert stale == {("tox_attribute_files", "web--a")}
    write(local / "data/attributes/tox/web/a.jsonl.gz", scores()[:3])
    elsewhere.publish(local / "data")
    (line,) = build(local)[1].failed
    assert "attributes/tox/web/a.jsonl.gz row 3: is missing" in line
