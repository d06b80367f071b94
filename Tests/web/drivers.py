"""Debian's Firefox and WebKit through their own protocols: Marionette over a socket, WebDriver over HTTP.
The commands are the same (https://www.w3.org/TR/webdriver2/); only the transport differs."""

import contextlib
import json
import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from servers import accepts, free_port

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
TIMEOUT = 60


class Refused(Exception):
    pass


class Browser:
    """Browser operations that the tests need."""

    def open(self, address):
        self.ask("Navigate", "POST", "/url", url=address)

    def run(self, script, *arguments):
        return self.ask("ExecuteScript", "POST", "/execute/sync", script=script, args=list(arguments))

    def call(self, script, *arguments):
        """Runs a script whose last argument is a function for its result."""
        return self.ask("ExecuteAsyncScript", "POST", "/execute/async", script=script, args=list(arguments))

    def find(self, path):
        """Waits for the first element that matches an XPath."""
        return self.until(lambda: self._found(path), path)

    def _found(self, path):
        try:
            found = self.ask("FindElement", "POST", "/element", using="xpath", value=path)
        except Refused:
            return None
        return found.get("value", found)[ELEMENT]

    def click(self, path):
        self.upon(path, "ElementClick", "click")

    def type(self, path, text):
        self.upon(path, "ElementSendKeys", "value", text=text)

    def upon(self, path, name, action, **given):
        """Runs an element command; finds the element again if the page has replaced it meanwhile."""

        def do():
            if element := self._found(path):
                self.ask(name, "POST", f"/element/{element}/{action}", id=element, **given)
            return element

        self.until(do, path)

    def until(self, holds, description):
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            with contextlib.suppress(Refused):
                if found := holds():
                    return found
            time.sleep(0.02)
        raise AssertionError(f"timed out waiting for {description}; page: {self.run('return document.body.innerText')[:500]}")


class Firefox(Browser):
    def __init__(self, stack):
        port = free_port()
        profile = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="parley-firefox-", ignore_cleanup_errors=True)))
        (profile / "user.js").write_text(
            f'user_pref("marionette.port", {port});\nuser_pref("browser.shell.checkDefaultBrowser", false);\n'
            'user_pref("datareporting.policy.dataSubmissionEnabled", false);\nuser_pref("app.update.enabled", false);\n')
        process = subprocess.Popen(
            ["firefox-esr", "--headless", "--marionette", "--no-remote", "--profile", profile],
            env={**os.environ, "HOME": str(profile), "MOZ_CRASHREPORTER_DISABLE": "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.callback(end, process)
        wait_for(port, process)
        self.socket = stack.enter_context(socket.create_connection(("127.0.0.1", port), 3 * TIMEOUT))
        self.stream = stack.enter_context(self.socket.makefile("rb"))
        self.count = 0
        self._read()
        self.ask("NewSession", "", "", capabilities={"alwaysMatch": {"acceptInsecureCerts": True}})

    def ask(self, name, _, __, **given):
        self.count += 1
        said = json.dumps([0, self.count, f"WebDriver:{name}", given]).encode()
        self.socket.sendall(b"%d:%s" % (len(said), said))
        _, _, fault, found = self._read()
        if fault:
            raise Refused(fault["message"])
        return found.get("value") if isinstance(found, dict) and set(found) == {"value"} else found

    def _read(self):
        length = b""
        while not length.endswith(b":"):
            piece = self.stream.read(1)
            if not piece:
                raise ConnectionError("Firefox closed the connection")
            length += piece
        return json.loads(self.stream.read(int(length[:-1])))


# Whether the databases of the page's site open and can be read within five seconds.
DATABASES_ANSWER = """
const done = arguments[arguments.length - 1];
setTimeout(() => done(false), 5000);
const read = (name) => new Promise((resolve) => {
  const opening = indexedDB.open(name);
  opening.onsuccess = () => {
    const [store] = opening.result.objectStoreNames;
    if (!store) return resolve();
    opening.result.transaction(store).objectStore(store).count().onsuccess = () => resolve(opening.result.close());
  };
});
indexedDB.databases().then((all) => Promise.all(all.map(({ name }) => read(name)))).then(() => done(true));
"""


class WebKit(Browser):
    def __init__(self, stack):
        number = free_port()
        display = f":{number}"
        screen = subprocess.Popen(
            ["Xvfb", display, "-screen", "0", "1440x900x24", "-nolisten", "tcp"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.callback(end, screen)
        wait_until(Path(f"/tmp/.X11-unix/X{number}").exists, screen)
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="parley-webkit-", ignore_cleanup_errors=True))
        port = free_port()
        process = subprocess.Popen(
            ["WebKitWebDriver", f"--port={port}", "--host=127.0.0.1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "DISPLAY": display, "HOME": home, "XDG_RUNTIME_DIR": home, "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
                 "WEBKIT_DISABLE_COMPOSITING_MODE": "1"})
        stack.callback(end, process)
        wait_for(port, process)
        self.at = f"http://127.0.0.1:{port}/session"
        self.at += "/" + self.ask("", "POST", "", capabilities={"alwaysMatch": {}})["sessionId"]
        stack.callback(self.ask, "", "DELETE", "")

    def has_stuck_database(self):
        """WebKit answers no request of IndexedDB any more, also in the next pages of the site, if a page was left during a transaction."""
        return not self.call(DATABASES_ANSWER)

    def ask(self, _, method, path, **given):
        data = json.dumps(given).encode() if method == "POST" else None
        try:
            with urlopen(Request(self.at + path, data, {"Content-Type": "application/json"}, method=method), timeout=3 * TIMEOUT) as answer:
                return json.loads(answer.read())["value"]
        except HTTPError as error:
            raise Refused(error.read().decode(errors="replace")) from None


def wait_for(port, process):
    wait_until(lambda: accepts(port), process)


def wait_until(is_ready, process):
    deadline = time.monotonic() + TIMEOUT
    while not is_ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise AssertionError(f"{process.args[0]} does not listen (status {process.returncode})")
        time.sleep(0.05)


def end(process):
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
