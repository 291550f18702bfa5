"""Quality gate: decides whether a candidate may replace a baseline.

Compares two finished runs, or two systems of one run, under a policy: the largest tolerated changes. Reads the output
of a run (`tables/statistics.csv`, `config.json`); only the command line imports it.
"""
