"""Readers of texts from files: containers of records, formats of records, compression, archives; no corpus."""
