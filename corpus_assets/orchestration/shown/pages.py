"""Where the web server that shows the assets has the pages of the corpus."""

from urllib.parse import quote

PAGES = "/corpus"
REPORT = f"{PAGES}/report"


def page(asset: str, partition: str | None = None) -> str:
    """Returns the address of the page of an asset or of one of its partitions, relative to the web server."""
    parts = [asset] if partition is None else [asset, partition]
    return "/".join([PAGES, "assets", *(quote(part, safe="") for part in parts)])
