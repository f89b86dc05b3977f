"""What the lanes of a sweep say together: their outcomes, the early signs, and what follows over rates and seeds."""
