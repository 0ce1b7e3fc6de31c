"""What the weights of a dataset say, and how often documents are used."""
