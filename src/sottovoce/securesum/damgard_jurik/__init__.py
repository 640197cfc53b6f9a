"""Sums under a threshold key of Damgård and Jurik, as in P2 (protocol 2).

A dealer makes the key, and could decrypt everything: it must be neither the requester nor a
worker. If the requester deals, there is no privacy from it. Each worker encrypts its values, many
in one ciphertext; whoever opens multiplies all ciphertexts itself, and θ - 1 workers and the server
decrypt the products together. So θ - 1 workers in league with the server can decrypt everything.

Nobody proves that its values are in range. A total that cannot be is seen and not opened further;
which worker made it so cannot be told.
"""
