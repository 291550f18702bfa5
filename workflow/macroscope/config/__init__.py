"""The config: its closed schema, its messages, its reference."""
