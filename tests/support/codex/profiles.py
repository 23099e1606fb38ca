"""The two ways in which Codex offers tools to a model; a test runs in both.

`classic` is what a model without an entry in Codex's own catalogue gets: one function per tool. `code` is
what almost every catalogue entry gets: one tool that runs JavaScript, and the tools as functions inside it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """A way of offering tools, and the model name that makes Codex choose it.

    Args:
        name: `classic` or `code`.
        model: What `config.toml` names as the model.
    """

    name: str
    model: str


CLASSIC = Profile("classic", "mock-model")
CODE = Profile("code", "gpt-6.2-sol")
PROFILES = (CLASSIC, CODE)
