"""A test whether a language model's long texts have the structure of real ones.

It has five rooms, through which data flow from left to right: `corpora`, `systems`, `critics`, `statistics`,
`reporting`. A room imports only from the rooms to its left, from the modules of this folder, and from
`statistics`, which imports from no room.
"""

__version__ = "0.1.0"
