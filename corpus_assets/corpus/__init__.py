"""The opened corpus: what `corpus.yaml` says, and the graph, store and ledger that follow from it."""
