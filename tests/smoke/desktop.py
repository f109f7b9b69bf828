"""A desktop of the test's own: an X server, a window manager, a true drag.

Everything is started here, in a folder of the test's own, and ended here.
"""

import os
import pathlib
import subprocess
import time

HERE = pathlib.Path(__file__).parent


class Desktop:
    """Xvfb and openbox, and the environment for programs that are to run on them."""

    def __init__(self, folder, size="1280x840"):
        self.folder = folder
        self.children = []
        read, write = os.pipe()
        self.children.append(
            subprocess.Popen(
                ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{size}x24", "-nolisten", "tcp"],
                pass_fds=[write],
                stderr=subprocess.DEVNULL,
            )
        )
        os.close(write)
        with os.fdopen(read) as display:
            number = display.readline().strip()
        if not number:
            raise RuntimeError("Xvfb did not start")
        home = folder / "home"
        home.mkdir(parents=True, exist_ok=True)
        self.env = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "DISPLAY": f":{number}",
            "GDK_BACKEND": "x11",
            "WEBKIT_DISABLE_DMABUF_RENDERER": "1",
            # Nothing of the person's own is read or written.
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_RUNTIME_DIR": str(home / "run"),
            "NO_AT_BRIDGE": "1",
        }
        (home / "run").mkdir(mode=0o700, exist_ok=True)
        self.children.append(self.start("openbox", stderr=subprocess.DEVNULL))

    def start(self, *command, **options):
        child = subprocess.Popen(command, env=self.env, **options)
        self.children.append(child)
        return child

    def xdotool(self, *args):
        return subprocess.run(["xdotool", *args], env=self.env, check=True, capture_output=True, text=True).stdout

    def window(self, name, within=20):
        """The id of the window with this title, as soon as it is on the screen."""
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            found = subprocess.run(
                ["xdotool", "search", "--onlyvisible", "--name", name], env=self.env, capture_output=True, text=True
            ).stdout.split()
            if found:
                return found[0]
            time.sleep(0.1)
        raise AssertionError(f"no window named {name} within {within} s")

    def drag_file(self, path, target_window, shot=None):
        """Drags a file from a window of its own into the middle of the target, as a person would.

        `shot` is called half-way, while the file hovers over the target."""
        # The bindings to GTK belong to the system's own Python, whichever one runs this test.
        source = self.start("/usr/bin/python3", str(HERE / "drag_source.py"), str(path), stdout=subprocess.PIPE, text=True)
        assert source.stdout.readline().strip() == "ready", "the drag source did not show its window"
        source_window = self.window("muster-drag-source")
        self.xdotool("windowraise", source_window)
        sx, sy, sw, sh = self.geometry(source_window)
        tx, ty, tw, th = self.geometry(target_window)
        start = (sx + sw // 2, sy + sh // 2)
        end = (tx + tw // 2, ty + th // 2)
        self.xdotool("mousemove", *map(str, start), "mousedown", "1")
        steps = 12
        for step in range(1, steps + 1):
            x = start[0] + (end[0] - start[0]) * step // steps
            y = start[1] + (end[1] - start[1]) * step // steps
            # The toolkit turns motion into a drag only when it sees it arrive in pieces.
            self.xdotool("mousemove", "--sync", str(x), str(y), "sleep", "0.05")
        self.xdotool("mousemove_relative", "--", "3", "3", "sleep", "0.2")
        if shot:
            shot()
        self.xdotool("mouseup", "1")
        assert source.stdout.readline().strip() == "ended", "the drag did not come to its end"
        source.terminate()
        # A pointer left hovering would keep the tip of whatever it is over on every picture.
        self.xdotool("mousemove", str(tx + 2), str(ty + th - 2))

    def geometry(self, window):
        values = dict(
            line.split("=", 1) for line in self.xdotool("getwindowgeometry", "--shell", window).splitlines() if "=" in line
        )
        return tuple(int(values[key]) for key in ("X", "Y", "WIDTH", "HEIGHT"))

    def picture(self, path):
        """The whole screen, with what WebDriver cannot see (the drag itself)."""
        subprocess.run(["import", "-window", "root", str(path)], env=self.env, check=True)

    def close(self):
        for child in reversed(self.children):
            if child.poll() is None:
                child.terminate()
        for child in reversed(self.children):
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                child.kill()
