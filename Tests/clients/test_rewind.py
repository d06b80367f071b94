"""An older copy of the data folder is put back: clients at a lost event are told, and no id names two things."""

import json
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path
from urllib.request import Request, urlopen

from frames import described
from servers import PARLEY
from restarting import PASSWORD, RestartingTest
from serving import ServingTest, call, parley
from test_client_commands import Home
from websockets.sync.client import connect


class Rewind(ServingTest):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))
        self.data = self.folder / "data"
        self.copied = self.folder / "copied"
        self.token = self.server = None
        # Each id that any history has issued, and what it names.
        self.named = {}

    def ask(self, method, path, body=None):
        return call(self.server, method, path, body, self.token)

    def begin(self):
        """A site with ada as its owner and a public room."""
        link = subprocess.run(
            [PARLEY, "setup", "--data", self.data], capture_output=True, text=True, check=True).stdout
        path = f"/links/{link.strip().split('/')[-1]}"
        self.token = self.ask("POST", path, {"name": "ada", "password": "wool and needles"})["token"]
        self.room = self.ask("POST", "/forums", {"title": "Knitting", "visibility": "public"})["room_id"]
        self.topic = f"conversation:{self.room}"

    def say(self, text):
        message = self.ask("POST", f"/conversations/{self.room}/messages", {"text": text})["id"]
        self.assertNotIn(message, self.named, f"{text} has the id of {self.named.get(message)}")
        self.named[message] = text
        return message

    def copy(self):
        shutil.copytree(self.data, self.copied, ignore=shutil.ignore_patterns("control", "lock"))

    def put_back(self):
        shutil.rmtree(self.data)
        shutil.copytree(self.copied, self.data)

    def cursor(self):
        return self.ask("GET", f"/sync?topics={self.topic}")["cursor"]

    def frames(self, after):
        """The frames of a socket up to the end of the catch-up."""
        address = f"{self.server.websocket_url}/api/v1/realtime?topics={self.topic}&after={after}"
        with connect(address, additional_headers={"Authorization": f"Bearer {self.token}"}) as socket:
            frames = []
            while not frames or frames[-1]["event"] not in ("complete", "reset"):
                frames.append(described(socket.recv(timeout=60)))
            return frames

    def check_rewound(self, cursor):
        page = self.ask("GET", f"/sync?topics={self.topic}&after={cursor}")
        self.assertEqual((page["reset"], page["data"]), ("rewound", []))
        frame, = self.frames(cursor)
        self.assertEqual((frame["event"], frame["reason"]), ("reset", "rewound"))
        # The new cursor leads on.
        self.assertIsNone(self.ask("GET", f"/sync?topics={self.topic}&after={page['cursor']}")["reset"])
        request = Request(f"{self.server.url}/api/v1/events?topics={self.topic}&after={cursor}")
        request.add_header("Authorization", f"Bearer {self.token}")
        with urlopen(request, timeout=60) as events:
            self.assertEqual(events.readline().split(b".")[1].decode(), self.ask("GET", "/server")["start"])
            self.assertEqual(json.loads(events.readline().removeprefix(b"data: "))["reason"], "rewound")

    def check_confirmed(self, cursor, texts):
        """The copy has the events up to this cursor, and the later ones follow the new start."""
        first, *events, last = self.frames(cursor)
        self.assertEqual((first["event"], last["event"]), ("restarted", "complete"))
        start = self.ask("GET", "/server")["start"]
        before, after = cursor.split("."), first["cursor"].split(".")
        self.assertEqual(after, [before[0], start, before[2]])
        self.assertEqual([event["data"]["text"] for event in events], texts)
        page = self.ask("GET", f"/sync?topics={self.topic}&after={cursor}")
        self.assertEqual([event["data"]["text"] for event in page["data"]], texts)

    def check_history(self, at_copy, lost, texts):
        """The server runs on the old copy. Before and after it has as many events as the lost history."""
        for cursor in lost:
            self.check_rewound(cursor)
        self.check_confirmed(at_copy, [])
        for text in texts:
            self.say(text)
        for cursor in lost:
            self.check_rewound(cursor)
        self.check_confirmed(at_copy, texts)

    def test_a_cold_copy(self):
        texts = [f"other {number}" for number in range(6)]
        with self.start(*parley(self.folder)) as self.server:
            self.begin()
            at_copy = [self.say("before"), self.cursor()][1]
            self.assertEqual(self.server.stop(), 0)
        self.copy()
        with self.start(*parley(self.folder)) as self.server:
            # A device that applied one event, and one that read a page and had its send acknowledged.
            self.say("lost 1")
            lost = [self.cursor()]
            self.say("lost 2")
            lost.append(self.ask("GET", f"/conversations/{self.room}/messages")["cursor"])
            self.assertEqual(self.server.stop(), 0)
        self.put_back()
        with self.start(*parley(self.folder)) as self.server:
            self.check_history(at_copy, lost, texts)
        # The same copy once more: the second history is lost, too.
            lost.append(self.cursor())
            self.assertEqual(self.server.stop(), 0)
        self.put_back()
        with self.start(*parley(self.folder)) as self.server:
            self.check_history(at_copy, lost, texts)

    def test_a_hot_copy(self):
        with self.start(*parley(self.folder)) as self.server:
            self.begin()
            at_copy = [self.say("before"), self.cursor()][1]
            # A snapshot of the disk is of one moment.
            self.server.process.send_signal(signal.SIGSTOP)
            self.copy()
            self.server.process.send_signal(signal.SIGCONT)
            # Cursors of the last start that the copy knows.
            self.say("lost 1")
            lost = [self.cursor()]
            self.say("lost 2")
            lost.append(self.cursor())
            tag = self.tag()
            self.assertEqual(self.server.stop(), 0)
        self.put_back()
        with self.start(*parley(self.folder)) as self.server:
            self.check_history(at_copy, lost, [f"other {number}" for number in range(6)])
            self.assertNotEqual(self.tag(), tag)
            self.assertEqual(self.server.stop(), 0)
        done = subprocess.run([PARLEY, "verify", "--data", self.data], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def tag(self):
        """The ETag of the room, whose revision is the same in both histories."""
        request = Request(f"{self.server.url}/api/v1/conversations/{self.room}")
        request.add_header("Authorization", f"Bearer {self.token}")
        with urlopen(request, timeout=60) as answer:
            return answer.headers["ETag"]

    def test_a_kill_loses_nothing(self):
        with self.start(*parley(self.folder)) as self.server:
            self.begin()
            self.say("before")
            cursor = self.cursor()
            self.say("acknowledged")
            last = self.cursor()
            self.server.process.kill()
            self.server.process.wait()
        with self.start(*parley(self.folder)) as self.server:
            self.check_confirmed(cursor, ["acknowledged"])
            self.check_confirmed(last, [])


class Device(Home, RestartingTest):
    """A device with a copy of a room, beside a server that goes back to an older copy of its data."""

    def say(self, *texts):
        for text in texts:
            self.ask("POST", f"/conversations/{self.room}/messages", {"text": text})

    def check_copy(self, warning=""):
        """A plain sync leaves no other message than the server's, but fetches no further page. Then twice whole: the first answer
        may mend what the second one shows."""
        for arguments in ([], ["--whole", "Knitting"], ["--whole", "Knitting"]):
            self.assertIn("Up to date", self.tell("sync", *arguments, warning=warning))
            warning = ""
            self.compare(is_whole=bool(arguments))

    def compare(self, is_whole):
        page = self.ask("GET", f"/conversations/{self.room}/messages?limit=200&order=asc")
        seen = lambda message: (message["id"], message["text"], message["revision"], message["actions"])
        expected = [seen(message) for message in page["data"]]
        self.server.stop()
        lines = self.tell("read", "Knitting", "--limit", "200", "--json", warning="Showing cached data").splitlines()
        held = [json.loads(line) for line in lines]
        self.server = self.serve()
        held = [seen(message) for message in held]
        self.assertEqual([message for message in held if message not in expected], [])
        self.assertEqual([message[1] for message in held[:2]], ["one", "two"])
        if is_whole:
            self.assertEqual(held, expected)

    def check_goes_back(self, is_hot):
        self.tell("login", self.url, "ada", given=PASSWORD + "\n")
        self.say("one", "two")
        self.tell("sync", "--whole", "Knitting")
        data, copied = self.data, Path(self.folder) / "copied"
        if is_hot:
            self.server.process.send_signal(signal.SIGSTOP)
        else:
            self.server.stop()
        shutil.copytree(data, copied, ignore=shutil.ignore_patterns("control", "lock"))
        if is_hot:
            self.server.process.send_signal(signal.SIGCONT)
        else:
            self.server = self.serve()
        # The device reads a page, and its post is acknowledged. Then it follows to the end, or does not.
        for follows, count in ((False, 1), (True, 1), (True, 6)):
            with self.subTest(follows=follows, count=count):
                self.say("lost one")
                first = self.ask("GET", f"/conversations/{self.room}/messages?limit=1&order=asc")["data"][0]["id"]
                self.ask("PUT", f"/messages/{first}/actions/reaction:👍".replace("👍", "%F0%9F%91%8D"))
                self.tell("post", "Knitting", "lost two")
                self.tell("read", "Knitting")
                if follows:
                    self.tell("sync", "--whole", "Knitting")
                self.server.stop()
                shutil.rmtree(data)
                shutil.copytree(copied, data)
                self.server = self.serve()
                self.say(*(f"other {number}" for number in range(count)))
                self.check_copy()

    def test_a_device_equals_a_server_on_a_cold_copy(self):
        self.check_goes_back(is_hot=False)

    def test_a_device_equals_a_server_on_a_hot_copy(self):
        self.check_goes_back(is_hot=True)


if __name__ == "__main__":
    unittest.main()
