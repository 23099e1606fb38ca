"""The server as a process: how it ends, and that its pipes carry the protocol alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = os.path.join(os.path.dirname(__file__), "..", "support", "mcp_example.py")


@pytest.fixture
def server() -> Iterator[subprocess.Popen[bytes]]:
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-I", EXAMPLE], **pipes) as process:
        yield process
        process.kill()


def ask(server: subprocess.Popen[bytes], method: str, **params: object) -> Any:
    assert server.stdin is not None
    assert server.stdout is not None
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())


def wait_until_it_waits(pid: int) -> None:
    """Return once the kernel says that the process sleeps, which a server does in its read only."""
    state = ""
    while state != "S":
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            state = file.read().rpartition(")")[2].split()[0]


def test_the_end_of_input_is_a_clean_end(server: subprocess.Popen[bytes]) -> None:
    assert ask(server, "ping")["result"] == {}
    assert server.communicate() == (b"", b"")
    assert server.returncode == 0


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="asks Linux whether the process waits")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_waiting_server_quietly(server: subprocess.Popen[bytes], number: int) -> None:
    ask(server, "ping")
    wait_until_it_waits(server.pid)
    server.send_signal(number)
    assert server.wait(timeout=10) == 0
    assert server.communicate() == (b"", b"")


def test_a_reader_that_is_gone_ends_the_server_quietly(server: subprocess.Popen[bytes]) -> None:
    ask(server, "ping")
    assert server.stdout is not None
    assert server.stdin is not None
    assert server.stderr is not None
    server.stdout.close()
    server.stdin.write(b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n')
    server.stdin.flush()
    assert server.wait(timeout=10) == 0
    assert server.stderr.read() == b""


def test_a_print_and_a_child_of_a_tool_stay_off_the_pipes(server: subprocess.Popen[bytes]) -> None:
    called = ask(server, "tools/call", name="print")
    assert called["result"]["isError"] is False
    assert ask(server, "ping")["result"] == {}
    out, err = server.communicate()
    assert out == b""
    assert err.decode().splitlines() == ["a stray print", "a child's print", "0 bytes of input for the child"]


def test_pipes_that_do_not_block_are_read_and_written_all_the_same() -> None:
    near_in, far_in = os.pipe()
    near_out, far_out = os.pipe()
    for end in (near_in, far_out):
        os.set_blocking(end, False)
    with subprocess.Popen([sys.executable, "-I", EXAMPLE], stdin=near_in, stdout=far_out) as process:
        os.close(near_in)
        os.close(far_out)
        with os.fdopen(far_in, "wb") as to, os.fdopen(near_out, "rb") as back:
            argument = "x" * 1_000_000
            call = {"name": "echo", "arguments": {"a": argument}}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            to.write(json.dumps(message).encode() + b"\n")
            to.flush()
            answer = json.loads(back.readline())
    assert answer["result"]["structuredContent"]["data"]["arguments"]["a"] == argument
    assert process.returncode == 0


def test_both_streams_block_whatever_the_host_made_of_them() -> None:
    ends = [*os.pipe(), *os.pipe()]
    for end in ends:
        os.set_blocking(end, False)
    code = (
        "import os; from upheld.mcp.stdio import take_stdio; lines = take_stdio();"
        "lines[1].write(repr([os.get_blocking(each.fileno()) for each in lines]).encode())"
    )
    subprocess.run([sys.executable, "-I", "-c", code], stdin=ends[0], stdout=ends[3], check=True)
    assert os.read(ends[2], 100) == b"[True, True]"
    for end in ends:
        os.close(end)
