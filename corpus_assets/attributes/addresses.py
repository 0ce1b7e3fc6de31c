"""The forms of URLs and hosts in lists and lookups (docs/formats/dolma.md "URLs")."""

import re
import socket
from collections.abc import Callable, Iterator

Variants = Callable[[str], Iterator[str]]
"""Yields the forms of a URL that are stored in a set and looked up."""

COMMENTS = ("#", ";", "!")
LOOPBACK = ("127.0.0.1", "0.0.0.0", "::1")
HERE = ("localhost", "localdomain")
_HOST = r"((?:[a-z0-9\-_]+\.?){2,}|localhost|localdomain)"
_STARTS_WITH_HOST = re.compile(_HOST)
_NUMBER_AND_HOST = re.compile(rf"([0-9a-f.:]+)\s+{_HOST}")
_BLOCKED_HOST = re.compile(rf"\|+{_HOST}\^")


class UnreadableLineError(ValueError):
    """A line of a list is neither a URL, a host nor a rule."""


def address(url: str) -> Iterator[str]:
    """Yields host, port and path of a URL in lower case, without scheme, query and final slash; nothing without host.

    `ValueError` if it is no URL.
    """
    from urllib3.util import parse_url

    if url.strip():
        parsed = parse_url(url)
        if parsed.host:
            port = f":{parsed.port}" if parsed.port else ""
            yield f"{parsed.host}{port}{parsed.path or ''}".rstrip("/").lower()


def hosts(url: str) -> Iterator[str]:
    """Yields the host of a URL without and with `www.`."""
    for host in _host(url):
        bare = host.removeprefix("www.")
        bare = bare if "." in bare else host
        yield bare
        yield f"www.{bare}"


def hosts_of_dolma(url: str) -> Iterator[str]:
    """Yields the same, without every `w` and `.` that the host begins with, as in the toolkit."""
    for host in _host(url):
        bare = host.lstrip("www.")  # noqa: B005 (its defect)
        yield bare
        yield f"www.{bare}"


def _host(url: str) -> Iterator[str]:
    from urllib3.util import parse_url

    for known in address(url):
        if host := parse_url(known).host:
            yield host


def listed(line: str, variants: Variants, ignored: tuple[str, ...] = LOOPBACK) -> Iterator[str]:
    """Yields the addresses in a line: a URL or host, a line of a hosts file, or a host in an ad-block rule.

    ignored: IP addresses that a hosts file gives instead of a host's own. `UnreadableLineError` for any other line.
    """
    line = line.strip().lower()
    if not line or line.startswith(COMMENTS):
        return
    if match := _NUMBER_AND_HOST.match(line):
        number, host = match.groups()
        if not _is_number(number):
            raise UnreadableLineError(number)
        if number not in ignored:
            yield number
        if host not in HERE:
            yield from variants(host)
    elif _STARTS_WITH_HOST.match(line):
        yield from variants(line)
    elif match := _BLOCKED_HOST.match(line):
        yield match[1]
    else:
        raise UnreadableLineError(line)


def _is_number(host: str) -> bool:
    for family in (socket.AF_INET6, socket.AF_INET):
        try:
            socket.inet_pton(family, host)
        except OSError:
            continue
        return True
    return False
