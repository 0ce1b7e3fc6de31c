"""What `corpus plan` tells a person: causes first and once, then what waits by stage, with what it took before."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.orchestration.freshness.causes import Outlook, causes
from tests.build.small import Work, opened, write_small
from tests.forked import run


def hold_back(work: Work) -> None:
    """Close the gate of `components` by a limit that every source breaks."""
    work.config(dedup__max_loss=0.001)


def test_scripts_beside_the_command_hide_no_package(tmp_path: Path) -> None:
    """mlcroissant brings one that is named `jsonpath.py`."""
    (tmp_path / "jsonpath.py").write_text("raise ImportError('this is a script')\n")
    command = "from corpus_assets.cli.main import main\ntry:\n    main()\nfinally:\n    import jsonpath\n"
    (tmp_path / "corpus").write_text(command)
    said = subprocess.run(
        [sys.executable, str(tmp_path / "corpus"), "--version"], check=False, capture_output=True, text=True
    )
    assert said.returncode == 0, said.stderr


def test_a_closed_gate_is_said_once_with_the_number_that_waits(work: Work) -> None:
    hold_back(work)
    code, out, err = run(work.folder, "plan")
    assert code == 0, err
    first, *rest = out.splitlines()
    assert first.startswith("stop components is held back: source ")
    assert "%" in first
    assert first.endswith("partitions wait for it")
    assert not any("components is held back" in line for line in rest)
    assert "may change" not in out
    code, out, _ = run(work.folder, "plan", "--json")
    plan = json.loads(out)
    (count,) = plan["held_back"].values()
    # The report is stale, since it shows the limit, and is held back as well.
    assert plan["outlook"]["held_back"]["partitions"] == count == plan["counts"]["waiting"] + 1


def test_sure_partitions_differ_from_those_that_may_change(work: Work) -> None:
    work.config(short_documents__threshold=61)
    corpus = opened(work.folder)
    planner = corpus.planner()
    found = causes(planner, corpus.graph)
    sure = {one.asset for one in found.folded if one.outlook is Outlook.SURE}
    assert sure == {"short_documents", "report"}  # The report shows the configuration.
    records = [record for asset in sure for record in planner.records(asset).values()]
    cost = found.cost(Outlook.SURE)
    assert (cost.partitions, cost.recorded) == (len(records), len(records))
    assert cost.bytes == sum(file.bytes for record in records for file in record.files)
    assert cost.seconds == pytest.approx(sum(record.statistics["seconds"] for record in records))
    may = {one.asset for one in found.folded if one.outlook is Outlook.MAY_CHANGE}
    assert {"band_keys", "mixed_pass1", "train_tokens"} <= may
    assert len([one for one in found.folded if one.asset == "band_keys"]) == 1
    _, out, _ = run(work.folder, "plan")
    assert "will be computed; they took" in out
    assert "may change, if what they read comes out different; they took" in out


def test_what_is_not_ours_is_printed_as_it_is(work: Work) -> None:
    work.config(tokenizer__special_tokens=["[INST]", "[/INST]"])
    code, out, err = run(work.folder, "plan")
    assert code == 0, err
    assert "['[INST]', '[/INST]']" in out
    (work.folder / "raw/books/[").mkdir()
    (work.folder / "raw/books/[/red].pdf").write_bytes(b"%PDF")
    code, out, err = run(work.folder, "plan")
    assert code == 0, err
    assert "books/[/red].pdf: unknown suffix" in out


def test_a_file_with_brackets_in_its_name_fails_by_name(work: Work) -> None:
    (work.folder / "raw/books/[").mkdir()
    (work.folder / "raw/books/[/bold]x.jsonl.gz").write_bytes(b"no gzip")
    code, out, err = run(work.folder, "build", "--select", "+short_documents")
    assert code == 1
    assert "Traceback" not in err
    said = [line for line in (out + err).splitlines() if "books/[/bold]x.jsonl.gz: " in line]
    assert len(said) == 1
    log = Path(next(line for line in out.splitlines() if line.startswith("All errors are in ")).split(" in ", 1)[1])
    assert log.parent == work.folder / ".dagster_home/errors"
    assert said[0].removeprefix("failed ") in log.read_text()
    # The failure is kept, and forgotten when the file changes.
    _, out, _ = run(work.folder, "plan")
    assert "failed just now: books/[/bold]x.jsonl.gz" in out
    (work.folder / "raw/books/[/bold]x.jsonl.gz").write_bytes(b"no gzip either")
    _, out, _ = run(work.folder, "plan")
    assert "failed just now" not in out


@pytest.mark.parametrize(
    ("rules", "where"),
    [
        ({"exclude": [".text |"], "syntax": "jq"}, "filter.exclude.0"),
        ({"include": ["$.text[?("]}, "filter.include.0"),
        ({"span_replacement": [{"span": ".a[", "syntax": "jq", "replacement": "x"}]}, "filter.span_replacement.0"),
        ({"exclude": ["undefined_function(1)"], "syntax": "jq"}, "filter.exclude.0"),
    ],
)
def test_a_plan_refuses_an_expression_that_no_build_can_read(tmp_path: Path, rules: Any, where: str) -> None:
    write_small(tmp_path, {"filter": rules})
    code, out, err = run(tmp_path, "plan")
    assert (code, out) == (2, "")
    assert where in err and "is not a valid expression in" in err
