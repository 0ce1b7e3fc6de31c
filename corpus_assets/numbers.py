"""Numbers as a person reads them: thousands apart, three digits of a size, a share in percent."""

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def count(value: float | None) -> str:
    """Returns a whole number with thousands apart; a dash for None."""
    return "–" if value is None else f"{value:,.0f}"


def amount(number: int, things: str) -> str:
    """Returns a number of things, which are given in the plural: `1 partition`, `2,008 partitions`."""
    return f"{number:,} {things.removesuffix('s') if number == 1 else things}"


def size(value: float | None) -> str:
    """Returns bytes with a decimal unit: `2.1 kB`; a dash for None."""
    if value is None:
        return "–"
    number, unit = float(value), 0
    while abs(number) >= 999.5 and unit < len(_UNITS) - 1:
        number, unit = number / 1000, unit + 1
    return f"{number:.0f} {_UNITS[unit]}" if unit == 0 or abs(number) >= 99.95 else f"{number:.1f} {_UNITS[unit]}"


def share(value: float | None) -> str:
    """Returns a share from 0 to 1 in percent; a small one keeps two digits, and only a true 0 or 1 is shown as one."""
    if value is None:
        return "–"
    words = f"{value * 100:.2f}"
    if value > 0 and words == "0.00":
        return "< 0.01 %"
    if value < 1 and words == "100.00":
        return "> 99.99 %"
    return f"{words} %" if value < 0.01 or value > 0.99 else f"{value * 100:.1f} %"


def duration(seconds: float | None) -> str:
    """Returns a time: `350 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`; a dash for None."""
    if seconds is None:
        return "–"
    if seconds < 0.9995:
        return "< 1 ms" if seconds < 0.001 else f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min"
