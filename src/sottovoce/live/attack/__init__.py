"""The attack on private EM: recovers labels from the opened totals.

A worker adds the same integer wherever it gave the same label: round(-L ln P(label | truth)), where
L is the scale. So every total of every round lies in the span of the indicators of workers'
labels,

    [z_jl]_i = 1 if worker j gave task i the label l,

exactly: rounding changes the integer, not the span. Once the totals fill the span, its vectors of
zeros and ones can be listed, and these are the answers (against P2, theorem 1, which rules out a
unique solution only because workers can be renamed).
"""
