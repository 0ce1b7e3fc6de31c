"""The corpora whose content is kept as digests: they are opened, built, and looked at."""

import shutil
from collections.abc import Iterable
from pathlib import Path
from unittest.mock import patch

from corpus_assets.corpus.corpus import Corpus
from resources.formats.jsonl.compressions import GZIP
from resources.hashing import value_digest
from resources.ledger.ledger import Record
from tests.build.small import drive, opened
from tests.golden_content.digests import Kept

HERE = Path(__file__).parent
NAMES = sorted(file.stem for file in (HERE / "corpora").glob("*.yaml"))


def placed(name: str, folder: Path, compression: str = GZIP.name) -> Corpus:
    """A corpus in a new folder, not built yet. compression: of its rows."""
    shutil.copytree(HERE / "given", folder)
    config = (HERE / "corpora" / f"{name}.yaml").read_text(encoding="utf-8")
    stored = config.replace("storage: {", f"storage: {{compression: {compression}, ")
    (folder / "corpus.yaml").write_text(stored, encoding="utf-8")
    return opened(folder)


def built(name: str, folder: Path, compression: str = GZIP.name) -> Corpus:
    """The same, built; `AssertionError` names what failed."""
    corpus = placed(name, folder, compression)
    with patch("corpus_assets.card.counting.VERSION", "0"):  # Papers name the version that wrote them.
        done = drive(corpus, list(corpus.graph))
    if faults := [*done.failed, *done.waiting]:
        raise AssertionError(f"corpus {name}: {faults[0]}")
    return corpus


def content_of(corpus: Corpus) -> dict[str, Kept]:
    """What each stage of a built corpus is made of, and its content, by name."""
    planner = corpus.planner()
    found = {}
    for stage in corpus.graph:
        records = planner.records(stage.name)
        found[stage.name] = _kept(stage.code_version, [records[key] for key in planner.partitions(stage)])
    return found


def _kept(code_version: str, records: Iterable[Record]) -> Kept:
    """Versions of libraries are left out: other ones need not give other content."""
    made_of, content = [], []
    for record in records:
        own = {key: value for key, value in record.parameters.items() if ".wheels." not in key}
        made_of.append([record.partition, own, dict(record.inputs)])
        content.append([record.partition, record.digest])
    return Kept(code_version, value_digest(made_of), value_digest(content))
