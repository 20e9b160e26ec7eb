"""What is kept and shown."""
