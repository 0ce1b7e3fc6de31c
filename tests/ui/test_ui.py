"""The web UI on a built corpus: what a user finds there, and that backfills and single runs started there work."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import dagster as dg
import pytest

from benchmarks.group_graph import draw
from benchmarks.ui_server import Server, serving
from corpus_assets.orchestration.home.folder import FOLDER
from partitions.shards import register_shards
from resources.planning.planner import Status
from tests.build.small import digests, drive, opened, write_small
from tests.viewer.browser import chromium, find_chromium

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SHARD_CHAIN = ["raw_source", "normalized_documents", "short_documents", "minhashes", "band_keys"]
BACKFILL_SECONDS = 500


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Raw files and configuration; nothing is built yet."""
    found = write_small(tmp_path_factory.mktemp("ui"))
    shutil.copyfile(ROOT / "dagster.yaml", found / "dagster.yaml")
    return found


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with serving(folder) as found:
        yield found


def test_the_code_location_shows_assets_groups_partitions_checks_and_jobs(server: Server, folder: Path) -> None:
    query = """{ repositoriesOrError { ... on RepositoryConnection { nodes { location { name } jobs { name }
        sensors { name } schedules { name } assetNodes { assetKey { path } groupName description
        partitionKeys assetChecksOrError { ... on AssetChecks { checks { name } } } } } } } }"""
    (repository,) = server.ask(query)["repositoriesOrError"]["nodes"]
    corpus = opened(folder)
    assert repository["location"]["name"] == "corpus"
    nodes = {"/".join(node["assetKey"]["path"]): node for node in repository["assetNodes"]}
    assert nodes.keys() == corpus.graph.stages.keys()
    planner = corpus.planner()
    for stage in corpus.graph:
        node = nodes[stage.name]
        assert node["groupName"] == stage.group
        assert node["description"].startswith(stage.description)
        assert set(node["partitionKeys"]) == {key for key in planner.partitions(stage) if key is not None}
    checks = {name: [c["name"] for c in node["assetChecksOrError"].get("checks", [])] for name, node in nodes.items()}
    assert set(checks["decontaminated_train"]) == {"conservation_of_rows", "no_holdout_text_in_train", "fresh"}
    assert {"build_corpus", "build_deduplication", "build_tokenizers"} <= {job["name"] for job in repository["jobs"]}
    assert [sensor["name"] for sensor in repository["sensors"]] == ["build_what_is_not_fresh"]
    assert [schedule["name"] for schedule in repository["schedules"]] == [
        "nightly_build",
        "nightly_verification",
    ]


