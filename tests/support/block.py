"""Read an injected block strictly, as somebody would who trusts nothing in it.

Whatever its language: sections and labels are given back under their English names.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from itertools import pairwise

from upheld.findings.labels import ENGLISH, LANGUAGES
from upheld.findings.model import APPLICABILITIES, EPISTEMIC_STATES, LIFECYCLE_STATES
from upheld.findings.sections import SECTIONS
from upheld.text.quote import unquote

_HEAD = re.compile(r"- \[F-([0-9]+) \| ([a-z_]+) \| ([a-z_]+)(?: \| ([a-z]+))?\]")
_LINE = re.compile(r"  ([^:]+): (.+)")
_LABELS = (
    *("claim", "path", "evidence", "evidence_for", "against", "refuted_by", "check_first", "condition", "scope"),
    *("holds_for", "contradicts", "supersedes", "details"),
)


@dataclass
class Shown:
    """One item as it stands in a block."""

    finding_id: int
    state: str
    applicability: str
    section: str
    lines: dict[str, str] = field(default_factory=dict)

    @property
    def claim(self) -> str:
        return unquote(self.lines.get("Claim") or self.lines["Path"])


@dataclass
class Block:
    """A block, read."""

    items: list[Shown]
    corrections: list[str]
    closing: str
    language: str = "en"


def read_block(text: str) -> Block:
    """Return what a block holds; an AssertionError says what in it could not have been meant."""
    lines = text.split("\n")
    assert lines == text.splitlines(), "another line break than ours"
    language = next(name for name, labels in LANGUAGES.items() if labels.heading == lines[0])
    labels = LANGUAGES[language]
    assert lines[1] == labels.notice
    named = {getattr(labels, name): getattr(ENGLISH, name) for name in _LABELS}
    sections = {labels.sections.get(section, section): section for section in SECTIONS}
    block = Block([], [], "", language)
    section = ""
    for before, line in pairwise(lines[1:]):
        assert not block.closing, "something follows the closing line"
        if line.startswith("### "):
            assert before == ""
            found = sections[line[4:]]
            assert SECTIONS.index(found) > (SECTIONS.index(section) if section else -1)
            section = found
        elif line.startswith("- "):
            head = _HEAD.fullmatch(line)
            assert head, line
            assert section, "an item outside of a section"
            assert head[2] in EPISTEMIC_STATES
            assert head[3] in APPLICABILITIES
            assert head[4] in (None, *LIFECYCLE_STATES)
            block.items.append(Shown(int(head[1]), head[2], head[3], section))
        elif line.startswith("  "):
            labelled = _LINE.fullmatch(line)
            assert labelled, line
            label = named[labelled[1]]
            assert label == "Contradicts" or label not in block.items[-1].lines, "a label twice"
            block.items[-1].lines[label] = labelled[2]
            assert label in ("Claim", "Path") or read_words(labelled[2])
        elif line.startswith(begin := labels.correction.format(line="")):
            assert not section
            block.corrections.append(line.removeprefix(begin))
        elif line:
            assert before == ""
            block.closing = line
    return block


def read_words(line: str) -> list[str]:
    """Return the words of a line, quoted ones as they were before; what separates them stays with plain ones."""
    words: list[str] = []
    at = 0
    while at < len(line):
        if line[at] == '"':
            word, end = json.JSONDecoder().raw_decode(line, at)
            assert re.match(r"[,;:)]{0,2}( |$)", line[end:]), f"what follows the quoted text: {line[end:]}"
            words.append(word)
            at = line.find(" ", end) + 1 or len(line)
        else:
            end = line.find(" ", at)
            end = len(line) if end < 0 else end
            words.append(line[at:end])
            at = end + 1
    return words
