"""What stages share about documents: names, rules for rows, taggers, counts."""
