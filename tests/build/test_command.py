"""The `corpus` command: what it prints for machines and people, and its exit codes; and builds through Dagster."""

import json
import shutil
from pathlib import Path

import dagster as dg
import pytest

from corpus_assets.cli.questions.show import Asked, show_partition
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.report import Report
from resources.ledger.ledger import record_path
from resources.stage.partition import Partition
from tests.build.small import Work, contents, digests, live_records, opened, prose, raw_rows, write_config
from tests.faults.command import MAIN, last_json, run
from tests.orchestration.silent import Silent

LISTS_MODULES = f"""
import sys
try:
    {MAIN}
finally:
    print("dagster" in sys.modules, file=sys.stderr)
"""


def built(folder: Path) -> Report:
    corpus = opened(folder)
    with dg.DagsterInstance.ephemeral() as instance:
        return build(corpus, list(corpus.graph), Silent(), instance=instance)


def test_a_build_through_dagster_equals_one_without(work: Work) -> None:
    reference = contents(opened(work.folder))
    records = digests(opened(work.folder))
    shutil.rmtree(work.folder / "corpus")
    report = built(work.folder)
    assert report.ok, [*report.failed, *report.failed_checks]
    assert report.recomputed == len(records) + 1  # And the report.
    assert digests(opened(work.folder)).keys() == records.keys()
    kept = {path: digest for path, digest in contents(opened(work.folder)).items() if path.startswith("mixed")}
    assert kept.items() <= reference.items()
    again = built(work.folder)
    assert (again.recomputed, again.fresh, again.by_asset) == (0, len(records) + 1, {})


def test_dagster_is_asked_only_for_what_changed(work: Work) -> None:
    rows = raw_rows()["books/one.jsonl"]
    rows[3]["text"] = prose("something else")
    work.rows("books/one.jsonl", rows)
    report = built(work.folder)
    assert report.ok, [*report.failed, *report.failed_checks]
    per_shard = ("raw_source", "normalized_documents", "short_documents", "minhashes", "band_keys", "mixed_pass1")
    assert {asset: report.by_asset[asset] for asset in per_shard} == dict.fromkeys(per_shard, 1)
    assert report.by_asset["mixed_pass2"] == 1


def test_a_failed_shard_lets_the_others_through_and_names_what_waits(work: Work) -> None:
    for name in ("one", "two"):
        (work.folder / f"raw/web/{name}.parquet").write_bytes(b"no parquet")
    work.rows("web/three.jsonl", [{"id": "x", "text": prose("x")}])
    report = built(work.folder)
    assert not report.ok
    assert sorted(line.partition(": ")[0] for line in report.failed) == [
        "normalized_documents/web--one",
        "normalized_documents/web--two",
    ]
    assert "duplicate_pairs/band-00: band_keys/web--one is missing and 1 more" in report.waiting
    assert report.by_asset["minhashes"] == 1


def test_a_failed_shard_whose_record_is_damaged_lets_the_others_through(work: Work) -> None:
    record = Path(opened(work.folder).storage.fetch(record_path("normalized_documents", "books--two")))
    work.rows("books/one.jsonl", raw_rows()["books/one.jsonl"][1:])
    (work.folder / "raw/books/two.jsonl.gz").write_bytes(b"\x1f\x8b is no gzip")
    record.write_bytes(b"{")
    report = built(work.folder)
    assert [line.partition(": ")[0] for line in report.failed] == ["normalized_documents/books--two"]
    assert report.by_asset["normalized_documents"] == 1


def test_json_forms_and_exit_codes(work: Work) -> None:
    code, out, err = run(work.folder, "plan", "--json", "--check")
    assert code == 0, err
    plan = json.loads(out)
    assert {"partitions", "counts"} <= plan.keys()
    assert all({"asset", "partition", "status", "reason"} == row.keys() for row in plan["partitions"])
    assert plan["counts"] == {"fresh": len(work.before) + 1, "missing": 0, "stale": 0, "waiting": 0}
    (work.folder / "corpus/documents/books/one.jsonl.gz").unlink()
    code, out, _ = run(work.folder, "plan", "--json", "--check")
    assert code == 3
    assert json.loads(out)["counts"]["missing"] == 1
    code, out, _ = run(work.folder, "verify", "--json")
    assert code == 1
    assert json.loads(out)["bad"] == [
        {
            "asset": "normalized_documents",
            "partition": "books--one",
            "file": "documents/books/one.jsonl.gz",
            "problem": "missing",
        }
    ]
    code, out, err = run(work.folder, "build", "--json")
    assert code == 0, err
    report = last_json(out)
    assert {"recomputed", "fresh", "failed", "seconds", "by_asset"} <= report.keys()
    assert (report["recomputed"], report["failed"]) == (1, 0)
    assert report["by_asset"] == {"normalized_documents": 1}
    code, out, _ = run(work.folder, "verify", "--deep", "--json")
    assert code == 0
    assert json.loads(out)["checked"] > 100


