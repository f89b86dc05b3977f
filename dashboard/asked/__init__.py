"""What is asked of the lab: a race's configuration, the presets, and what the settings alone decide."""
