"""The table of libraries is that of the figures that were kept, and the usual declaration of a language is found."""

import json
from pathlib import Path

from benchmarks.languages_quality import KEPT, PAGE, samples, table


def test_the_table_is_that_of_the_figures() -> None:
    assert table(json.loads(KEPT.read_bytes())) in PAGE.read_text(encoding="utf-8")


def test_a_language_has_the_declaration_that_is_usually_meant(tmp_path: Path) -> None:
    (tmp_path / "declaration").mkdir()
    page = '<html data-code="{}" dir="ltr" lang="{}"><p>{} &amp; <b>x</b></p><p>1.</p>'
    for name, tag, said in (("062", "fr", "picard"), ("fra", "fr", "français"), ("bos_cyrl", "bs-Cyrl", "босански")):
        (tmp_path / "declaration" / f"{name}.html").write_text(page.format(name, tag, said), encoding="utf-8")
    assert samples(tmp_path, 2) == {"fr": ["français & x"]}
