"""The address of a web server: whether it is free, and its form for a browser."""

import errno
import socket

from resources.errors import ConfigError

HOST_VARIABLE = "CORPUS_UI_HOST"
"""Tells the web server inside of `corpus ui` the address it was asked to listen on."""

_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def address(host: str, port: int) -> str:
    """Returns the address at which a browser on this machine finds a server."""
    name = _ANY.get(host, host)
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def require_free(host: str, port: int) -> None:
    """Raises `ConfigError` unless a server can listen there."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except socket.gaierror as error:
            raise ConfigError(f"--host {host}: no address of this machine ({error.strerror})") from None
        except OverflowError:
            raise ConfigError(f"--port {port}: valid is 1 to 65535") from None
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise ConfigError(f"--host {host}: no address of this machine ({error.strerror})") from None
            raise ConfigError(f"{host}:{port} is not free ({error.strerror}); choose another --port") from None
