"""A copy for many strangers: what it allows, who may start what and how often, and what browsers are told to refuse."""
