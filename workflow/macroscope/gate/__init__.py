"""From numbers to a decision: whether a candidate may take the place of a baseline.

Two finished runs, or two systems of one, and a policy: the largest changes that are tolerated. It stands beside
the rooms: it reads what a run leaves (`tables/statistics.csv`, `config.json`), and nothing imports it but the command
line.
"""
