"""A headless Chromium, driven over a pipe with its DevTools protocol: pages, real clicks, keys and touches.

Python's own library alone. Protocol: https://chromedevtools.github.io/devtools-protocol/
"""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def program():
    """The path of a Chromium; None: there is none."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Browser:
    def __init__(self, path):
        self.profile = tempfile.mkdtemp()
        read_commands, self.commands = os.pipe()
        self.answers, write_answers = os.pipe()

        def at_3_and_4():
            # Through numbers that neither end has, so that no copy closes another.
            os.dup2(read_commands, 13)
            os.dup2(write_answers, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self.process = subprocess.Popen(
            [path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=at_3_and_4, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_commands)
        os.close(write_answers)
        self.next_id, self.rest, self.events = 0, b"", []

    def close(self):
        try:
            self.send("Browser.close")
            self.process.wait(20)
        except (OSError, EOFError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.rest:
            piece = os.read(self.answers, 1 << 20)
            if not piece:
                raise EOFError("Chromium has ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, session=None, **params):
        """The answer's result. Events that come before it are kept."""
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        wanted = self.next_id
        while True:
            answer = self.receive()
            if answer.get("id") == wanted:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def page(self):
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        return Page(self, self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])


class Page:
    def __init__(self, browser, session):
        self.browser, self.session = browser, session
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method, **params):
        return self.browser.send(method, self.session, **params)

    def events(self, method):
        self.run("0")  # what was sent before this answer has come in
        return [e["params"] for e in self.browser.events if e.get("sessionId") == self.session and e["method"] == method]

    def size(self, width, height, scale=1, phone=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=phone)
        self.send("Emulation.setTouchEmulationEnabled", enabled=phone)

    def dark(self, dark):
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.painted()

    def open(self, path):
        """Loads a file; returns the seconds until its script has run and its first picture was painted."""
        begin = time.monotonic()
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        while not any(e["method"] == "Page.loadEventFired" and e.get("sessionId") == self.session for e in self.browser.events):
            self.browser.events.append(self.browser.receive())
        self.run("document.body.dataset.drawn ? 0 : new Promise(done => document.body.addEventListener('drawn', done, {once: true}))")
        self.painted()
        return time.monotonic() - begin

    def painted(self):
        """Waits until what was done before has been seen: touches are answered before the page has them."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, expression):
        """The value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def middle_of(self, expression):
        """The middle of an element, or of a box {x, y, width, height}, in px of the window."""
        box = self.run(f"(() => {{ const e = {expression}; const r = e.getBoundingClientRect ? e.getBoundingClientRect() : e;"
                       " return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        return box

    def click(self, expression):
        x, y = self.middle_of(expression)
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def hover(self, expression):
        x, y = self.middle_of(expression)
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def drag(self, begin, end):
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=begin[0], y=begin[1])
        self.send("Input.dispatchMouseEvent", type="mousePressed", x=begin[0], y=begin[1], button="left", clickCount=1)
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=end[0], y=end[1], button="left", buttons=1)
        self.send("Input.dispatchMouseEvent", type="mouseReleased", x=end[0], y=end[1], button="left", clickCount=1)

    def key(self, key, shift=False):
        code = {" ": "Space"}.get(key, "Digit" + key if key.isdigit() else key)
        number = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, " ": 32, "PageUp": 33, "PageDown": 34,
                  "Escape": 27, "Tab": 9, "Enter": 13}.get(key) or ord(key)
        common = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": 8 if shift else 0}
        text = {" ": " ", "Enter": "\r"}.get(key, key if len(key) == 1 else None)
        self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **common, **({"text": text} if text else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def swipe(self, begin, end):
        self.painted()
        self.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": begin[0], "y": begin[1]}])
        for share in (0.25, 0.5, 0.75, 1):
            x, y = (b + (e - b) * share for b, e in zip(begin, end))
            self.send("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": x, "y": y}])
        self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.painted()

    def tap(self, x, y):
        self.painted()
        self.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.painted()

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))
