"""The `corpus` command as a fork of a process that has imported it: tests that run a hundred of them import it once.

Arguments, environment, folder, streams and exit code are as in a process of its own. Tests in `tests/release` and
`tests/faults` run it in one.
"""

import atexit
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

STUB = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    here = os.open(".", os.O_RDONLY)
    socket.send_fds(server, [b"1"], [0, 1, 2, here])
    server.sendall(json.dumps([sys.argv, dict(os.environ)]).encode())
    server.shutdown(socket.SHUT_WR)
    code = server.recv(1)
sys.exit(code[0] if code else "the process of the command was killed")
"""
IMPORTED = ("corpus_assets.corpus.loop", "corpus_assets.orchestration.building.build", "corpus_assets.cli.main")


@cache
def path_of_commands() -> str:
    """A `PATH` on which `corpus` is a fork, and all other commands are as usual."""
    folder = Path(tempfile.mkdtemp(prefix="forked-"))
    address = folder / "socket"
    (folder / "corpus").write_text(STUB.format(python=sys.executable, address=str(address)), encoding="utf-8")
    (folder / "corpus").chmod(0o755)
    command = [sys.executable, "-c", f"from {__name__} import serve; serve({str(address)!r})"]
    server = subprocess.Popen(
        command, cwd=Path(__file__).parents[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    assert server.stdout.readline() == "ready\n"

    def end() -> None:
        server.communicate()
        shutil.rmtree(folder)

    atexit.register(end)
    return os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]])


def run(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of the command on the corpus of a folder."""
    environment = {key: value for key, value in os.environ.items() if key not in ("DAGSTER_HOME", "CORPUS_CONFIG")}
    done = subprocess.run(
        ["corpus", *arguments],
        cwd=folder,
        env=environment | {"PATH": path_of_commands()},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def serve(address: str) -> None:
    """Forks for each command, until the standard input is closed."""
    for name in IMPORTED:
        import_module(name)
    sys.path.remove("")  # Nothing is imported from the folder of a command.
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # No process waits for those below.
        while select.select([listener, sys.stdin], [], [])[0] == [listener]:
            asked, _ = listener.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listener.close()
                answer(asked)
            asked.close()


def answer(asked: socket.socket) -> None:
    """Runs a command in a fork, and says its exit code; a process that is killed has none."""
    _, streams, _, _ = socket.recv_fds(asked, 1, 4)
    if (command := os.fork()) == 0:
        arguments, environment = json.loads(b"".join(iter(lambda: asked.recv(1 << 16), b"")))
        asked.close()
        become(arguments, environment, streams)
    _, status = os.waitpid(command, 0)
    if os.WIFEXITED(status):
        asked.sendall(bytes([os.WEXITSTATUS(status)]))
    os._exit(0)


def become(arguments: list[str], environment: dict[str, str], streams: list[int]) -> Any:
    """Becomes the command; does not return."""
    from corpus_assets.cli.main import main

    for number, stream in enumerate(streams[:3]):
        os.dup2(stream, number)
    os.fchdir(streams[3])
    for stream in streams:
        os.close(stream)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = arguments
    sys.exit(main())  # type: ignore[func-returns-value]
