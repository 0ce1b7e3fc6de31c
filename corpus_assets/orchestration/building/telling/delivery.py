"""Delivers a notice to a command or a web address; says no address, output or answer, since all may hold secrets."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from typing_extensions import override

from corpus_assets.config.notices import Notice

_SCHEMES = ("http://", "https://")


def cannot_be_told(notice: Notice, folder: Path) -> str:
    """Returns in words why a notice would not arrive, as far as this machine knows; empty if it may.

    folder: in which a command runs.
    """
    if notice.command is not None:
        where = str(folder / notice.command[0]) if "/" in notice.command[0] else notice.command[0]
        return "" if shutil.which(where) else "there is no such program, or it cannot be executed"
    address = os.environ.get(notice.variable or "", "")
    if not address:
        return f"the environment variable {notice.variable} is not set"
    return "" if address.startswith(_SCHEMES) else f"{notice.variable} holds no address of http or https"


def deliver(notice: Notice, body: bytes, folder: Path) -> str:
    """Tells one; returns in words why that failed, without secrets, or an empty text. It never raises."""
    if why := cannot_be_told(notice, folder):
        return why
    if notice.command is not None:
        return _run(notice.command, body, folder, notice.timeout)
    address = os.environ[notice.variable or ""]
    return _within(notice.timeout, lambda: _post(address, body, notice.timeout))


def _run(command: list[str], body: bytes, folder: Path, seconds: float) -> str:
    """Runs a command, whose output is not kept; it is ended with all that it started if it takes too long."""
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return f"it cannot be started: {_named(error)}"
    try:
        process.communicate(body, timeout=seconds)
    except BaseException as error:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            return f"it was ended, since it took over {seconds:g} s"
        raise
    return f"it ended with exit code {process.returncode}" if process.returncode else ""


class _NoRedirects(HTTPRedirectHandler):
    """Leaves a redirect as it is: the notice goes where the user says, and nowhere else."""

    @override
    def redirect_request(self, *_: Any) -> None:
        return None


def _post(address: str, body: bytes, seconds: float) -> str:
    headers = {"Content-Type": "application/json", "User-Agent": "corpus-assets"}
    try:
        with build_opener(_NoRedirects).open(Request(address, body, headers, method="POST"), timeout=seconds):
            return ""
    except HTTPError as error:
        error.close()
        return f"the server answered with status {error.code}"
    except (URLError, HTTPException, OSError, ValueError) as error:  # ValueError: an address that cannot be parsed
        return f"the server cannot be asked: {_named(error)}"


def _named(error: Exception) -> str:
    """Returns the kind of an error, and what the system calls it; its own words may hold the address."""
    reason = error.reason if isinstance(error, URLError) else error
    number = reason.errno if isinstance(reason, OSError) else None
    return os.strerror(number) if number and number > 0 else type(reason).__name__


def _within(seconds: float, function: Callable[[], str]) -> str:
    """Returns what a function does, or that it took too long: a server may answer a byte at a time."""
    found: list[str] = []
    thread = Thread(target=lambda: found.append(function()), daemon=True)
    thread.start()
    thread.join(seconds)
    return found[0] if found else f"no answer within {seconds:g} s"
