"""Names of Dagster that are not public: every one that is used is listed here, so that a new one is a decision."""

import ast
from pathlib import Path

from tests.house import PACKAGES, TOP

PRIVATE = {
    "dagster._cli.proxy_server_manager.ProxyServerManager",
    "dagster._core.definitions.asset_checks.asset_check_evaluation.AssetCheckEvaluationPlanned",
    "dagster._core.definitions.asset_checks.asset_check_evaluation.AssetCheckEvaluationTargetMaterializationData",
    "dagster._core.definitions.decorators.op_decorator.DecoratedOpFunction",
    "dagster._core.errors.DagsterUserCodeUnreachableError",
    "dagster._core.events.AssetMaterializationPlannedData",
    "dagster._core.events.AssetObservationData",
    "dagster._core.events.StepMaterializationData",
    "dagster._core.execution.api.create_execution_plan",
    "dagster._core.execution.plan.objects.ErrorSource",
    "dagster._core.execution.plan.objects.StepFailureData",
    "dagster._core.execution.plan.objects.StepSuccessData",
    "dagster._core.instance.utils.RUNLESS_JOB_NAME",
    "dagster._core.instance.utils.RUNLESS_RUN_ID",
    "dagster._core.remote_origin.ManagedGrpcPythonEnvCodeLocationOrigin",
    "dagster._core.remote_origin.RemoteJobOrigin",
    "dagster._core.remote_origin.RemoteRepositoryOrigin",
    "dagster._core.remote_representation.grpc_server_registry.ServerRegistryEntry",
    "dagster._core.snap.snapshot_from_execution_plan",
    "dagster._core.storage.asset_check_execution_record.AssetCheckExecutionRecord",
    "dagster._core.storage.asset_check_execution_record.AssetCheckExecutionRecordStatus",
    "dagster._core.storage.event_log.SqlEventLogStorage",
    "dagster._core.storage.event_log.SqliteEventLogStorage",
    "dagster._core.storage.event_log.schema.AssetCheckExecutionsTable",
    "dagster._core.storage.event_log.schema.DynamicPartitionsTable",
    "dagster._core.storage.event_log.schema.SqlEventLogStorageTable",
    "dagster._core.types.loadable_target_origin.LoadableTargetOrigin",
    "dagster._core.workspace.load_target.WorkspaceFileTarget",
    "dagster._grpc.client.DagsterGrpcClient",
    "dagster._grpc.server.GrpcServerProcess",
    "dagster._utils.log.configure_loggers",
    "dagster_shared.error.SerializableErrorInfo",
    "dagster_shared.ipc.get_ipc_shutdown_pipe",
    "dagster_shared.ipc.open_ipc_subprocess",
    "dagster_shared.ipc.send_ipc_shutdown_message",
}
"""Each may change with any version of Dagster within the bounds of pyproject.toml: `module.name`."""

PRIVATE_MEMBERS = {"_event_to_row", "_store_asset_event", "_store_asset_event_tags"}
"""Members of Dagster's objects that begin with an underscore."""

PRIVATE_STRINGS = {"dagster._daemon"}
"""Names in strings: a module that is run by `python -m`."""


def is_private(module: str) -> bool:
    """Whether a module is Dagster's own business: `dagster_shared`, or one below a name with an underscore."""
    first, *rest = module.split(".")
    return first == "dagster_shared" or (first.startswith("dagster") and any(part.startswith("_") for part in rest))


def private_names(file: Path) -> set[str]:
    """Every private name of Dagster that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {f"{node.module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    return {name for name in found if is_private(name)}


def private_members(file: Path) -> set[str]:
    """Every member that begins with one underscore, of another object than `self` and `cls`, if Dagster is imported."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    modules |= {one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names}
    if not any(module.startswith("dagster") for module in modules):
        return set()
    members = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr.startswith("_")]
    others = [node for node in members if not (isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"})]
    return {node.attr for node in others if not node.attr.startswith("__")}


def private_strings(file: Path) -> set[str]:
    """Every string that is the name of a private module of Dagster."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    found = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {text for text in found if text.replace(".", "").isidentifier() and is_private(text)}


def test_every_private_name_of_dagster_that_is_used_is_listed() -> None:
    files = [file for package in PACKAGES for file in (TOP / package).rglob("*.py")]
    for listed, names in (
        (PRIVATE, private_names),
        (PRIVATE_MEMBERS, private_members),
        (PRIVATE_STRINGS, private_strings),
    ):
        found = {name for file in files for name in names(file)}
        assert sorted(found - listed) == [], "new: is there a public way? If not, list it"
        assert sorted(listed - found) == [], "no longer used: take it off the list"


def test_a_private_name_is_told_from_a_public_one() -> None:
    assert is_private("dagster._core.events.DagsterEvent") and is_private("dagster_shared.serdes.serialize_value")
    assert not is_private("dagster.DagsterInstance") and not is_private("dagster_webserver.cli.main")
