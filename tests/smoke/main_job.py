"""The main job in a real window: sign in to the demo org, register a cluster by a true drag and drop, see its GPUs,
open a namespace, deregister it. Screenshots are kept in tests/artifacts/smoke.

Usage: main_job.py BINARY
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.request

from desktop import Desktop
from webdriver import Driver, WebDriverError

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARTIFACTS = ROOT / "tests" / "artifacts" / "smoke"
CANARY = "canary-5f0e9b7c1d"


def button(label):
    return f"//button[contains(normalize-space(.), '{label}') and not(@disabled)]"


def heading(text):
    return f"//h1[contains(normalize-space(.), '{text}')]"


def link(text):
    return f"//a[contains(normalize-space(.), '{text}')]"


def row(text):
    return f"//*[@role='grid']//*[@role='row'][contains(normalize-space(.), '{text}')]"


def labelled(label):
    return f"//button[contains(@aria-label, '{label}')]"


def entry(text):
    return f"//*[@role='menuitem'][contains(normalize-space(.), '{text}')]"


def free_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def passed(sentence):
    print(f"ok - {sentence}", flush=True)


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    if ARTIFACTS.exists():
        shutil.rmtree(ARTIFACTS)
    ARTIFACTS.mkdir(parents=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-smoke-"))
    desktop = Desktop(folder)
    done = 0
    try:
        done = drive(binary, folder, desktop)
    finally:
        desktop.close()
    print(f"\n{done} passed, 0 failed")
    shutil.rmtree(folder, ignore_errors=True)


def drive(binary, folder, desktop):
    demo_files = folder / "demo-files"
    demo_files.mkdir()
    log = (ARTIFACTS / "app.log").open("w")
    desktop.env |= {
        "MUSTER_CONFIG_DIR": str(folder / "config"),
        "MUSTER_STATE_DIR": str(folder / "state"),
        "MUSTER_DEMO_FILES": str(demo_files),
        "MUSTER_DEMO_CANARY": CANARY,
        "MUSTER_LOG": "trace",
    }
    port, native = free_port(), free_port()
    tauri_driver = os.environ.get("TAURI_DRIVER", str(ROOT / ".cache" / "bin" / "tauri-driver"))
    desktop.start(
        tauri_driver, "--port", str(port), "--native-port", str(native), "--native-driver", "/usr/bin/WebKitWebDriver",
        stdout=log, stderr=log,
    )
    wait_for_port(f"http://127.0.0.1:{port}/status")
    driver = Driver(f"http://127.0.0.1:{port}", str(binary))
    count = 0
    try:
        for sentence, step in STEPS:
            try:
                step(driver, desktop, folder)
            except Exception:
                picture(driver, desktop, "failed")
                print(f"not ok - {sentence}", flush=True)
                raise
            passed(sentence)
            count += 1
    finally:
        try:
            driver.quit()
        except (WebDriverError, OSError):
            pass
        log.close()
    return count + no_canary(folder)


def wait_for_port(url):
    import time

    deadline = time.monotonic() + 20
    while True:
        try:
            urllib.request.urlopen(url, timeout=2).read()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def picture(driver, desktop, name):
    # What the page holds is on the screen two frames later.
    driver.run_async("const done = arguments[arguments.length - 1]; requestAnimationFrame(() => requestAnimationFrame(done))")
    desktop.picture(ARTIFACTS / f"{name}.png")


def opens(driver, desktop, folder):
    driver.wait_for(button("Explore the demo fleet"))
    picture(driver, desktop, "1-sign-in")


def an_ungranted_command_is_refused(driver, desktop, folder):
    answer = driver.run_async(
        """const done = arguments[arguments.length - 1];
        window.__TAURI_INTERNALS__.invoke('plugin:app|version', {}).then(() => done('allowed'), (e) => done(String(e)))"""
    )
    assert "not allowed" in answer, answer
    answer = driver.run_async(
        """const done = arguments[arguments.length - 1];
        window.__TAURI_INTERNALS__.invoke('app_info', {request: null}).then((v) => done(v), (e) => done(String(e)))"""
    )
    assert isinstance(answer, dict) and answer["os"] == "linux", answer
    assert driver.run("return typeof window.__TAURI__") == "undefined"


def signs_in(driver, desktop, folder):
    driver.click(button("Explore the demo fleet"))
    driver.wait_for("//*[contains(normalize-space(.), 'orchard')]", within=30)
    driver.wait_for(row("lattice"), within=30)
    driver.wait_for(row("H100"), within=30)
    picture(driver, desktop, "2-fleet")


def drops(driver, desktop, folder):
    dropped = folder / "demo-files" / "newcomer.yaml"
    assert dropped.exists(), f"the demo left no kubeconfig at {dropped}"
    window = desktop.window("Muster")
    desktop.drag_file(dropped, window, shot=lambda: desktop.picture(ARTIFACTS / "3-dragging.png"))
    driver.wait_for("//*[contains(normalize-space(.), 'newcomer.yaml')]")
    picture(driver, desktop, "4-staged")


def checks_and_registers(driver, desktop, folder):
    # The whole cluster is chosen, never assumed.
    driver.click("//label[contains(normalize-space(.), 'The whole cluster')]")
    driver.click(button("Check the cluster"))
    driver.wait_for("//*[contains(normalize-space(.), 'L40S')]", within=30)
    picture(driver, desktop, "5-preview")
    driver.click("//main" + button("Register"))
    driver.wait_for("//h3[contains(., 'newcomer is registered')]", within=30)
    picture(driver, desktop, "6-registered")


def sees_its_gpus(driver, desktop, folder):
    driver.click(link("Open newcomer"))
    driver.wait(lambda: driver.find_all(heading("newcomer")), 20, "the cluster's own screen")
    driver.wait_for(row("L40S"), within=30)
    picture(driver, desktop, "7-cluster")


def opens_a_namespace(driver, desktop, folder):
    driver.click(link("Pods"))
    driver.click("//*[@role='grid' and @aria-label='Namespaces']//*[@role='row'][contains(., 'inference')]")
    driver.wait_for(row("Running"), within=30)
    picture(driver, desktop, "8-namespace")


def deregisters(driver, desktop, folder):
    driver.click(labelled("More for newcomer"))
    driver.click(entry("Deregister"))
    driver.type("//*[@role='dialog' or @role='alertdialog']//input", "newcomer")
    picture(driver, desktop, "9-deregister")
    driver.click("//*[@role='dialog' or @role='alertdialog']" + button("Deregister"))
    driver.wait_for(row("lattice"), within=30)
    driver.wait_gone(row("newcomer"), within=30)
    picture(driver, desktop, "10-deregistered")


def ipc_is_the_fast_way(driver, desktop, folder):
    log = (ARTIFACTS / "app.log").read_text(errors="replace")
    assert "IPC custom protocol failed" not in log, "the content security policy blocks the IPC protocol"


def signs_out(driver, desktop, folder):
    driver.click(labelled("session menu"))
    driver.click(entry("Leave the demo"))
    driver.wait_for(button("Explore the demo fleet"))
    picture(driver, desktop, "11-signed-out")


def no_canary(folder):
    """What was planted in every kubeconfig, token and KMS value is in no file that the run left, and in no log."""
    planted = (folder / "demo-files" / "newcomer.yaml").read_text()
    assert CANARY in planted, "the canary was not planted, so its absence elsewhere would prove nothing"
    for path in [*folder.rglob("*"), *ARTIFACTS.rglob("*.log")]:
        if path.is_file() and path.parent.name != "demo-files":
            assert CANARY.encode() not in path.read_bytes(), f"the canary is in {path}"
    passed("no file and no log line holds what was planted in the credentials")
    return 1


STEPS = [
    ("the app opens on its sign-in screen", opens),
    ("a command without a permission entry is refused, one with it is answered", an_ungranted_command_is_refused),
    ("a person signs in to the demo org", signs_in),
    ("a kubeconfig dropped on the window by a true drag is staged", drops),
    ("its cluster is checked, previewed and registered", checks_and_registers),
    ("the new cluster shows its GPUs", sees_its_gpus),
    ("a namespace shows its pods", opens_a_namespace),
    ("the cluster is deregistered with its name typed", deregisters),
    ("commands go by the IPC protocol, not its fallback", ipc_is_the_fast_way),
    ("the person signs out", signs_out),
]

if __name__ == "__main__":
    try:
        main()
    except (AssertionError, WebDriverError, subprocess.SubprocessError, RuntimeError) as failure:
        print(f"\nFAILED: {failure}", file=sys.stderr)
        sys.exit(1)
