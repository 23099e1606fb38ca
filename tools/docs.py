"""The reference pages that are written from the code: error codes and database schemas.

`write` writes them, `check` fails when a page no longer says what the code says. Pages that a
person writes live beside them and are not touched.
"""

import os
import sys

from upheld import errors

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MIGRATIONS = os.path.join(ROOT, "src", "upheld", "storage", "migrations")
NOTE = "<!-- Written by `make docs` from the code; edits here are lost. -->\n\n"

MEANINGS = {
    errors.INVALID_ARGUMENT: "An argument is wrong in itself; no state of the ledger could make it right.",
    errors.NOT_FOUND: "There is no such finding, evidence or project.",
    errors.PROJECT_SCOPE_MISMATCH: "The id belongs to another project than the caller's.",
    errors.INVALID_STATE_TRANSITION: "The claim cannot go from its present state to the one asked for.",
    errors.EVIDENCE_REQUIRED: "The state asked for needs a kind of evidence that the finding does not have.",
    errors.RELATION_CYCLE: "The relation would make a finding depend on itself.",
    errors.CONCURRENT_MODIFICATION: "The finding changed since the version that the call names.",
    errors.STORAGE_ERROR: "The database could not be read or written; the message says what to do.",
}


def _write_errors() -> str:
    rows = "".join(f"| `{code}` | {MEANINGS[code]} |\n" for code in sorted(errors.FINDING_CODES))
    intro = (
        "Every refusal carries one code of a closed set, a sentence that says what was wrong and what would\n"
        "be right, and the argument at fault where there is one. A call that is refused writes nothing.\n"
    )
    return f"# Error codes\n\n{NOTE}{intro}\n## Findings\n\n| code | it means |\n|---|---|\n{rows}"


def _write_schema() -> str:
    parts = ["# Database schemas\n\n", NOTE, "Migrations as they are applied, oldest first.\n"]
    for database in sorted(os.listdir(MIGRATIONS)):
        folder = os.path.join(MIGRATIONS, database)
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        scripts = [name for name in names if name.endswith(".sql")]
        if scripts:
            parts.append(f"\n## `{database}.db`\n")
        for name in scripts:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                parts.append(f"\n`{name}`\n\n```sql\n{file.read().rstrip()}\n```\n")
    return "".join(parts)


def write_pages() -> dict[str, str]:
    """Return the text of every generated page, by its path from the root of the repository."""
    return {"docs/reference/errors.md": _write_errors(), "docs/reference/schema.md": _write_schema()}


def find_stale_pages() -> list[str]:
    """Return the paths of the generated pages that do not say what the code says."""
    stale = []
    for page, text in write_pages().items():
        path = os.path.join(ROOT, page)
        found = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                found = file.read()
        if found != text:
            stale.append(page)
    return stale


def main(arguments: list[str]) -> int:
    """Run `write` or `check`; 0 when it went well."""
    if arguments == ["write"]:
        for page, text in write_pages().items():
            with open(os.path.join(ROOT, page), "w", encoding="utf-8") as file:
                file.write(text)
        return 0
    if arguments == ["check"]:
        stale = find_stale_pages()
        sys.stderr.writelines(f"{page} does not say what the code says. Run `make docs`.\n" for page in stale)
        return 1 if stale else 0
    sys.stderr.write("usage: tools/docs.py write | check\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
