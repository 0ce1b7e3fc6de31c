"""The report on a corpus: one page that shows from commit records what is in it, what is not, and why."""
