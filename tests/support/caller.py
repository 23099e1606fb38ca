"""One process that makes the calls it is told on its standard input: what tests of racing writers start.

python caller.py DIRECTORY NAME

Each line is JSON, `[operation, arguments]`; each answer is one line of JSON: `{"data": ...}` or `{"error": code}`.
"""

from __future__ import annotations

import json
import os
import sys

from upheld.context.marks import read_marks
from upheld.errors import UpheldError
from upheld.findings.ledger import Caller, Ledger
from upheld.findings.operations import get_operation
from upheld.findings.place import Place
from upheld.findings.service import Findings
from upheld.storage.places import find_places


def main(directory: str, name: str) -> None:
    ledger = Ledger(find_places(os.environ))
    marks = read_marks(directory, environ=os.environ, deadline_ms=20_000)
    findings = Findings(ledger, Place(marks, os.environ, ""), Caller("agent", "test", name))
    findings.read()
    os.write(1, b"ready\n")
    for line in sys.stdin:
        operation, given = json.loads(line)
        answer: dict[str, object]
        try:
            answer = {"data": get_operation(operation).run(findings, given).data}
        except UpheldError as error:
            answer = {"error": error.code}
        os.write(1, json.dumps(answer).encode() + b"\n")
    ledger.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
