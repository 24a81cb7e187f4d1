"""Learning and care: what is proposed, and waits for a yes.

Everything here goes through the inbox: nothing is written or dropped before a person has said so.
"""
