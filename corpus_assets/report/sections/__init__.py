"""The sections of the page: each a function of the model that returns blocks, which the template shows."""
