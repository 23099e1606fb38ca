"""The task context here: the facts that scopes of this project ask for, who supplies each, and which nobody does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.findings.ledger import as_refusals
from upheld.findings.service import Answer
from upheld.findings.status import FACTS
from upheld.findings.store import reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from upheld.findings.service import Findings


@as_refusals()
def read_context(findings: Findings, *, facts: Mapping[str, str] | None = None) -> Answer:
    """Return every fact that is known here or that a scope of this project asks for, with its provenance.

    Args:
        findings: Whose.
        facts: Facts declared for this call.
    """
    db, project = findings.read()
    asked = {} if db is None or project is None else reading.count_scope_facts(db, project.id)
    surroundings = findings.surroundings(db, facts)
    names = list(dict.fromkeys([*FACTS, *sorted(asked), *surroundings.declared_names()]))
    read = surroundings.facts(names)
    listed: dict[str, Any] = {
        name: {"value": read[name].value, "source": read[name].source, "findings": asked.get(name, 0)} for name in names
    }
    data = {"project": None if project is None else project.name, "facts": listed}
    return Answer(data, tuple(surroundings.problems))
