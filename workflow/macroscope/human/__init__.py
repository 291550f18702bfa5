"""Human studies: annotation forms and the analysis of their answers (deng2022 section 4, Appendix H).

Independent of the workflow, which imports nothing from here: the package samples documents from a run or from files,
writes pages that work without a server, and turns the exported answers into tables.
"""
