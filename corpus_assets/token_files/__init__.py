"""Files of ids that exist already: which of them belong together, and their documents."""
