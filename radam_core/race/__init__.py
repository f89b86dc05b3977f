"""The race: what is asked of it, lanes as one stacked computation, what is measured, and its frames."""
