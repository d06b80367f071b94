"""The programs of the consumer package sign in to a daemon, post, read and compare their copy with the server's."""

import json
import os
import re
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from apple import MacOS
from restarting import PASSWORD, RestartingTest
from servers import BUILD, TOP


class Consumer(RestartingTest):
    def check(self, program):
        self.ask("POST", f"/conversations/{self.room}/messages", {"text": "Who has needles?"})
        done = subprocess.run(
            [BUILD / "consumer" / "debug" / program, self.url, self.room, Path(self.folder) / "cache.db"],
            input=PASSWORD + "\n", capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        stored = self.ask("GET", f"/conversations/{self.room}/messages?order=asc")["data"]
        texts = ["Who has needles?", "From 33 modules"]
        self.assertEqual([message["text"] for message in stored][-2:], texts)
        self.assertEqual(done.stdout.splitlines(), ["like: 1", *texts, f"complete through {stored[-1]['seq']}"])

    def test_a_program_with_the_default_settings(self):
        self.check("plain")

    def test_a_program_on_the_main_actor_with_strict_visibility_of_members(self):
        self.check("strict")


class Page(RestartingTest):
    """The package of the page "Client libraries"."""

    @staticmethod
    def file(name):
        text = (TOP / "Documentation/pages/libraries.md").read_text()
        return re.search(rf"^```swift file={re.escape(name)}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1]

    def test_its_program_signs_in_resumes_and_posts(self):
        # The consumer package compiles it.
        self.assertEqual((TOP / "Tests/consumer/Sources/hello/main.swift").read_text(), self.file("main.swift"))
        for count in (1, 2):
            done = subprocess.run(
                [BUILD / "consumer" / "debug" / "hello", self.url], capture_output=True, text=True, timeout=60,
                env={**os.environ, "HOME": self.folder, "XDG_DATA_HOME": ""})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout.splitlines(), [f"Message {count} is stored.", *["Hello from Swift."] * count])
        self.assertEqual(len(self.ask("GET", "/sessions")["data"]), 2)

    def test_its_manifest_describes_a_package(self):
        folder = Path(self.folder) / "hello"
        (folder / "Sources/hello").mkdir(parents=True)
        # The page calls the folder of the sources `parley`.
        (folder.parent / "parley").symlink_to(TOP)
        (folder / "Package.swift").write_text(self.file("Package.swift"))
        (folder / "Sources/hello/main.swift").write_text(self.file("main.swift"))
        done = subprocess.run(["swift", "package", "--package-path", folder, "describe"], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^    Name: hello$")


class Version(unittest.TestCase):
    def test_ck_22_a_package_depends_on_a_version(self):
        """The manifest of the kit's README, with a clone that has the tag of a release as the address."""
        version = re.search(r'let version = "([\d.]+)"', (TOP / "Sources/parley/Version.swift").read_text())[1]
        text = (TOP / "Sources/Kit/ParleyKit/README.md").read_text()
        parts = re.search(r"^```swift\n(dependencies: .*?)^```$", text, re.MULTILINE | re.DOTALL)[1]
        with tempfile.TemporaryDirectory() as folder:
            clone, app = Path(folder, "parley"), Path(folder, "app")
            subprocess.run(["git", "clone", "--quiet", TOP, clone], check=True, timeout=60)
            subprocess.run(["git", "-C", clone, "tag", version], check=True, timeout=60)
            address = f'url: "{clone.as_uri()}", from: "{version}"'
            parts, count = re.subn(r'url: "[^"]*", from: "[^"]*"', address, parts)
            self.assertEqual(count, 1)
            (app / "Sources/app").mkdir(parents=True)
            (app / "Sources/app/main.swift").write_text("import ParleyKit\n")
            (app / "Package.swift").write_text(
                f'// swift-tools-version: 6.2\nimport PackageDescription\nlet package = Package(name: "app", {parts})\n')
            # The list of plugins loads the graph of all packages and compiles nothing.
            done = subprocess.run(
                ["swift", "package", "--package-path", app, "--cache-path", Path(folder, "cache"), "plugin", "--list"],
                capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            pins = json.loads((app / "Package.resolved").read_text())["pins"]
            self.assertEqual([pin["state"]["version"] for pin in pins], [version])

    def test_no_target_of_a_product_has_unsafe_flags(self):
        """SwiftPM refuses such a target in a dependency that has a version."""
        done = subprocess.run(
            ["swift", "package", "--package-path", TOP, "--scratch-path", BUILD / "description", "dump-package"],
            capture_output=True, check=True, timeout=300)
        package = json.loads(done.stdout)
        targets = {target["name"]: target for target in package["targets"]}
        self.assertTrue(any(self.is_unsafe(target) for target in targets.values()))
        found, rest = set(), [name for product in package["products"] for name in product["targets"]]
        while rest:
            name = rest.pop()
            if name not in found:
                found.add(name)
                rest += [next(iter(it.values()))[0] for it in targets[name]["dependencies"]]
        self.assertLess({"ParleyKit", "ParleyTransport", "ParleyURLSession", "ParleyModel"}, found)
        self.assertEqual([name for name in sorted(found) if self.is_unsafe(targets[name])], [])

    @staticmethod
    def is_unsafe(target):
        return any("unsafeFlags" in setting["kind"] for setting in target["settings"])


class ApplePlatforms(unittest.TestCase):
    def test_the_kit_compiles_for_the_declared_macos(self):
        MacOS().check_kit()


class Chat:
    """Examples/Chat as ada, on a terminal, with its home in the folder. `with` ends it."""

    def __init__(self, url, home):
        self.terminal, output = os.openpty()
        self.process = subprocess.Popen(
            [BUILD / "consumer" / "debug" / "chat", url, "ada"], stdin=subprocess.PIPE, stdout=output, stderr=output,
            text=True, env={**os.environ, "HOME": str(home)})
        os.close(output)
        self.lines = []
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        try:
            with open(self.terminal, encoding="utf-8") as output:
                for line in output:
                    with self.changed:
                        self.lines.append(line.rstrip("\r\n"))
                        self.changed.notify_all()
        except OSError:
            pass  # The program has closed its terminal.

    def type(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def see(self, *lines):
        """Waits until the lines were printed, in this order, and forgets what was printed before."""
        for line in lines:
            with self.changed:
                if not self.changed.wait_for(lambda: line in self.lines, 60):
                    raise AssertionError(f"'{line}' is not in {self.lines}")
                del self.lines[:self.lines.index(line) + 1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()


class Example(RestartingTest):
    def post(self, text):
        return self.ask("POST", f"/conversations/{self.room}/messages", {"text": text})

    def wait_for_like(self):
        deadline = time.monotonic() + 60
        while not any("like" in it.get("actions", {}) for it in
                      self.ask("GET", f"/conversations/{self.room}/messages")["data"]):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_a_chat_is_played_online_offline_and_after_a_restart(self):
        self.post("Who has needles?")
        with Chat(self.url, self.folder) as chat:
            chat.see("Password:")
            chat.type(PASSWORD)
            chat.see("* Connected")
            chat.type("/forums")
            chat.see("# Knitting")
            chat.type("/open Knitting")
            chat.see("— Knitting", "1 ada: Who has needles?")
            chat.type("I have")
            chat.see("2 ada: I have")
            chat.type("/edit 2 I have some")
            chat.see("2 ada: I have some")
            self.post("Thanks \x1b[2J")
            chat.see("3 ada: Thanks [2J")
            chat.type("/like 3")
            chat.see("3 ada: Thanks [2J ♥")
            self.wait_for_like()
            chat.type("/delete 2")
            chat.see("2 ada: (deleted)")
            chat.type("/edit 2000 no")
            chat.see("There is no message 2000 on the screen.")
            chat.type("/check")
            chat.see("* Complete through message 3")
            self.server.stop()
            chat.type("From the train")
            chat.see("… ada: From the train")
            chat.process.kill()
        with Chat(self.url, self.folder) as chat:
            chat.see("* Connecting")
            chat.type("/open Knitting")
            chat.see("3 ada: Thanks [2J ♥")
            self.server = self.serve()
            chat.see("4 ada: From the train")
            chat.type("/quit")
            self.assertEqual(chat.process.wait(60), 0)
        texts = [message.get("text") for message in self.ask("GET", f"/conversations/{self.room}/messages")["data"]]
        self.assertEqual(texts.count("From the train"), 1)

    def test_a_wrong_password_is_reported(self):
        with Chat(self.url, self.folder) as chat:
            chat.see("Password:")
            chat.type("wrong")
            self.assertEqual(chat.process.wait(60), 1)
            chat.reader.join()
            self.assertRegex(chat.lines[-1], "password")

    def test_its_manifest_describes_a_package(self):
        done = subprocess.run(
            ["swift", "package", "--package-path", TOP / "Examples" / "Chat", "--scratch-path", BUILD / "chat", "describe"],
            capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^    Name: chat$")


if __name__ == "__main__":
    unittest.main()
