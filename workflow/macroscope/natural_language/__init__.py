"""The module that knows natural languages: which there are, and their words, sentences, stop words and lemmas.

All rooms ask it, and no other module has rules of a language, with two exceptions that are English by definition: the
coreference rules and the perturbations of pronouns.
"""