def test_a_backfill_over_shards_bands_and_components_ends_with_all_of_it_fresh(
    server: Server, folder: Path, tmp_path: Path
) -> None:
    by_range = ["exact_duplicates", "duplicate_pairs", "candidate_pairs", "verified_pairs"]
    by_range += ["cluster_roots", "cluster_members", "guarded_clusters"]
    chosen = [*SHARD_CHAIN, *by_range, "components"]
    mutation = """mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) { __typename
        ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
    keys = [{"path": name.split("/")} for name in ["inventory", *chosen]]
    launched = server.ask(mutation, p={"allPartitions": True, "assetSelection": keys})["launchPartitionBackfill"]
    assert launched["__typename"] == "LaunchBackfillSuccess", launched
    assert _backfill_status(server, launched["backfillId"]) == "COMPLETED_SUCCESS"
    corpus = opened(folder)
    planner = corpus.planner()
    for name in chosen:
        assert {d.status for d in planner.decisions(corpus.graph[name]).values()} == {Status.FRESH}
    other = opened(write_small(tmp_path / "other"))
    drive(other, [other.graph[name] for name in ["inventory", *chosen]])
    assert digests(corpus) == digests(other)
    computed = _computed(server, chosen)
    assert len(computed) == len(set(computed)) == sum(len(planner.partitions(corpus.graph[name])) for name in chosen)


def _backfill_status(server: Server, backfill: str) -> str:
    query = "query($b: String!) { partitionBackfillOrError(backfillId: $b) { ... on PartitionBackfill { status } } }"
    for _ in range(BACKFILL_SECONDS):
        status: str = server.ask(query, b=backfill)["partitionBackfillOrError"]["status"]
        if status not in {"REQUESTED", "CANCELING"}:
            return status
        time.sleep(1)
    return "still running"


def _computed(server: Server, assets: list[str]) -> list[tuple[str, str | None]]:
    """Every event that says a partition was computed (and not just found fresh)."""
    query = """query($k: AssetKeyInput!) { assetOrError(assetKey: $k) { ... on Asset { assetMaterializations(limit: 500)
        { partition metadataEntries { label ... on TextMetadataEntry { text } } } } } }"""
    found: list[tuple[str, str | None]] = []
    for name in assets:
        events: list[dict[str, Any]] = server.ask(query, k={"path": name.split("/")})["assetOrError"][
            "assetMaterializations"
        ]
        for event in events:
            why = [entry["text"] for entry in event["metadataEntries"] if entry["label"] == "why"]
            if why and not why[0].startswith("fresh"):
                found.append((name, event["partition"]))
    return found


def test_a_failed_backfill_shows_the_asset_that_failed(server: Server, folder: Path) -> None:
    """The step that built everything is of `inventory`, and nothing is wrong with that."""
    bad = folder / "raw/books/bad.jsonl.gz"
    bad.write_bytes(b"this is no gzip file")
    try:
        with dg.DagsterInstance.from_config(str(folder / FOLDER)) as instance:
            register_shards(opened(folder).planner(), instance)
        keys = [{"path": [name]} for name in ["inventory", *SHARD_CHAIN]]
        launched = server.ask(_LAUNCH, p={"allPartitions": True, "assetSelection": keys})["launchPartitionBackfill"]
        assert _backfill_status(server, launched["backfillId"]) == "COMPLETED_FAILED"
        found = {one["assetKey"]["path"][0]: one for one in server.ask(_LATEST, k=keys)["assetsLatestInfo"]}
        assert found["inventory"]["latestRun"]["status"] == "SUCCESS"
        assert found["normalized_documents"]["latestRun"]["status"] == "FAILURE"
        (node,) = server.ask(_COUNTS, k=[{"path": ["normalized_documents"]}])["assetNodes"]
        assert node["partitionStats"] == {"numFailed": 1, "numMaterializing": 0}
        steps = server.ask(_STEPS, r=found["normalized_documents"]["latestRun"]["id"])["runOrError"]["stepStats"]
        assert [(one["stepKey"], one["status"]) for one in steps] == [("normalized_documents", "FAILURE")]
    finally:
        bad.unlink()


_LAUNCH = """mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) { __typename
    ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
_LATEST = """query($k: [AssetKeyInput!]!) { assetsLatestInfo(assetKeys: $k) { assetKey { path }
    latestRun { id status } } }"""
_COUNTS = "query($k: [AssetKeyInput!]!) { assetNodes(assetKeys: $k) { partitionStats { numFailed numMaterializing } } }"
_STEPS = "query($r: ID!) { runOrError(runId: $r) { ... on Run { stepStats { stepKey status } } } }"


def test_the_launchpad_says_that_only_what_is_not_fresh_is_computed(server: Server) -> None:
    query = """query($s: PipelineSelector!) { runConfigSchemaOrError(selector: $s) { ... on RunConfigSchema {
        allConfigTypes { ... on CompositeConfigType { fields { name description defaultValueAsJson } } } } } }"""
    asset = [{"path": ["normalized_documents"]}]
    selector = {
        "repositoryLocationName": "corpus",
        "repositoryName": "__repository__",
        "pipelineName": "__ASSET_JOB",
        "assetSelection": asset,
    }
    kinds = server.ask(query, s=selector)["runConfigSchemaOrError"]["allConfigTypes"]
    fields = [field for kind in kinds for field in kind.get("fields", ())]
    (force,) = {field["description"] for field in fields if field["name"] == "force"}
    assert force.startswith("By default only what is not fresh is computed, whatever partitions are chosen")
    described = "query($k: [AssetKeyInput!]!) { assetNodes(assetKeys: $k) { description } }"
    (node,) = server.ask(described, k=asset)["assetNodes"]
    assert "A run computes only what is not fresh, whatever is chosen." in node["description"]


def test_the_viewer_is_beside_the_pages_of_dagster(server: Server) -> None:
    with urlopen(f"{server.url}/corpus", timeout=60) as answer:
        assert answer.url == f"{server.url}/corpus/"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert b"/corpus/assets/normalized_documents" in answer.read()
    with pytest.raises(HTTPError, match="421"):
        urlopen(Request(f"{server.url}/corpus/", headers={"Host": "elsewhere.example"}), timeout=60)


@pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine (Debian package: chromium)")
def test_groups_stand_in_the_order_of_the_flow_and_no_arrow_goes_back(
    server: Server, folder: Path, tmp_path: Path
) -> None:
    graph = opened(folder).graph
    with chromium(tmp_path / "profile") as browser:
        drawn = draw(browser, server.url, graph.groups())
    assert drawn.boxes.keys() == {*graph.groups()}
    read = {(graph[edge.asset].group, stage.group) for stage in graph for edge in stage.inputs}
    arrows = {(group, reader) for group, reader in read if group != reader}
    assert [one for one in arrows if not drawn.boxes[one[0]] < drawn.boxes[one[1]]] == []
    assert len(drawn.arrows) == len(arrows)
    assert [ends for ends in drawn.arrows if not ends[0] < ends[1]] == []


def test_the_pages_render_in_a_browser(server: Server, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("no chromium on this machine (Debian package: chromium)")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
    flags += ["--disable-background-networking", "--disable-component-update", "--virtual-time-budget=20000"]
    page = f"{server.url}/assets/normalized_documents"
    command = [browser, *flags, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert "normalized_documents" in shown
    assert "Documents of one raw file in the Dolma schema" in shown
