"""Decides whether a licence is allowed.

With OR one side must be allowed, with AND both (SPDX 2.3, annex D.4; AND binds tighter).
"""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from corpus_assets.licences.names import CUT, folded

_TOKEN = re.compile(r"\(|\)|\bAND\b|\bOR\b|(?:(?!\bAND\b|\bOR\b)[^()])+")


class Allowed:
    """The licences of `licences.allow`: names in any spelling; `*` stands for any characters."""

    def __init__(self, names: Sequence[str]) -> None:
        self._patterns = [folded(name).lower() for name in names]

    def __contains__(self, licence: str) -> bool:
        """Returns whether a licence, in the spelling of `folded`, is allowed: as a whole, or by its parts.

        A `*` stands for a piece of one name: it never reaches over AND or OR. A name that was cut is never allowed,
        since its rest is unknown.
        """
        if licence.endswith(CUT):
            return False
        return licence.lower() in self._patterns or self._by_parts(licence)

    def _named(self, name: str) -> bool:
        return any(fnmatchcase(name.lower(), pattern) for pattern in self._patterns)

    def _by_parts(self, licence: str) -> bool:
        tokens = [token for found in _TOKEN.findall(licence) if (token := found.strip())]
        try:
            left = iter((*tokens, ""))
            verdict, rest = self._any_of(left, next(left))
        except (StopIteration, _NoExpressionError, RecursionError):
            return False
        return verdict and rest == ""

    def _any_of(self, tokens: Iterator[str], token: str) -> tuple[bool, str]:
        verdict, token = self._all_of(tokens, token)
        while token == "OR":
            other, token = self._all_of(tokens, next(tokens))
            verdict = verdict or other
        return verdict, token

    def _all_of(self, tokens: Iterator[str], token: str) -> tuple[bool, str]:
        verdict, token = self._one(tokens, token)
        while token == "AND":
            other, token = self._one(tokens, next(tokens))
            verdict = verdict and other
        return verdict, token

    def _one(self, tokens: Iterator[str], token: str) -> tuple[bool, str]:
        if token in ("", ")", "AND", "OR"):
            raise _NoExpressionError
        if token != "(":
            return self._named(token), next(tokens)
        verdict, token = self._any_of(tokens, next(tokens))
        if token != ")":
            raise _NoExpressionError
        return verdict, next(tokens)


class _NoExpressionError(Exception):
    """The licence is no expression but a name that contains such words."""