def test_a_build_with_nothing_to_do_does_not_load_dagster(work: Work) -> None:
    shutil.rmtree(work.folder / ".dagster_home", ignore_errors=True)
    code, out, err = run(work.folder, "build", "--json", code=LISTS_MODULES)
    assert code == 0, err
    assert err.splitlines()[-1] == "False"
    assert last_json(out)["recomputed"] == 0
    assert not (work.folder / ".dagster_home").exists()


def test_deep_verification_finds_a_changed_byte_in_every_kind_of_file(work: Work) -> None:
    corpus = opened(work.folder)
    damaged = set()
    for suffix in (".jsonl.gz", ".npy", ".jsonl.zst", ".h5", ".index.json"):
        files = (file.path for record in work.before.values() for file in record.files if file.bytes > 200)
        path = next(path for path in files if path.endswith(suffix))
        stored = bytearray((Path(corpus.storage.place) / path).read_bytes())
        stored[len(stored) // 2] ^= 0x55
        (Path(corpus.storage.place) / path).write_bytes(stored)
        damaged.add(path)
    code, out, _ = run(work.folder, "verify", "--json")
    assert (code, json.loads(out)["bad"]) == (0, [])
    code, out, err = run(work.folder, "verify", "--deep", "--json")
    assert code == 1, err
    assert damaged <= {row["file"] for row in json.loads(out)["bad"]}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("minhash: {widht: 5}", "minhash.widht: unknown key; did you mean 'width'?"),
        ("normalise: {method: nfc}", "normalise: unknown key; did you mean 'normalize'?"),
        ("mix: {chunks: many}", "mix.chunks"),
    ],
)
def test_a_wrong_configuration_is_refused_by_key(tmp_path: Path, line: str, expected: str) -> None:
    (tmp_path / "corpus.yaml").write_text(f"sources: [{{name: a, location: raw}}]\n{line}\n", encoding="utf-8")
    code, out, err = run(tmp_path, "plan", "--json")
    assert code == 2
    assert out == ""
    assert expected in " ".join(err.split())
    assert "Traceback" not in err


def test_what_is_not_there_is_said_without_a_traceback(work: Work, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for folder, arguments, expected in (
        (empty, ["plan"], "there is no such file"),
        (work.folder, ["build", "--select", "nothing"], "no asset named 'nothing'"),
        (work.folder, ["show", "minhashes", "books--none"], "no partition 'books--none'"),
    ):
        code, _, err = run(folder, *arguments)
        assert code == 2
        assert expected in " ".join(err.split())
        assert "Traceback" not in err
    write_config(work.folder, {"sources.0.location": "elsewhere"})
    code, _, err = run(work.folder, "plan")
    assert code == 2
    assert "sources.books.location" in " ".join(err.split())


@pytest.mark.parametrize("missing", ["tokenizer", "ledger/tokenizer"])
def test_token_rows_are_shown_as_text_or_as_ids_without_their_tokenizer(work: Work, missing: str) -> None:
    corpus = opened(work.folder)
    record = live_records(corpus)["decontaminated_train", "chunk-0001"]
    document = next(Partition(corpus.storage, record).documents())
    shown = list(show_partition(corpus, "train_tokens", "chunk-0001", Asked(1)))
    assert json.loads("\n".join(shown[: shown.index("}") + 1]))["asset"] == "train_tokens"
    header = "row 0: 64 tokens, 0 padding, 64 in the loss"
    marked = shown[shown.index(header) + 1].strip().replace("«", "").replace("»", "")
    assert document.text.startswith(marked)
    shutil.rmtree(work.folder / "corpus" / missing)
    code, out, _ = run(work.folder, "show", "train_tokens", "chunk-0001", "--rows", "1")
    lines = out.splitlines()
    said, _, ids = lines[lines.index(header) - 1 : lines.index(header) + 2]
    assert code == 0
    assert "tokenizer of these rows is not in the store" in said
    assert len(ids.replace("«", "").replace("»", "").split()) == 65


def test_show_plan_and_clean_for_people(work: Work) -> None:
    code, out, _ = run(work.folder, "show", "normalized_documents", "books--one", "--rows", "1")
    assert code == 0
    assert '"asset": "normalized_documents"' in out
    assert "documents/books/one.jsonl.gz" in out
    assert prose("books/one.jsonl 0")[:60] in out
    write_config(work.folder, {"minhash.width": 6})
    (work.folder / "raw/books/three.jsonl").unlink()
    code, out, _ = run(work.folder, "plan")
    assert code == 0
    assert "minhash.width 5 -> 6" in " ".join(out.split())
    assert "orphans" in out
    code, out, _ = run(work.folder, "clean", "--dry-run")
    assert (code, out.startswith("would remove 7 orphaned partitions")) == (0, True)
