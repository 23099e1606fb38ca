"""Write the generated reference pages, or check that they still say what the code says.

What they say is `reference.py`'s business. Pages that a person writes live beside them and are not touched.
"""

import os
import sys

from reference import ROOT, write_pages


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
