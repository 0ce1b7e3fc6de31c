"""Numbers in words, for a person."""


def size(count: float) -> str:
    """Returns a number of bytes: `1.2 GB`."""
    for limit, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= limit:
            return f"{count / limit:.1f} {unit}"
    return f"{count:.0f} bytes"


def duration(seconds: float) -> str:
    """Returns a time: `3 h 20 min`, `4 min 10 s` or `2.5 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds) // 60
    return f"{minutes // 60:,} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {round(seconds) % 60} s"
