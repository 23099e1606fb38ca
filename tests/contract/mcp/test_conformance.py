"""The official conformance suite, over the test's own HTTP, against our server.

The suite also names scenarios that we fail on purpose; `conformance_expected.yml` has them with the
reasons, and it is an error when one of them passes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from support.codex.network import PrivateNetwork, why_no_network
from support.mcp_bridge import bridged
from support.node import GLOB_SYNC, require_package

if TYPE_CHECKING:
    from pathlib import Path

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "support", "mcp_example.py")
EXPECTED = os.path.join(HERE, "conformance_expected.yml")

MUST_PASS = {
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-error",
    "json-schema-2020-12",
    "server-sse-multiple-streams",
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """Run every server scenario once, in a network of its own."""
    suite = require_package("@modelcontextprotocol/conformance")
    missing = why_no_network()
    if missing is not None:
        pytest.skip(missing)
    home: Path = tmp_path_factory.mktemp("suite")
    with PrivateNetwork() as network, bridged([sys.executable, "-I", EXAMPLE], network.listen()) as bridge:
        node = ["node", "--import", GLOB_SYNC, os.path.join(suite, "dist", "index.js")]
        options = ["--url", bridge.url, "--suite", "all", "--expected-failures", EXPECTED, "-o", str(home)]
        return subprocess.run(
            network.inside([*node, "server", *options]),
            env={"PATH": os.environ["PATH"], "HOME": str(home)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


def test_the_suite_finds_nothing_but_the_failures_we_declare(
    report: subprocess.CompletedProcess[str],
) -> None:
    assert report.returncode == 0, report.stdout[-4000:] + report.stderr[-2000:]


def test_every_scenario_about_what_we_declare_passes(report: subprocess.CompletedProcess[str]) -> None:
    passed = set(re.findall(r"^✓ ([\w-]+): [1-9]\d* passed, 0 failed", report.stdout, re.MULTILINE))
    assert passed == MUST_PASS
