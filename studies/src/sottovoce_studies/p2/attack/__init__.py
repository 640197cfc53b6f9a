"""The attack on private EM: recovers labels from the opened totals.

A worker adds the same integer wherever it gave the same label: round(-L ln P(label | truth)), where
L is the scale. So every total of every round lies in the span of the indicators of workers'
labels,

    [z_jl]_i = 1 if worker j gave task i the label l,

exactly: rounding changes the integer, not the span. Two attackers are told apart. A server that
knows who was given which tasks narrows every worker's labels down to candidate columns
(`candidate_columns`). A server that does not, as in P2, searches the span for columns that explain
the counts (`recovery`); workers can then be renamed, which is why P2's theorem 1 finds no unique
solution.
"""
