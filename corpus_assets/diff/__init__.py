"""The differences between two states of a corpus: two stores, a store and a kept report, or a store and its past."""
