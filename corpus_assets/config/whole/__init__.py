"""corpus.yaml as a whole: its sections, and checks of what no section can know by itself."""
