"""Files of figures: what the browser has drawn, checked and turned into what a talk or a paper takes."""
