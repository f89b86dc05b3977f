"""Pure functions from numbers to Plotly figures, one file a page; pages, exports and tests use the same ones."""
