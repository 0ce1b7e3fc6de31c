"""Small files that the configuration names, such as a chat template, changed while a build runs."""

from pathlib import Path

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from tests.build.small import Work, opened

A, B = ("{{ messages[0].content }} " + word for word in "ab")


def template(corpus: Corpus) -> str:
    """The template in the store."""
    return Path(corpus.storage.fetch("tokenizer/chat_template.jinja")).read_text(encoding="utf-8")


def test_what_was_planned_with_one_file_is_never_made_of_another(work: Work) -> None:
    """The file may be as it was again when the next plan is made, which then believes the record."""
    file = work.folder / "chat.jinja"
    file.write_text(A, encoding="utf-8")
    work.config(tokenizer__chat_template="chat.jinja")
    corpus = opened(work.folder)
    step = Step(corpus, corpus.graph["tokenizer"])
    file.write_text(B, encoding="utf-8")
    step.run()
    failures = step.failures()
    file.write_text(A, encoding="utf-8")
    corpus = opened(work.folder)
    Step(corpus, corpus.graph["tokenizer"]).run()
    assert template(corpus) == A
    (failed,) = failures
    assert failed.endswith(": a file that it is derived from changed since the build began; build again")
