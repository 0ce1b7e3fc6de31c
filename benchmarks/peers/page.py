"""The peers' section of a page: it stands between markers of its own, which whoever writes the rest keeps."""

BEGIN = "<!-- peers: begin -->"
END = "<!-- peers: end -->"


def section(page: str) -> str:
    """The section with its markers; empty when the page has none."""
    _, begin, rest = page.partition(BEGIN)
    body, end, _ = rest.partition(END)
    return f"{begin}{body}{end}" if end else ""


def with_section(page: str, new: str) -> str:
    """The page with its section replaced, or with a first one at its end; `new` has its markers, or is empty."""
    old = section(page)
    if old:
        return page.replace(old, new)
    return f"{page.rstrip()}\n\n{new}\n" if new else page
