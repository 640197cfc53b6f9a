"""Sums under a threshold key of Damgård and Jurik, as in P2 (protocol 2).

A dealer makes the key, and could decrypt everything: it must be neither the requester nor a worker.
If the requester deals, there is no privacy from it. Each worker encrypts its values, many in one
ciphertext; each worker that opens multiplies all ciphertexts itself, and θ - 1 workers and the
server decrypt the products together. So θ - 1 workers who collude with the server can decrypt
everything.

Nobody proves that its values are in range. An impossible total is detected and not opened further;
the worker who caused it cannot be identified.
"""
