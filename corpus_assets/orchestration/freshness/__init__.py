"""Whether assets are fresh, and why not."""
