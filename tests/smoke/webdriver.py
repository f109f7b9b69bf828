"""A small W3C WebDriver client over the standard library: just what the window test needs.

Waits poll for a condition within a deadline; nothing sleeps for a fixed time and hopes.
"""

import base64
import json
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Driver:
    """One session of one window."""

    def __init__(self, url, application, args=()):
        self.url = url
        options = {"application": application, "args": list(args)}
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {"tauri:options": options}}})
        self.session = f"/session/{answer['sessionId']}"

    def _call(self, method, path, body=None, timeout=60):
        # tauri-driver keeps connections to the native driver, which closes idle ones without a word; a request that
        # meets such a connection was not carried out and is sent again.
        for attempt in range(3):
            try:
                return self._send(method, path, body, timeout)
            except ConnectionError:
                if attempt == 2:
                    raise

    def _send(self, method, path, body, timeout):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise WebDriverError(value.get("error", ""), value.get("message", "")) from None

    def quit(self):
        self._call("DELETE", self.session)

    def run(self, script, *args):
        """Runs a function body in the page and returns its value."""
        return self._call("POST", self.session + "/execute/sync", {"script": script, "args": list(args)})

    def run_async(self, script, *args):
        """Runs a function body whose last argument is the callback."""
        return self._call("POST", self.session + "/execute/async", {"script": script, "args": list(args)})

    def find_all(self, xpath):
        found = self._call("POST", self.session + "/elements", {"using": "xpath", "value": xpath})
        return [element[ELEMENT] for element in found]

    def displayed(self, element):
        return self._call("GET", f"{self.session}/element/{element}/displayed")

    def wait_for(self, xpath, within=20, what=None):
        """The first displayed element that matches, as soon as there is one."""

        def shown():
            for element in self.find_all(xpath):
                try:
                    if self.displayed(element):
                        return element
                except WebDriverError as error:
                    if error.kind != "stale element reference":
                        raise
            return None

        return self.wait(shown, within, what or f"something matching {xpath}")

    def wait_gone(self, xpath, within=20):
        self.wait(lambda: not self.find_all(xpath), within, f"nothing to match {xpath}")

    def wait(self, condition, within, what):
        deadline = time.monotonic() + within
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > deadline:
                raise AssertionError(f"waited {within} s for {what}; the page says:\n{self.text()}")
            time.sleep(0.1)

    def text(self):
        return self.run("return document.body.innerText")

    def click(self, xpath, within=20):
        element = self.wait_for(xpath, within)
        self._call("POST", f"{self.session}/element/{element}/click", {})

    def type(self, xpath, text):
        element = self.wait_for(xpath)
        self._call("POST", f"{self.session}/element/{element}/clear", {})
        self._call("POST", f"{self.session}/element/{element}/value", {"text": text})

    def screenshot(self, path):
        png = self._call("GET", self.session + "/screenshot")
        path.write_bytes(base64.b64decode(png))


class WebDriverError(Exception):
    """What the driver says went wrong."""

    def __init__(self, kind, message):
        super().__init__(f"{kind}: {message}")
        self.kind = kind
