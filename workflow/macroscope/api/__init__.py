"""The public face in Python: `macroscope.compare`, its result, and what they need. All other modules are private."""
