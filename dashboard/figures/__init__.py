"""Pure functions from numbers to Plotly figures, one file a page; pages, exports and tests use the same ones."""

import plotly.io

plotly.io.templates.default = (
    None  # the browser puts in ours, light or dark; Plotly's own would go along with every figure
)
