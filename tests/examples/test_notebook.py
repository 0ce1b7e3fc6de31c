"""The notebook says what is so of the sample corpus: its tables are compared with records, rows and ids."""

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.corpus.corpus import Corpus
from resources.stage.partition import Partition
from tests.build.small import opened
from tests.examples.test_examples import EXAMPLES, commands
from tests.forked import path_of_commands

NOTEBOOK = EXAMPLES / "notebook" / "corpus.ipynb"
ASKED = """
import json

sums = {
    "partitions": built.partitions.to_dict(),
    "rows_out": built.rows_out.dropna().to_dict(),
    "status": status.sum().to_dict(),
    "due": len(due),
    "tokens": {dataset: int(count) for (_, dataset), count in tokens.sum().items()},
    "documents": documents.sum().to_dict(),
    "dropped": {"/".join(of): int(count) for of, count in dropped.sum(axis=1).items()},
    "in_histogram": int(lengths.sum()),
    "scored": scored[key].tolist(),
    "scored_texts": scored.text.str.len().tolist(),
    "scored_shards": sorted(shards),
    "by_partition": by_partition.to_dict("index"),
}
print(json.dumps(sums, default=int))
"""


def cells(notebook: Path) -> dict[str, dict[str, Any]]:
    """The cells with code, by id."""
    found = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: cell for cell in found if cell["cell_type"] == "code"}


def partitions(corpus: Corpus, asset: str) -> list[Partition]:
    return [corpus.handle(record) for record in corpus.ledger.records(asset).values()]


def test_it_is_stored_without_outputs() -> None:
    found = cells(NOTEBOOK)
    assert len(found) > 10
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in found.values())


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the commands of the page ran; the notebook has a cell more, which tells its results."""
    pytest.importorskip("nbclient", reason="it comes with the extra `notebook`")
    pytest.importorskip("ipykernel", reason="it comes with the extra `notebook`")
    folder = tmp_path_factory.mktemp("notebook")
    shutil.copy(EXAMPLES.parent / "corpus.yaml", folder)
    copy = folder / "examples" / "notebook" / NOTEBOOK.name
    copy.parent.mkdir(parents=True)
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    asked: dict[str, Any] = {
        "id": "asked",
        "cell_type": "code",
        "source": ASKED,
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    notebook["cells"].append(asked)
    copy.write_text(json.dumps(notebook), encoding="utf-8")
    own = {"DAGSTER_HOME": ".dagster_home", "IPYTHONDIR": "ipython", "JUPYTER_RUNTIME_DIR": "jupyter"}
    environment = {
        **os.environ,
        "PATH": path_of_commands(),
        **{name: str(folder / place) for name, place in own.items()},
    }
    for command in commands("notebook"):
        run = ["bash", "-c", command]
        done = subprocess.run(run, check=False, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return folder


@pytest.fixture(scope="module")
def corpus(looked: Path) -> Corpus:
    return opened(looked)


@pytest.fixture(scope="module")
def shown(looked: Path) -> dict[str, dict[str, Any]]:
    return cells(looked / "examples" / "notebook" / "looked.ipynb")


@pytest.fixture(scope="module")
def results(shown: dict[str, dict[str, Any]]) -> dict[str, Any]:
    (output,) = shown["asked"]["outputs"]
    found: dict[str, Any] = json.loads("".join(output["text"]))
    return found


@pytest.mark.slow
def test_every_cell_shows_a_table_or_a_plot_that_loads_nothing(shown: dict[str, dict[str, Any]]) -> None:
    kinds = {"open": "text/plain", "plot-tokens": "image/svg+xml", "histogram": "image/svg+xml"}
    for name, cell in shown.items():
        if name != "asked":
            (output,) = cell["outputs"]
            assert output["output_type"] == "execute_result", name
            drawn = "".join(output["data"][kinds.get(name, "text/html")])
            assert re.findall(r"""(?:src|href|url)\s*[=(]["']?\s*(?:https?:)?//""", drawn) == [], name


@pytest.mark.slow
def test_records_and_plan_are_those_of_the_corpus(corpus: Corpus, results: dict[str, Any]) -> None:
    for stage in corpus.graph:
        records = corpus.ledger.records(stage.name).values()
        counted = [record.statistics["rows_out"] for record in records if "rows_out" in record.statistics]
        assert results["partitions"][stage.name] == len(records)
        assert results["rows_out"].get(stage.name, 0) == sum(counted)
    assert results["status"]["fresh"] == sum(results["partitions"].values())
    assert sum(results["status"].values()) == results["status"]["fresh"]
    assert results["due"] == 0


@pytest.mark.slow
def test_tokens_are_the_ids_of_the_stream_with_separators_where_there_are_any(
    corpus: Corpus, results: dict[str, Any]
) -> None:
    lengths = [part.array(".len.npy") for part in partitions(corpus, "decontaminated_train_token_stream")]
    ids, documents = sum(int(one.sum()) for one in lengths), sum(map(len, lengths))
    tokens = results["tokens"]
    assert ids > 0
    assert tokens["megatron"] == tokens["olmo"] == tokens["huggingface"] == ids
    assert tokens["train"] == tokens["documents"] == ids + documents
    assert tokens.keys() == {dataset.name for dataset in corpus.config.datasets}
    for split, count in results["documents"].items():
        assert count == results["rows_out"].get(split, 0), split


@pytest.mark.slow
def test_drops_are_those_of_the_records(corpus: Corpus, results: dict[str, Any]) -> None:
    counted: Counter[str] = Counter()
    for stage in corpus.graph:
        for record in corpus.ledger.records(stage.name).values():
            for reason, rows in record.statistics.get("dropped", {}).items():
                counted[f"{stage.name}/{reason}"] += rows
    assert results["dropped"] == dict(+counted)
    assert results["dropped"]["mixed_pass1/short"] > 0
    kept = results["rows_out"]
    lost = sum(rows for name, rows in results["dropped"].items() if name.startswith("filtered_documents/"))
    assert kept["normalized_documents"] - kept["filtered_documents"] == lost


@pytest.mark.slow
def test_scores_and_documents_are_those_of_the_rows(corpus: Corpus, results: dict[str, Any]) -> None:
    assert results["in_histogram"] == results["rows_out"]["quality_attributes"], "every text has a length over 0"
    assert results["scored"] == results["scored_texts"]
    shards = [part for part in partitions(corpus, "normalized_documents") if part.key in results["scored_shards"]]
    assert (
        len({part.key and part.key.partition("--")[0] for part in shards}) == len(corpus.config.sources) == len(shards)
    )
    assert len(results["scored"]) == sum(part.record.statistics["rows_out"] for part in shards)
    for part in partitions(corpus, "decontaminated_train"):
        texts = [document.text for document in part.documents()]
        assert results["by_partition"][part.key] == {
            "documents": len(texts),
            "text_bytes": sum(len(text.encode()) for text in texts),
            "longest": max(map(len, texts)),
        }
