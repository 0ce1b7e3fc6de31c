"""Benchmark items in the corpus: their n-grams, where documents share them, and the report."""
