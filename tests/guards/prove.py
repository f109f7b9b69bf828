"""Proves each security guard: takes it out of a copy of the repository, and looks that the tests that hold it go red.

Usage: prove.py COPY [WORD]: COPY is a checkout that may be changed; WORD keeps to guards whose name has it.
Exit 1 where a guard can be taken out without anybody noticing.
"""

import pathlib
import subprocess
import sys
import tomllib


def failing(copy, run):
    """The names of the tests that fail, or None where the code no longer compiles."""
    done = subprocess.run(
        ["cargo", "test", *run, "--no-fail-fast"], cwd=copy, capture_output=True, text=True, timeout=1200, check=False
    )
    lines = done.stdout.splitlines()
    if not any(line.startswith("test result:") for line in lines):
        return None, done.stderr
    return [line.split()[1] for line in lines if line.startswith("test ") and line.endswith("FAILED")], ""


def prove(copy, guard):
    path = copy / guard["file"]
    whole = path.read_text()
    if whole.count(guard["old"]) != 1:
        return f"NOT FOUND in {guard['file']}"
    path.write_text(whole.replace(guard["old"], guard["new"]))
    try:
        red, error = failing(copy, guard["run"])
    finally:
        path.write_text(whole)
    if red is None:
        return "DOES NOT COMPILE\n" + error[-1500:]
    unseen = [wanted for wanted in guard["red"] if not any(wanted in name for name in red)]
    if unseen:
        return f"NOT NOTICED by {', '.join(unseen)}; red: {', '.join(red) or 'nothing'}"
    guard["seen"] = red
    return None


def main():
    copy = pathlib.Path(sys.argv[1]).resolve()
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    guards = tomllib.loads((pathlib.Path(__file__).parent / "guards.toml").read_text())["guard"]
    wrong = 0
    for guard in guards:
        if word not in guard["name"]:
            continue
        fault = prove(copy, guard)
        wrong += fault is not None
        print(f"{guard['name']}: {fault or 'red: ' + ', '.join(guard['seen'])}", flush=True)
    print(f"{wrong} of the guards can go unnoticed" if wrong else "every guard is held by tests")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
