"""Benchmark items in the corpus: their n-grams, the places where documents share them, and the report."""
