"""`corpus publish` and `corpus pull`."""
