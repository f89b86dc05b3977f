"""The server's own routes, and who a visitor is."""
