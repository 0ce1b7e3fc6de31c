"""Links to headings of a page."""

import re


def link(heading: str, words: str) -> str:
    """Returns a link to a heading of the same page, as GitHub and MkDocs name it."""
    anchor = re.sub(r"[^\w\s-]", "", heading.lower()).replace(" ", "-")
    return f"[{words}](#{anchor})"
