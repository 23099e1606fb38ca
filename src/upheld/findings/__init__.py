"""Findings: what we believe, why, and under which conditions.

Light on purpose: the hook imports `retrieval` and what it needs without the service that writes.
"""
