"""Run the benchmarks: every module here with `rows()`, one table, and `build/bench.json`.

A row holds what was measured beside what limits it in the same run: `value` against `limit`, and
`goal`, the ratio of the two that must not be exceeded. `python benchmarks/run.py PREFIX` keeps to
the rows whose name starts so; a module is not even loaded when its `PREFIX` excludes it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

HERE = os.path.dirname(os.path.abspath(__file__))
KEYS = ("name", "value", "unit", "limit", "ratio", "goal", "met")


def complete(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with exactly our keys.

    A module gives `name`, `value` and `unit`, and for a row that must reach something `limit` (in
    the same unit, measured in the same run) and `goal`: the highest allowed value / limit. A row
    without them is printed for information; it counts as met.
    """
    unknown = set(row) - set(KEYS)
    if unknown:
        raise ValueError(f"row {row.get('name')!r} has keys we do not know: {sorted(unknown)}")
    value, limit, goal = row["value"], row.get("limit"), row.get("goal")
    if goal is not None and not limit:
        raise ValueError(f"row {row['name']!r} has a goal and no limit to hold its value against")
    ratio = row.get("ratio", value / limit if limit else None)
    met = row.get("met", goal is None or ratio is None or ratio <= goal)
    full = {
        "name": row["name"],
        "value": value,
        "unit": row["unit"],
        "limit": limit,
        "ratio": ratio,
        "goal": goal,
        "met": bool(met),
    }
    return {key: round(item, 4) if isinstance(item, float) else item for key, item in full.items()}


def _overlap(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def collect(only: str) -> list[dict[str, Any]]:
    """Return the rows whose name starts with `only`, in the order of module names."""
    sys.path.insert(0, HERE)
    rows: list[dict[str, Any]] = []
    for name in sorted(os.listdir(HERE)):
        if not name.endswith(".py") or name.startswith("_") or name == "run.py":
            continue
        spec = importlib.util.spec_from_file_location(name[:-3], os.path.join(HERE, name))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        # Registered first, so that a module's dataclasses and pickles can find their own names.
        sys.modules[name[:-3]] = module
        spec.loader.exec_module(module)
        if hasattr(module, "rows") and _overlap(getattr(module, "PREFIX", ""), only):
            rows.extend(complete(row) for row in module.rows())
    return [row for row in rows if row["name"].startswith(only)]


def _show(item: object) -> str:
    if item is None:
        return "-"
    if isinstance(item, bool):
        return "yes" if item else "NO"
    return f"{item:.4g}" if isinstance(item, float) else str(item)


def table(rows: Iterable[dict[str, Any]]) -> str:
    """Return the rows as lines of text with aligned columns."""
    cells = [list(KEYS), *([_show(row[key]) for key in KEYS] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(KEYS))]
    texts = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells)
    return "\n".join(text.rstrip() for text in texts)


def main(arguments: list[str]) -> int:
    """Measure, print, write; 0 when every goal is met."""
    rows = collect(arguments[0] if arguments else "")
    print(table(rows))
    folder = os.path.join(os.path.dirname(HERE), "build")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "bench.json"), "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=1)
        file.write("\n")
    return 0 if all(row["met"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
