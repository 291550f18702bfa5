"""How good a resolver is: the field's measures on gold data."""
