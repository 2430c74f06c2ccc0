"""Runs a command that measures, and reads what it has measured."""

from __future__ import annotations

import json
import os
import signal
import subprocess

# Linux shares CPUs between sessions first: one busy process elsewhere can press all threads of a
# benchmark onto one core. So each run is a session of its own, with a raised weight where it may.
OWN = ["sh", "-c", 'echo -19 > /proc/self/autogroup 2>/dev/null || :; exec "$@"', "sh"]


class Failed(Exception):
    """A run that gives no figures; its text is one line."""


def run(command: list[str], timeout: float) -> list[dict]:
    """The measurements that the command prints. All processes that it has started have ended afterwards."""
    with subprocess.Popen([*OWN, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as p:
        try:
            out, err = p.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as e:
            raise Failed(f"took longer than {timeout:.0f} s") from e
        finally:
            end(p)
    if p.returncode:
        raise Failed(f"exit status {p.returncode}: {last(err) or last(out)}")
    return parse(out)


def end(p: subprocess.Popen) -> None:
    """Ends what is left of a run's session."""
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # all of it has ended


def last(text: str) -> str:
    """The last line that says something, cut to a length that can be read."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][-300:] if lines else ""


def parse(out: str) -> list[dict]:
    """The measurements in what a command printed: a line with RESULT of a peer, whose libraries print, too, or an object alone."""
    found = []
    for line in out.splitlines():
        text = line.removeprefix("RESULT ")
        if text is line and not line.startswith("{"):
            continue
        try:
            one = json.loads(text)
        except ValueError as e:
            if text is not line:
                raise Failed(f"a result that is no JSON: {text[:80]}") from e
            continue
        if isinstance(one, dict) and "workload" in one:
            found.append(one)
    return found


def checked(found: list[dict], name: str, requests: list[dict]) -> dict:
    """The measurement of a workload, which must be of all its work."""
    of = [m for m in found if m.get("workload") == name]
    if len(of) != 1:
        raise Failed(f"{len(of)} results instead of one")
    want = sum(r["max_new"] for r in requests)
    try:
        got, seconds = int(of[0]["generated_tokens"]), float(of[0]["seconds"])
    except (KeyError, TypeError, ValueError) as e:
        raise Failed(f"a result without what was generated: {e}") from e
    if got != want or not seconds > 0:
        raise Failed(f"{got} tokens in {seconds} s, the workload has {want}")
    return {"seconds": round(seconds, 4), "per_s": round(got / seconds, 1)}
