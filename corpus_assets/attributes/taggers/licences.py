"""Creative Commons licences linked in a page's HTML (docs/formats/dolma.md "Licences")."""

from typing import Any

from resources.documents.tagger import Spans, Tagger, Text
from resources.formats.attributes import Span

PLACES = ("creativecommons.org/licenses", "creativecommons.org/publicdomain")
_LINK = (
    "<(a|A|meta)\\s[\\w\\p{Punct}\\s=]*\n*(href|HREF|content)"
    "=('|\"|&quot;)?http(s*)://creativecommons\\.org/"
    "((licenses/(?P<type>by(-nc)?(-nd)?(-sa)?))|(?P<type>publicdomain/(zero|certification|mark)))"
    "(?P<version>/\\d+\\.\\d+)?"
    "((/\\w{2})?/((deed|legalcode)\\.)?(?P<lang>\\w{2}))?.*?('|\"|&quot;).*?>"
)
_ADDRESS = (
    'http[s]?://creativecommons\\.org/licenses/(?P<type>by|by-sa|by-nd|by-nc|by-nc-sa|by-nc-nd|publicdomain)["/ >]'
)


def _licences(text: Text, pattern: str) -> dict[str, list[Span]]:
    """Returns each linked licence, with a score that decreases with its rank; none without `metadata.html`."""

    import regex  # Imported late: it loads slowly, and plans do not need it.

    html = text.metadata.get("html")
    spans: dict[str, list[Span]] = {}
    if isinstance(html, str) and any(place in html for place in PLACES):
        for rank, match in enumerate(regex.finditer(pattern, html), start=1):
            spans.setdefault(f"cc_{_name(match)}", []).extend(text.whole(0.5 + 0.5 / rank))
    return spans


def _name(match: Any) -> str:
    named = match.groupdict()
    version = f"_{named['version'].strip('/')}" if named.get("version") else ""
    language = f"_{named['lang']}" if named.get("lang") else ""
    return f"{named['type']}{version}{language}"


def _require_html(text: Text) -> None:
    if text.metadata.get("html") is None:
        raise ValueError("metadata without `html`; valid: without compat")


def cc_re_of_dolma(text: Text) -> Spans:
    """Returns the same as `cc_re`; `ValueError` without HTML, as in the toolkit."""
    _require_html(text)
    return cc_re(text)


def cc_re_fast_of_dolma(text: Text) -> Spans:
    """Returns the same as `cc_re_fast`; `ValueError` without HTML, as in the toolkit."""
    _require_html(text)
    return cc_re_fast(text)


def cc_re(text: Text) -> Spans:
    """Returns licences that links and meta elements name, with version and language."""
    return _licences(text, _LINK)


def cc_re_fast(text: Text) -> Spans:
    """Returns licences whose address occurs anywhere."""
    return _licences(text, _ADDRESS)


_GIVES = "`cc_TYPE[_VERSION][_LANGUAGE]`: 1, 0.75, 0.667, ... for the first, second, third licence"
_SOURCE = "dkpro-c4corpus, as in Dolma"
TAGGERS = [
    Tagger(
        "cc_re",
        cc_re,
        version="1",
        gives=f"{_GIVES} that a link or meta element of `metadata.html` names",
        source=_SOURCE,
        reads=("html",),
        dolma=cc_re_of_dolma,
    ),
    Tagger(
        "cc_re_fast",
        cc_re_fast,
        version="1",
        gives="`cc_TYPE`: the same for each address of a licence in `metadata.html`",
        source=_SOURCE,
        reads=("html",),
        dolma=cc_re_fast_of_dolma,
    ),
]
