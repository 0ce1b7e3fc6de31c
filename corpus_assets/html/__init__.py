"""What the report and the viewer share to make pages: templates, style, numbers in words, charts. Knows no corpus."""
