"""Every table, figure and claim of the papers, checked: claims and the runs that check them.

`p1` to `p4` hold one file for each table or figure, `beyond` what goes further, `data` the numbers
that the papers print. `sottovoce reproduce` runs them.
"""
