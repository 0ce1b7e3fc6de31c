"""The papers of a corpus: Croissant, a dataset card, SPDX, and the summary of training content of the EU AI Act."""
