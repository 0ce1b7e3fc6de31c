"""Hosts of URLs, and their registrable domains by the Public Suffix List (https://publicsuffix.org/list/)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*:(?=//))?/*(?:[^/?#]*@)?(\[[^\]/?#]*\]|[^/?#:\s]+)", re.IGNORECASE)
_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?")
_NUMBERS = re.compile(r"\d+(?:\.\d+){3}")
_LONGEST = 253
_PRIVATE = "===BEGIN PRIVATE DOMAINS==="


class Suffixes(NamedTuple):
    """The rules of the list, of the section for registries alone, in ASCII: names, parents of any name, exceptions."""

    names: frozenset[str]
    below: frozenset[str]
    exceptions: frozenset[str]

    def domain(self, host: str) -> str:
        """Returns the registrable domain of a host: its public suffix and one name more; the host if there is none.

        The last name alone is the suffix if no rule matches.
        """
        if host.startswith("[") or _NUMBERS.fullmatch(host):
            return host
        names = host.split(".")
        for start in range(len(names)):
            rest = ".".join(names[start:])
            if rest in self.exceptions:
                return rest
            if rest in self.names or ".".join(names[start + 1 :]) in self.below:
                return ".".join(names[max(start - 1, 0) :])
        return ".".join(names[-2:])


def suffixes(lines: Iterable[str]) -> Suffixes:
    """Returns the rules of a list; `ValueError` for one without any."""
    found: Mapping[str, set[str]] = {"": set(), "*.": set(), "!": set()}
    for rule in _rules(lines):
        kind = next(mark for mark in ("*.", "!", "") if rule.startswith(mark))
        name = rule.removeprefix(kind).encode("idna").decode() if not rule.isascii() else rule.removeprefix(kind)
        found[kind].add(name)
    if not found[""]:
        raise ValueError("holds no suffix; valid: the Public Suffix List, a rule a line")
    return Suffixes(*(frozenset(names) for names in found.values()))


def _rules(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if _PRIVATE in line:
            return
        rule = line.strip().split(" ")[0].lower()
        if rule and not rule.startswith("//"):
            yield rule


@lru_cache(maxsize=1 << 16)
def host_of(url: str) -> str:
    """Returns the host of a URL, with or without a scheme, in small letters and ASCII; empty if it has none.

    `www.example.org` and `example.org` are two hosts of one domain. No port, no user name.
    """
    match = _HOST.match(url.strip())
    host = match[1].lower().rstrip(".") if match else ""
    if host.startswith("["):
        return host
    if not host.isascii():
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            return ""
    names = host.split(".")
    known = len(names) > 1 and len(host) <= _LONGEST and all(map(_NAME.fullmatch, names))
    return host if known else ""
