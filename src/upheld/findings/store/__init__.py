"""All SQL of the findings system, behind functions that take and return values. No rule lives here.

`reading` is what the hook uses; `writing` is what transactions use; `shown` keeps what was injected
where, in the database of conversations.
"""
