"""A Slurm of two nodes on this machine, for tests: its controller, its daemons, and munge, in a folder of their own."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from getpass import getuser
from pathlib import Path

import psutil
import pytest

from tests.ports import free_ports
from tests.resources.engine.clusters import wait_until

NODES = ("one", "two")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scancel", "scontrol", "sinfo")
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={ports[0]}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=5
SlurmdParameters=config_overrides
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 RealMemory=8000
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 RealMemory=8000
PartitionName=all Nodes=ALL Default=YES State=UP
"""


@dataclass(frozen=True)
class Slurm:
    """The cluster. environment: of commands that ask it."""

    folder: Path
    environment: Mapping[str, str]

    def asked(self, *command: str) -> str:
        """What a command prints."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def submit(self, script: Path, folder: Path, *arguments: str) -> str:
        """Submits a job of both nodes whose output is `output` in a folder; returns its number."""
        options = ["--parsable", "--nodes=2", "--cpus-per-task=1", "--mem=4G", f"--output={folder / 'output'}"]
        return self.asked("sbatch", *options, f"--chdir={folder}", str(script), *arguments).strip()

    def state(self, job: str) -> dict[str, str]:
        """What Slurm says of a job, by key."""
        words = self.asked("scontrol", "--oneliner", "show", "job", job).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def has_ended(self, job: str) -> bool:
        """Whether a job has ended and its nodes are free."""
        return self.state(job)["JobState"] not in ("PENDING", "RUNNING", "COMPLETING")

    def processes(self, job: str, node: str) -> list[psutil.Process]:
        """All processes of the task of a job on a node."""
        return [process for process in psutil.process_iter() if _is_of(process, job, node)]

    def lose(self, job: str, node: str) -> None:
        """Kills everything that a job has on a node, all at once."""
        found = self.processes(job, node)
        assert found
        for process in found:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGSTOP)
        for process in found:
            with suppress(psutil.NoSuchProcess):
                process.kill()


def _is_of(process: psutil.Process, job: str, node: str) -> bool:
    with suppress(psutil.Error):
        known = process.environ()
        return (known.get("SLURM_JOB_ID"), known.get("SLURMD_NODENAME")) == (job, node) and "SLURM_PROCID" in known
    return False


@contextmanager
def slurm() -> Iterator[Slurm]:
    """Starts a Slurm of two nodes; the test is skipped where Slurm or munge is not installed."""
    missing = [name for name in PROGRAMS if _program(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed; Debian has it in slurm-wlm and munge")
    with ExitStack() as held:
        # A short name: the path of a socket has at most 107 bytes.
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp")))
        ports = free_ports(1 + len(NODES))
        (folder / "state").mkdir()
        known = {"folder": folder, "ports": ports, "host": socket.gethostname().partition(".")[0], "user": getuser()}
        (folder / "slurm.conf").write_text(CONFIGURATION.format(**known))
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        munge = {name: folder / f"munge.{name}" for name in ("socket", "pid", "log", "seed")}
        places = ["--key-file", str(key), *(f"--{name}{_FILE[name]}={path}" for name, path in munge.items())]
        held.enter_context(_daemon(folder, "munged", "--force", "--foreground", *places))
        wait_until(munge["socket"].exists)
        configured = ("-D", "-f", str(folder / "slurm.conf"))
        held.enter_context(_daemon(folder, "slurmctld", *configured))
        held.callback(_end_all, folder)
        for node in NODES:
            held.enter_context(_daemon(folder, "slurmd", "-N", node, *configured))
        made = Slurm(folder, {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")})
        wait_until(lambda: _idle(made) == len(NODES))
        yield made


def _end_all(folder: Path) -> None:
    """Kills what jobs of this Slurm left, if a test failed: its daemons end without their jobs."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid != os.getpid() and process.environ().get("SLURM_CONF") == str(folder / "slurm.conf"):
                process.kill()


_FILE = {"socket": "", "pid": "-file", "log": "-file", "seed": "-file"}


def _idle(made: Slurm) -> int:
    done = subprocess.run(
        ["sinfo", "--noheader", "--Node", "--format=%T"],
        env=made.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.split().count("idle")


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


@contextmanager
def _daemon(folder: Path, name: str, *arguments: str) -> Iterator[None]:
    program = _program(name)
    assert program is not None
    with (folder / f"{name}.out").open("ab") as out:
        process = subprocess.Popen([program, *arguments], stdout=out, stderr=out, env={**os.environ, "SLURM_CONF": ""})
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
