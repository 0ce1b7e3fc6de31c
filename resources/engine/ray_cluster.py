"""The way to a Ray cluster: connecting, the machines that it has, and quiet.

`ray` is an extra, loaded when a corpus asks for it. Only a connection that this module made is closed by it, which ends
the tasks of this process; the cluster keeps running.
"""

import logging
import os
import socket
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

from resources.errors import ConfigError

INSTALL = "pip install 'corpus-assets[ray]'"
LOCAL = "local"
_SECONDS = 10.0
_VARIABLE = "RAY_ADDRESS"
_PORT = 6379  # Where the head of a cluster listens unless it is told otherwise.


class Machine(NamedTuple):
    """A machine of the cluster: its id and host, cores, and the bytes of memory that Ray gives out there."""

    id: str
    host: str
    cores: int
    memory: int


def load_ray() -> Any:
    """Returns the package; `ConfigError` with the command that installs it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # No usage statistics are sent to Ray's authors.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        return import_module("ray")
    except ImportError:
        raise ConfigError(f"engine.kind: 'ray' needs a package that is not installed; {INSTALL}") from None


def connect(address: str) -> bool:
    """Connects this process to a cluster; returns whether it was not connected before.

    address: `auto` for the cluster of this machine or of `RAY_ADDRESS`, `HOST` or `HOST:PORT`, or `local` to start one
    that ends with the connection. `ConfigError` if it cannot be reached.
    """
    ray = load_ray()
    if ray.is_initialized():
        return False
    address = _with_port(address)
    asked = os.environ.get(_VARIABLE, address) if address == "auto" else address
    try:
        _require_answer(asked)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        why = str(error).strip().partition("\n")[0] or type(error).__name__
        place = repr(asked) if asked == address else f"{asked!r}, which ${_VARIABLE} names"
        raise ConfigError(f"engine.address: no Ray cluster can be reached at {place}: {why}") from None
    # Otherwise Ray prints messages of its processes about each lost machine on standard output.
    setattr(import_module("ray._private.worker"), "_worker_logs_enabled", False)  # noqa: B010  # known at run time alone
    return True


def _with_port(address: str) -> str:
    return address if address in ("auto", LOCAL) or ":" in address else f"{address}:{_PORT}"


def _require_answer(address: str) -> None:
    """Raises `OSError` if nobody listens at `HOST:PORT`: Ray itself would try for minutes."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), _SECONDS).close()


def disconnect() -> None:
    """Ends the connection of this process and the tasks it has running."""
    load_ray().shutdown()


def machines() -> list[Machine]:
    """Returns the machines that do work; this process is connected."""
    found = [node for node in load_ray().nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    return [_machine(node["NodeID"], node["NodeManagerHostname"], node["Resources"]) for node in found]


def _machine(id_: str, host: str, resources: Mapping[str, float]) -> Machine:
    return Machine(id_, host, int(resources["CPU"]), int(resources.get("memory", 0)))


def on_machine(machine: Machine) -> Any:
    """Returns the scheduling strategy of a task for one machine alone."""
    strategies = import_module("ray.util.scheduling_strategies")
    return strategies.NodeAffinitySchedulingStrategy(machine.id, soft=False)
