"""What stands between the science and the browser."""
