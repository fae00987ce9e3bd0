"""The text that the small GPT learns: "The Verdict", a short story by Edith Wharton, June 1908.

It is in the public domain. This is the text of Chapter 2 of Raschka's book, whose source is
https://en.wikisource.org/wiki/The_Verdict.
"""

from pathlib import Path

#: The story, its paragraphs with an empty line between them.
THE_VERDICT = Path(__file__).with_suffix(".txt").read_text("utf-8").rstrip("\n")
