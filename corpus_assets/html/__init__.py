"""What the report and the viewer share to make pages: templates, style, charts. Knows no corpus."""
