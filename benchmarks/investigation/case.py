"""What is investigated: twelve hypotheses in three areas, a probe for each, and what the user says. Plain data.

A loss drifts. Each probe is a command that prints the same lines whenever it is run; one of the twelve confirms its
hypothesis. Two of them also show on which seed runs are to be compared, the second because the first was wrong.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A possible cause, and what its probe prints.

    Args:
        name: The probe's name.
        area: Where it belongs: `numerics`, `data` or `kernels`.
        claim: What the agent logs.
        path: The code that it is about.
        holds: The probe confirms it.
        seed: The seed that the probe shows to be the one to compare on, or 0.
    """

    name: str
    area: str
    claim: str
    path: str
    holds: bool = False
    seed: int = 0


HYPOTHESES = (
    Hypothesis("dtype", "numerics", "accumulating in half precision makes the loss drift", "numerics.py"),
    Hypothesis("matmul", "numerics", "the matmul rounds differently on large tiles", "numerics.py"),
    Hypothesis("scale", "numerics", "the loss scale overflows and is reset without a word", "scaler.py"),
    Hypothesis("clip", "numerics", "gradients are clipped before they are unscaled", "scaler.py"),
    Hypothesis("seeds", "data", "the two curves differ by nothing but their seed", "loader.py", seed=7),
    Hypothesis("shuffle", "data", "the sampler repeats its shuffle after a restart", "sampler.py"),
    Hypothesis("shards", "data", "two replicas read the same shard", "loader.py", seed=11),
    Hypothesis("padding", "data", "padding tokens count in the mean", "loader.py"),
    Hypothesis("mask", "kernels", "the attention mask lets the next token through", "attention.py"),
    Hypothesis("tiles", "kernels", "the last tile of a row is added twice", "attention.py", holds=True),
    Hypothesis("cache", "kernels", "a key stays in the cache after its eviction", "cache.py"),
    Hypothesis("warmup", "kernels", "the choice of a kernel is timed during warm-up", "cache.py"),
)
BY_NAME = {hypothesis.name: hypothesis for hypothesis in HYPOTHESES}

# Known before: a constraint of this card, and that one of the twelve was ruled out on a machine of another backend.
CONSTRAINT = "never run the fused kernel on this card: it hangs"
BACKEND, OTHER_BACKEND = "cuda", "rocm"
FOREIGN = BY_NAME["matmul"]
_RULED_OUT_ELSEWHERE = "source_kind=experiment_run source_ref=run-88 excerpt='same with and without'"
LOGGED_BEFORE = (
    (CONSTRAINT, "--claim-kind=constraint", "--epistemic-state=not_applicable", "--everywhere"),
    (
        *(FOREIGN.claim, "--claim-kind=diagnosis", "--epistemic-state=refuted"),
        *("--evidence", f"role=contradicts {_RULED_OUT_ELSEWHERE}"),
        *(f"--match=backend={OTHER_BACKEND}", f"--facts=backend={OTHER_BACKEND}"),
    ),
)
"""What people logged before: arguments of `upheld log`."""

# The code that somebody changes after its hypothesis was ruled out.
CHANGED = BY_NAME["shuffle"]

NUMERICS = """\
The loss drifts after step 4000. Look into the numerics: half precision, how the matmul rounds on large tiles,
the loss scale, where gradients are clipped."""
DATA = "Now look into the data: seeds, the shuffle after a restart, shards, padding."
KERNELS = "Hand the next part to another agent: look into the kernels."
CONCLUDE = "Conclude. Every hypothesis needs a result that holds for the code as it is now."

# The host's window is full once the result of these probes is settled: it compacts in the middle of the turn.
FILLING = ("matmul", "shuffle")

_PROBE = """\
# Usage: sh probe.sh NAME SEED KERNEL. Prints what four runs gave, the same every time.
for step in $(seq 4000 40 5200); do echo "step $step loss 2.3$((step % 7)) baseline 2.2$((step % 5)) probe $1"; done
grep "^probe $1:" results.txt | sed "s/$/ (seed $2, $3 kernel)/"
"""


def repository() -> dict[str, str]:
    """Return the files of the repository that is investigated, by name."""
    code = {hypothesis.path: f"# about: {hypothesis.area}\n" for hypothesis in HYPOTHESES}
    results = "".join(f"{_result(hypothesis)}\n" for hypothesis in HYPOTHESES)
    return code | {"probe.sh": _PROBE, "results.txt": results}


def _result(hypothesis: Hypothesis) -> str:
    verdict = "confirmed, without it the drift is gone" if hypothesis.holds else "ruled out, the drift stays"
    seed = f"; compare runs on seed {hypothesis.seed}" if hypothesis.seed else ""
    return f"probe {hypothesis.name}: {verdict} in 4 of 4 runs{seed}"
