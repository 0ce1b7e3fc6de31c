"""A sample of a corpus: documents of the whole, in a store of its own."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpus_assets.cli.sampling import Asked, share_in, write_sample_config
from corpus_assets.config.reading.loading import load_config
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.building.summary import summary
from resources.errors import ConfigError, StorageError
from resources.stage.partition import Partition
from tests.build.small import Work, contents, digests, drive, live_records, opened, raw_rows, write_config, write_small


def documents(corpus: Corpus) -> dict[str, list[bytes]]:
    """Lines of the normalized documents of each shard."""
    records = corpus.planner().records("normalized_documents")
    return {str(key): list(Partition(corpus.storage, record).lines()) for key, record in records.items()}


def sample(folder: Path, asked: Asked) -> Corpus:
    return Corpus.open(write_sample_config(folder / "corpus.yaml", asked))


def test_a_sample_holds_documents_of_the_whole_and_the_whole_knows_nothing_of_it(work: Work) -> None:
    whole = opened(work.folder)
    before = digests(whole), contents(whole)
    part = sample(work.folder, Asked(share=0.5))
    built = drive(part)
    assert (built.failed, built.waiting) == ([], [])
    for key, lines in documents(part).items():
        remaining = iter(documents(whole)[key])
        assert all(line in remaining for line in lines), f"{key}: not in the order of the whole"
    found, all_of_it = summary(part.planner()), summary(whole.planner())
    assert found.documents + found.not_sampled == all_of_it.documents
    assert 0 < found.documents < all_of_it.documents
    assert "not_sampled" not in found.dropped
    assert (digests(opened(work.folder)), contents(opened(work.folder))) == before
    assert all("sample" not in key for record in live_records(whole).values() for key in record.parameters)
    assert not opened(work.folder).planner().orphans()


def test_a_sample_follows_the_configuration_of_the_whole(work: Work) -> None:
    part = sample(work.folder, Asked(share=0.5))
    drive(part)
    again = Corpus.open(part.file)
    assert not drive(again).recomputed
    write_config(work.folder, {"short_documents.threshold": 10})
    assert "short_documents" in drive(Corpus.open(part.file)).assets()


@pytest.mark.slow
def test_a_sample_is_the_same_for_any_number_of_workers(tmp_path: Path) -> None:
    found = []
    for workers in (0, 2):
        folder = write_small(tmp_path / str(workers), {"engine.workers": workers})
        part = sample(folder, Asked(share=0.4, seed=5))
        assert not drive(part).failed
        # The report says how long it took.
        known = {name: digest for name, digest in digests(part).items() if name[0] != "report"}
        files = {path: digest for path, digest in contents(part).items() if not path.startswith("report")}
        found.append((known, files))
    assert found[0] == found[1]


def test_a_limit_gives_as_many_rows_of_each_source(work: Work) -> None:
    part = sample(work.folder, Asked(limit=4))
    assert not drive(part).failed
    rows: dict[str, int] = {}
    for key, record in part.planner().records("normalized_documents").items():
        numbers = record.statistics
        source = str(key).partition("--")[0]
        rows[source] = rows.get(source, 0) + numbers["rows_in"] - numbers["dropped"].get("not_sampled", 0)
    assert rows == {"books": 4, "web": 4, "notes": 4}


def test_own_files_of_datasets_are_sampled_and_removed_documents_stay_away(tmp_path: Path) -> None:
    chat = {"name": "pairs", "mode": "summarization", "sequence_length": 64, "input": {"location": "pairs"}}
    datasets = [{"name": "train", "input": "decontaminated_train", "sequence_length": 64}, chat]
    folder = write_small(tmp_path, {"datasets": datasets, "remove": {"location": "lists/*.txt"}})
    (folder / "pairs").mkdir()
    lines = [json.dumps({"prompt": f"p {number}", "completion": f"c {number}"}) for number in range(200)]
    (folder / "pairs" / "a.jsonl").write_text("\n".join(lines))
    rows = raw_rows()["books/one.jsonl"]
    (folder / "lists").mkdir()
    (folder / "lists" / "a.txt").write_text("\n".join(row["id"] for row in rows[::2]) + "\n")
    part = sample(folder, Asked(share=0.5))
    assert not drive(part).failed
    numbers = next(iter(part.planner().records("pairs_examples").values())).statistics
    assert numbers["rows_out"] + numbers["dropped"]["not_sampled"] == 200
    assert 60 < numbers["rows_out"] < 140
    kept = {json.loads(line)["id"] for line in documents(part)["books--one"]}
    assert kept <= {row["id"] for row in rows[1::2]}


def test_a_source_of_which_no_row_is_in_the_sample_holds_nothing_back(work: Work) -> None:
    part = sample(work.folder, Asked(share=0.0001))
    assert (drive(part).failed, summary(part.planner()).documents) == ([], 0)
    assert not part.planner().gate(part.graph["normalized_documents"])


def test_a_sample_is_never_taken_for_the_whole(work: Work) -> None:
    part = sample(work.folder, Asked(share=0.5))
    drive(part)
    root = str(part.file.parent / "corpus")
    write_config(work.folder, {"storage.root": root, "name": "small"})
    with pytest.raises(ConfigError, match="overlaps that of the whole"):
        Corpus.open(part.file)
    with pytest.raises(StorageError, match="belongs to corpus 'sample-of-"), opened(work.folder).exclusive():
        pass


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"sample": {"of": "../corpus.yaml", "share": 2}}, "sample.share"),
        ({"sample": {"of": "../corpus.yaml"}, "mix": {"chunks": 3}}, "mix: with `sample.of`"),
        ({"sample": {"of": "../nowhere.yaml"}}, "cannot be read"),
        ({"sample": {"of": "../part/corpus.yaml"}}, "no configuration of a whole corpus"),
    ],
)
def test_a_wrong_sample_is_refused(work: Work, values: dict[str, Any], fault: str) -> None:
    sample(work.folder, Asked(share=0.5, root=work.folder / "part"))
    file = work.folder / "other" / "corpus.yaml"
    file.parent.mkdir()
    file.write_text(yaml.safe_dump(values))
    with pytest.raises(ConfigError, match=fault):
        load_config(file)


def test_the_folder_of_a_sample_holds_nothing_else(work: Work) -> None:
    with pytest.raises(ConfigError, match="holds something else than a sample"):
        write_sample_config(work.folder / "corpus.yaml", Asked(share=0.5, root=work.folder / "corpus"))
    first = write_sample_config(work.folder / "corpus.yaml", Asked(share=0.5))
    assert first.parent.name == "corpus-sample-50-percent"
    assert write_sample_config(work.folder / "corpus.yaml", Asked(share=0.5)) == first
    with pytest.raises(ConfigError, match="is a sample already"):
        write_sample_config(first, Asked(share=0.5))


def test_a_sample_needs_documents_it_can_choose(tmp_path: Path) -> None:
    folder = write_small(tmp_path)
    write_config(folder, {"streams": [{"name": "raw", "compat": "dolma"}]})
    with pytest.raises(ConfigError, match="cannot be sampled"):
        sample(folder, Asked(share=0.5))


@pytest.mark.parametrize(("given", "share"), [("1%", 0.01), ("0.25", 0.25), ("100%", 1.0)])
def test_shares_are_read(given: str, share: float) -> None:
    assert share_in(given) == pytest.approx(share)


@pytest.mark.parametrize("given", ["0", "101%", "-1%", "nan", "one", ""])
def test_other_shares_are_refused(given: str) -> None:
    with pytest.raises(ConfigError, match="valid: a share"):
        share_in(given)
