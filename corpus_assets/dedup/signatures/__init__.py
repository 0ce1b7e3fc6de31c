"""From a text to its signature, its sketch and its band keys."""
