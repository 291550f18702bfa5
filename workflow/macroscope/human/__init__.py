"""People: the sheets that they fill in, and what follows from them (deng2022 section 4, Appendix H).

Beside the rooms: it draws documents from a run or from files, writes pages that work without a server, and turns the
exported answers into tables. Nothing of the workflow imports it.
"""
