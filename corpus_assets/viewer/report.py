"""The report of the corpus, as it lies in the store."""

import base64
import hashlib
import re

from starlette.responses import Response

from corpus_assets.viewer.query import missing
from corpus_assets.viewer.site import BASE, Asked
from resources.errors import NotBuiltError

ASSET, SUFFIX = "report", "index.html"
MOST_BYTES = 64 << 20
_TOP = re.compile(rb'<body>(?:\s*<a class="skip"[^>]*>[^<]*</a>)?')
_STYLE = re.compile(rb"<style[^>]*>(.*?)</style>", re.DOTALL | re.IGNORECASE)
_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL | re.IGNORECASE)


def report(asked: Asked) -> Response:
    """Returns the page, which has its style and script inside; the policy names these by their digests, and no others.

    A text of the corpus in it that escaped as a script would have another digest, and not run.
    """
    view = asked.view
    if ASSET not in view.corpus.graph.stages:
        raise missing("This corpus has no report.")
    made = view.partition(ASSET, None)
    if made is None:
        raise NotBuiltError(ASSET, None, f"The report is not built: `corpus build --select {ASSET}` makes it.")
    file = made.file(SUFFIX)
    if file.bytes > MOST_BYTES:
        raise missing(f"The report has {file.bytes:,} bytes; open {file.path} in the store instead.")
    with view.corpus.storage.open(file.path) as stored:
        content = with_way_back(stored.read(MOST_BYTES))
    headers = {"Content-Security-Policy": policy(content)}
    return Response(content, media_type="text/html; charset=utf-8", headers=headers)


def with_way_back(content: bytes) -> bytes:
    """Returns the page with a link to the viewer before everything else but the link to the content."""
    link = f'\n<nav aria-label="Viewer"><a href="{BASE}/">\u2190 the viewer</a></nav>'.encode()
    return _TOP.sub(lambda found: found[0] + link, content, count=1)


def policy(content: bytes) -> str:
    """Returns the content security policy of a page with style and script inside. Of scripts only the last counts."""
    styles = " ".join(_digest(found) for found in _STYLE.findall(content)[:8])
    scripts = " ".join(_digest(found) for found in _SCRIPT.findall(content)[-1:])
    parts = ["default-src 'none'", "img-src 'self' data:", "style-src-attr 'unsafe-inline'"]
    parts += [f"{name} {digests}" for name, digests in (("style-src-elem", styles), ("script-src", scripts)) if digests]
    return "; ".join([*parts, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"])


def _digest(content: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}'"
