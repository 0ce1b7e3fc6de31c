"""Options and positions of a command line, as Python's `argparse` and `fire` read them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple


class Options(NamedTuple):
    """What a program accepts."""

    positions: Sequence[str] = ()
    """Names of what stands without an option, in order."""
    switches: Collection[str] = ()
    """Options without a value."""
    lists: Collection[str] = ()
    """Options with all values that follow."""
    short: Mapping[str, str] = {}
    """Long names of short options, without dashes."""


def read_options(words: Sequence[str], options: Options) -> dict[str, Any]:
    """Returns the values of a command line by name; a list for `lists`, true or false for `switches`.

    An option that the program does not have gets the value that follows, if there is one. Positions without a name are
    called `argument 1` and so on.
    """
    found: dict[str, Any] = {}
    rest, place = list(words), 0
    names = iter(options.positions)
    while rest:
        word = rest.pop(0)
        if not _is_option(word):
            place += 1
            found[next(names, f"argument {place}")] = word
            continue
        given, equals, value = word.partition("=")
        key = _long(given, options)
        if key.startswith("no-") and key[3:] in options.switches:
            found[key[3:]] = False
        elif equals:
            found[key] = [value] if key in options.lists else value
        elif key in options.lists:
            found.setdefault(key, []).extend(_values(rest))
        elif key in options.switches:
            found[key] = rest.pop(0) if rest and rest[0].lower() in ("true", "false") else True
        else:
            found[key] = rest.pop(0) if rest and not _is_option(rest[0]) else True
    return found


def _long(given: str, options: Options) -> str:
    key = given.lstrip("-")
    return options.short.get(key, key)


def _is_option(word: str) -> bool:
    return len(word) > 1 and word[0] == "-" and not word[1:2].isdigit()


def _values(rest: list[str]) -> Iterator[str]:
    while rest and not _is_option(rest[0]):
        yield rest.pop(0)
