"""The dataset modes: documents and examples to rows."""
