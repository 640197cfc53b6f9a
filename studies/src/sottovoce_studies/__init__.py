"""Studies that check every table, figure and claim of the papers.

`p1` to `p4` have one file per table or figure, `beyond` has studies of further claims, and `data`
the numbers that the papers print. `sottovoce reproduce` runs them.
"""
