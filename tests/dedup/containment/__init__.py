"""Documents that stand within others."""
