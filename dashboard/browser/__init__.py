"""What runs in the browser: the components, their scripts and styles, and the files it asks for."""
