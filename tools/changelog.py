"""Changelog fragments: one small file per change in `changelog/`, so that parallel work never collides.

`check` refuses a misnamed or empty fragment. `assemble VERSION DATE` moves all of them into
CHANGELOG.md under one heading and deletes the files; a person runs it when releasing.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADINGS = {"feature": "Added", "bugfix": "Fixed", "removal": "Removed", "misc": "Under the hood"}
NAME = re.compile(r"\+[a-z0-9]+(?:-[a-z0-9]+)*\.(feature|bugfix|misc|removal)\.md")
MARK = "<!-- fragments go below this line -->\n"


def find_problems(root: str = ROOT) -> list[str]:
    """Return one sentence per fragment that cannot be used, in order of name."""
    problems = []
    folder = os.path.join(root, "changelog")
    # Right after a release there is none, and git keeps no empty folders.
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if not NAME.fullmatch(name):
            kinds = ", ".join(HEADINGS)
            problems.append(f"changelog/{name} is not named +some-slug.KIND.md with KIND one of {kinds}.")
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = file.read()
        if not text.strip():
            problems.append(f"changelog/{name} is empty. Say in a sentence or two what a user notices.")
    return problems


def assemble(version: str, date: str, root: str = ROOT) -> None:
    """Move every fragment into CHANGELOG.md under a heading for this version."""
    folder = os.path.join(root, "changelog")
    lines = [f"\n## {version} ({date})\n"]
    used = []
    for kind, heading in HEADINGS.items():
        names = [name for name in sorted(os.listdir(folder)) if name.endswith(f".{kind}.md")]
        if not names:
            continue
        lines.append(f"\n### {heading}\n\n")
        for name in names:
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            lines.append("- " + " ".join(text.split()) + "\n")
            used.append(path)
    path = os.path.join(root, "CHANGELOG.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(MARK, MARK + "".join(lines), 1))
    for fragment in used:
        os.unlink(fragment)


def main(arguments: list[str]) -> int:
    """Run `check` or `assemble VERSION DATE`; 0 when it went well."""
    match arguments:
        case ["check"]:
            problems = find_problems()
            sys.stderr.writelines(problem + "\n" for problem in problems)
            return 1 if problems else 0
        case ["assemble", version, date]:
            assemble(version, date)
            return 0
        case _:
            sys.stderr.write("usage: tools/changelog.py check | assemble VERSION DATE\n")
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
