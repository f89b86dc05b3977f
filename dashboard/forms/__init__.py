"""What visitors set: controls, the race's form, its link and menus."""
