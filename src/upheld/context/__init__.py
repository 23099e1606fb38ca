"""Task context: which project this is, what git says, which facts hold, and the state of the code a claim is about.

Everything here but `declared` is on the hook's path and imports no more than that path may.
"""

from upheld.context.code import CodeState, check_pattern, read_code
from upheld.context.facts import Fact, gather_declared, read_confirmed, read_facts
from upheld.context.marks import Marks, read_marks, read_root_commits
from upheld.context.projects import IdentityUnknownError, Project, ensure_project, find_project

__all__ = [
    "CodeState",
    "Fact",
    "IdentityUnknownError",
    "Marks",
    "Project",
    "check_pattern",
    "ensure_project",
    "find_project",
    "gather_declared",
    "read_code",
    "read_confirmed",
    "read_facts",
    "read_marks",
    "read_root_commits",
]
