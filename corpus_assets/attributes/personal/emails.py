"""E-mail addresses in running text.

A rule for finding addresses, not for validating them: close to the "extended email autolink" of GitHub Flavored
Markdown (spec 0.29, section 6.9), with letters beyond ASCII, apostrophes, and address literals (RFC 5321, 4.1.3).
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

LONGEST = 256
"""Code points that are examined on either side of an at sign."""

_EDGES = ".+'-%"
# Variable envelope return paths: `list-return-7-jane=mail.example@lists.example` is one address.
_RETURNED = re.compile(r"[A-Za-z0-9][\w.]*(?:\+|-[\w.-]*[0-9])[\w.+-]*=\Z")
# Of a URL: an escaped sign ends a local part (`to=%20jane@mail.example`), unless it may stand in an address.
_ESCAPED = re.compile(r"%(?!2[57BDEbde]|5[Ff])(?:[012][0-9A-Fa-f]|3[A-Fa-f]|[57][B-Fb-f]|60)")
# These scripts have no spaces between words, or join endings to foreign words: an address ends at their letters.
_UNSPACED = "".join(
    rf"\p{{scx={script}}}"
    for script in ("Hani", "Hira", "Kana", "Hang", "Bopo", "Thai", "Laoo", "Khmr", "Mymr", "Tibt")
)
_LETTER, _ALNUM = r"\p{L}\p{M}", r"\p{L}\p{M}\p{N}"


def emails(string: str) -> Iterator[tuple[int, int]]:
    """Yields beginning and end of each address, in the order of the text.

    The local part is letters, digits and `._+'-%`, and begins with a letter, a digit or `_`, but not with that of
    `_jane@mail.example_`, which is emphasis. The domain is two labels or more, the last of letters only, or an IP
    address in brackets. `pkg@1.2.3` and `icon@2x.png` are not addresses.
    """
    done, at = 0, string.find("@")
    while at >= 0:
        end = _domain_end(string, at + 1)
        begin = _local_start(string, done, at, emphasized=string.startswith("_", end)) if end else at
        if begin < at:
            yield begin, end
            done = end
        at = string.find("@", max(at + 1, done))


def _local_start(string: str, done: int, at: int, *, emphasized: bool) -> int:
    """Returns the beginning of the local part before an at sign; `at` if there is none."""
    before = string[max(done, at - LONGEST) : at][::-1]
    found = _patterns().local.match(before)
    local = _ESCAPED.split(found[0][::-1] if found else "")[-1].lstrip(_EDGES)
    named = local.lstrip(_EDGES + "_")
    begin = at - len(named if emphasized or not named else local)
    returned = _RETURNED.search(string, max(done, begin - LONGEST), begin) if string[begin - 1 : begin] == "=" else None
    return returned.start() if returned else begin


def _domain_end(string: str, start: int) -> int:
    """Returns the end of the domain that begins at a position; 0 if there is none."""
    patterns = _patterns()
    if patterns.no_domain.match(string, start):
        return 0
    found = patterns.domain.match(string, start, start + LONGEST)
    return int(found.end()) if found else 0


class _Patterns:
    """Patterns, compiled once and late, since `regex` loads slowly and plans need none.

    local: a local part, read backwards.
    """

    def __init__(self) -> None:
        import regex

        def either(pattern: str) -> str:
            """A pattern over letters of spaced scripts, or over all if an unspaced one is at the at sign."""
            spaced = pattern.replace("ALNUM", f"[[{_ALNUM}]--[{_UNSPACED}]]")
            spaced = spaced.replace("LETTER", f"[[{_LETTER}]--[{_UNSPACED}]]").replace("BUT", f"--[{_UNSPACED}]")
            every = pattern.replace("ALNUM", f"[{_ALNUM}]").replace("LETTER", f"[{_LETTER}]").replace("BUT", "")
            return f"(?V1)(?![{_UNSPACED}])(?:{spaced})|(?=[{_UNSPACED}])(?:{every})"

        self.local: Any = regex.compile(either(rf"\.?(?:[[{_ALNUM}_+'%\-]BUT]++\.?)++"))
        self.domain: Any = regex.compile(
            either(
                r"(?:ALNUM(?:[ALNUM_\-]{0,61}ALNUM)?\.)+(?:xn--[A-Za-z0-9\-]{0,58}[A-Za-z0-9]|LETTER{2,63}+)(?!LETTER)"
            )
            + r"|\[(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|IPv6:[0-9A-Fa-f:.]{2,45})\]"
        )
        self.no_domain: Any = regex.compile(r"v?[0-9]+\.(?:[0-9]|x\b)|[0-9]x\.(?:png|jpe?g|gif|webp|avif|svg|heic)\b")


_patterns = cache(_Patterns)
