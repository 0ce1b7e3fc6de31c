"""Renders pages from Jinja templates. All values are escaped; only a template writes markup."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup

from corpus_assets import numbers

STYLE, SCRIPT = "corpus.css", "corpus.js"
FILTERS: Mapping[str, Callable[..., str]] = {
    "count": numbers.count,
    "amount": numbers.amount,
    "size": numbers.size,
    "share": numbers.share,
    "duration": numbers.duration,
}


@cache
def static(name: str) -> str:
    """Returns the content of a file that pages use: the style or the script."""
    return files("corpus_assets.html").joinpath("static", name).read_text(encoding="utf-8")


@cache
def _environment(packages: tuple[str, ...]) -> Environment:
    loaders = {name.rpartition(".")[2]: PackageLoader(name) for name in ("corpus_assets.html", *packages)}
    made = Environment(
        loader=PrefixLoader(loaders), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters |= FILTERS
    return made


def render(package: str, template: str, **values: Any) -> str:
    """Returns a page of a package that has a folder `templates`, such as `corpus_assets.report`.

    Templates extend `html/base.html` and import `html/parts.html`. A value that a template names must be given.
    """
    short = package.rpartition(".")[2]
    return _environment((package,)).get_template(f"{short}/{template}").render(**values)


def inline(name: str) -> Markup:
    """Returns a file of ours for a `<style>` or `<script>` element, so that a page needs no other file."""
    return Markup(static(name))
