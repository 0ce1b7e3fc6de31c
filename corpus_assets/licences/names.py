"""Maps spellings of licences to SPDX expressions (SPDX 2.3, annex D).

Known are SPDX identifiers in any case, the classifiers of Python packages, and spellings that are common in package
metadata and on dataset hubs. Any other name is kept unchanged: nothing is guessed.
"""

import re
from functools import lru_cache

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

LONGEST = 200
"""Most code points of a name; a longer text is probably the licence itself, and is cut."""

CUT = " ..."
"""The end of a name that was cut."""

_KNOWN = {
    "0bsd": "0BSD",
    "academic free license (afl)": "AFL-3.0",
    "agpl": "AGPL-3.0-only",
    "apache": "Apache-2.0",
    "apache 2": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache license": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache license version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "apache software license 2.0": "Apache-2.0",
    "2-clause bsd license": "BSD-2-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "bsd 2-clause": "BSD-2-Clause",
    "bsd 2-clause license": "BSD-2-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "bsd 3-clause license": "BSD-3-Clause",
    "bsd-3": "BSD-3-Clause",
    "new bsd": "BSD-3-Clause",
    "new bsd license": "BSD-3-Clause",
    "modified bsd license": "BSD-3-Clause",
    "simplified bsd": "BSD-2-Clause",
    "bsd license": "BSD",
    "boost software license 1.0 (bsl-1.0)": "BSL-1.0",
    "cc0": "CC0-1.0",
    "cc0 1.0 universal (cc0 1.0) public domain dedication": "CC0-1.0",
    "cc by 4.0": "CC-BY-4.0",
    "cc by-sa 3.0": "CC-BY-SA-3.0",
    "cc by-sa 4.0": "CC-BY-SA-4.0",
    "creative commons attribution 4.0 international": "CC-BY-4.0",
    "creative commons attribution share alike 4.0 international": "CC-BY-SA-4.0",
    "creative commons zero v1.0 universal": "CC0-1.0",
    "eclipse public license 2.0 (epl-2.0)": "EPL-2.0",
    "european union public licence 1.2 (eupl 1.2)": "EUPL-1.2",
    "gnu affero general public license v3": "AGPL-3.0-only",
    "gnu affero general public license v3 or later (agplv3+)": "AGPL-3.0-or-later",
    "gnu general public license v2 (gplv2)": "GPL-2.0-only",
    "gnu general public license v2 or later (gplv2+)": "GPL-2.0-or-later",
    "gnu general public license v3 (gplv3)": "GPL-3.0-only",
    "gnu general public license v3 or later (gplv3+)": "GPL-3.0-or-later",
    "gnu lesser general public license v2 (lgplv2)": "LGPL-2.0-only",
    "gnu lesser general public license v2 or later (lgplv2+)": "LGPL-2.0-or-later",
    "gnu lesser general public license v3 (lgplv3)": "LGPL-3.0-only",
    "gnu lesser general public license v3 or later (lgplv3+)": "LGPL-3.0-or-later",
    "gplv2": "GPL-2.0-only",
    "gplv3": "GPL-3.0-only",
    "historical permission notice and disclaimer (hpnd)": "HPND",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "lgplv3": "LGPL-3.0-only",
    "mit licence": "MIT",
    "mit license": "MIT",
    "mit no attribution license (mit-0)": "MIT-0",
    "mozilla public license 1.1 (mpl 1.1)": "MPL-1.1",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "mpl 2.0": "MPL-2.0",
    "odc-by": "ODC-By-1.0",
    "odbl": "ODbL-1.0",
    "psf": "PSF-2.0",
    "psf license": "PSF-2.0",
    "python software foundation license": "PSF-2.0",
    "the mit license": "MIT",
    "the mit license (mit)": "MIT",
    "the unlicense (unlicense)": "Unlicense",
    "universal permissive license (upl)": "UPL-1.0",
    "zope public license": "ZPL-2.1",
    "zlib/libpng license": "Zlib",
}
_LISTED = re.compile(r"\s*[;\n]\s*")
_PREFIXES = ("license :: osi approved :: ", "license :: ")


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """Returns a licence in one spelling; empty for an empty name.

    Names in a list (`A; B`) are joined by `AND`, since all of them may be binding.
    """
    parts = [_folded(part) for part in _LISTED.split(name.strip()) if part]
    joined = " AND ".join(f"({part})" if " OR " in part and len(parts) > 1 else part for part in dict.fromkeys(parts))
    return joined if len(joined) <= LONGEST else joined[: LONGEST - len(CUT)] + CUT


def _folded(name: str) -> str:
    plain = " ".join(name.split())
    lower = plain.lower()
    for prefix in _PREFIXES:
        lower = lower.removeprefix(prefix)
    if lower in _KNOWN:
        return _KNOWN[lower]
    return (canonical(plain) if len(plain) <= LONGEST else None) or plain


def canonical(expression: str) -> str | None:
    """Returns an SPDX expression in its canonical spelling; None for any other text."""
    try:
        return str(canonicalize_license_expression(expression))
    except (InvalidLicenseExpression, RecursionError):
        return None
