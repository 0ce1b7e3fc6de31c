"""Documents that stand within others: samples of shingles, candidates by equal ones, and exact shares."""
