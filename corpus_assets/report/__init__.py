"""The report on a corpus: one page, made from commit records, that shows what is in it, what is not, and why."""
