"""Start-up, memory and size of the release build, in a real window on a desktop of its own.

Times are given as ratios as well: against the time until the sign-in screen of the same build in the same run, which
holds everything (process, web view, script) but the demo org, the sign-in and the fleet.

Usage: bench.py BINARY [RUNS]
"""

import os
import pathlib
import statistics
import sys
import tempfile
import time

from desktop import Desktop
from main_job import ROOT, button, free_port, row, wait_for_port
from webdriver import Driver

IDLE_SECONDS = 10


def children(pid):
    found = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += children(int(child))
    return found


def proportional_set(pid):
    """Memory of a process in MiB, pages shared with others counted in proportion (PSS)."""
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def memory(binary):
    """PSS of the backend and of the web view's processes, in MiB."""
    backend = web = 0.0
    for proc in pathlib.Path("/proc").iterdir():
        if not proc.name.isdigit():
            continue
        try:
            if os.readlink(proc / "exe") == str(binary):
                for pid in children(int(proc.name)):
                    pss = proportional_set(pid)
                    if os.readlink(f"/proc/{pid}/exe") == str(binary):
                        backend += pss
                    else:
                        web += pss
                return backend, web
        except OSError:
            continue
    return backend, web


def once(binary, args, shown, idle=False):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-bench-"))
    desktop = Desktop(folder)
    try:
        desktop.env |= {"MUSTER_CONFIG_DIR": str(folder / "c"), "MUSTER_STATE_DIR": str(folder / "s")}
        port, native = free_port(), free_port()
        tauri_driver = os.environ.get("TAURI_DRIVER", str(ROOT / ".cache" / "bin" / "tauri-driver"))
        desktop.start(tauri_driver, "--port", str(port), "--native-port", str(native), "--native-driver", "/usr/bin/WebKitWebDriver")
        wait_for_port(f"http://127.0.0.1:{port}/status")
        began = time.monotonic()
        driver = Driver(f"http://127.0.0.1:{port}", str(binary), args)
        driver.wait_for(shown, within=60)
        took = time.monotonic() - began
        used = None
        if idle:
            time.sleep(IDLE_SECONDS)
            used = memory(binary)
        driver.quit()
        return took, used
    finally:
        desktop.close()


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    sign_in, fleet, used = [], [], []
    for _ in range(runs):
        # In turn, so that a machine whose speed drifts slows both.
        sign_in.append(once(binary, [], button("Explore the demo fleet"))[0])
        took, memory_used = once(binary, ["--demo"], row("lattice"), idle=True)
        fleet.append(took)
        used.append(memory_used)
    ratio = statistics.median(f / s for f, s in zip(fleet, sign_in))
    print("| what | figure |")
    print("|---|---|")
    print(f"| binary | {binary.stat().st_size / 2**20:.1f} MiB |")
    print(f"| start until the sign-in screen can be used (median of {runs}) | {statistics.median(sign_in):.2f} s |")
    print(f"| start until the demo fleet is shown: demo org started, signed in, index read | {statistics.median(fleet):.2f} s ({ratio:.2f} times the sign-in screen) |")
    print(f"| backend, idle on the demo fleet, demo org included (PSS) | {statistics.median(u[0] for u in used):.0f} MiB |")
    print(f"| web view, idle on the demo fleet (PSS) | {statistics.median(u[1] for u in used):.0f} MiB |")


if __name__ == "__main__":
    main()
