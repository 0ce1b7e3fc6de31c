"""The heuristics of DCLM-Baseline: what a page is measured by, and the lines and pieces that are removed."""
