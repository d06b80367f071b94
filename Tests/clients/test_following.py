"""Subscriptions with Python's WebSocket libraries, wsdump, Node's ws, curl and parley tail."""

import json
import os
import subprocess
import threading
import unittest
from pathlib import Path

import websocket
from frames import described
from servers import PARLEY, VENV_PYTHON
from serving import ServingTest, call, parley
from websockets.sync.client import connect


class FollowingTest(ServingTest):
    """A site with ada as owner and a public forum. The server is started with `options`."""

    options = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(cls.start(*parley(cls.folder, *cls.options)))
        cls.data = Path(cls.folder) / "data"
        link = subprocess.run([PARLEY, "setup", "--data", cls.data], capture_output=True, text=True, check=True).stdout
        cls.token = cls.ask("POST", f"/links/{link.strip().split('/')[-1]}",
                            {"name": "ada", "password": "wool and needles"}, token=None)["token"]
        cls.forum = cls.ask("POST", "/forums", {"title": "Knitting", "visibility": "public"})
        cls.room = cls.forum["room_id"]

    @classmethod
    def ask(cls, method, path, body=None, token=True):
        return call(cls.server, method, path, body, cls.token if token else None)

    def say(self, text):
        return self.ask("POST", f"/conversations/{self.room}/messages", {"text": text})["id"]

    @property
    def cursor(self):
        return self.ask("GET", f"/sync?topics=conversation:{self.room}")["cursor"]

    def address(self, query=""):
        return f"{self.server.websocket_url}/api/v1/realtime?topics=conversation:{self.room}{query}"


class Sockets(FollowingTest):
    def test_pythons_websockets(self):
        cursor = self.cursor
        away = [self.say(f"while away {number}") for number in range(3)]
        with connect(self.address(f"&after={cursor}"), subprotocols=["parley.v1"],
                     additional_headers={"Authorization": f"Bearer {self.token}"}) as socket:
            self.assertEqual(socket.subprotocol, "parley.v1")
            events = [described(socket.recv(timeout=60)) for _ in range(4)]
            self.assertEqual([event.get("data", {}).get("id") for event in events], [*away, None])
            self.assertEqual(events[3]["event"], "complete")
            socket.send(json.dumps({"id": "a", "do": "send", "conversation_id": self.room, "text": "hello"}))
            received = [described(socket.recv(timeout=60)) for _ in range(2)]
            answer = next(one for one in received if one.get("re") == "a")
            event = next(one for one in received if "event" in one)
            self.assertEqual(answer["message"]["id"], event["data"]["id"])
            socket.send("nonsense")
            refused = described(socket.recv(timeout=60))
            self.assertEqual((refused["re"], refused["problem"]["code"]), (None, "invalid"))

    def test_pythons_websocket_client(self):
        socket = websocket.create_connection(self.address(), header=[f"Authorization: Bearer {self.token}"], timeout=60)
        self.addCleanup(socket.close)
        self.assertEqual(described(socket.recv())["event"], "complete")
        message = self.say("hello")
        self.assertEqual(described(socket.recv())["data"]["id"], message)

    def test_a_token_that_reads_among_the_subprotocols(self):
        reader = self.ask("POST", "/me/tokens", {"name": "reader", "scope": "read"})["token"]
        with connect(self.address(), subprotocols=["parley.v1", f"parley.token.{reader}"]) as socket:
            self.assertEqual(socket.subprotocol, "parley.v1")
            self.assertEqual(described(socket.recv(timeout=60))["event"], "complete")
            socket.send(json.dumps({"id": 1, "do": "send", "conversation_id": self.room, "text": "no"}))
            self.assertEqual(described(socket.recv(timeout=60))["problem"]["code"], "forbidden")

    def test_nodes_ws(self):
        script = """
          const WebSocket = require('ws');
          const [, url, token, room] = process.argv;
          const socket = new WebSocket(url, ['parley.v1'], { headers: { Authorization: `Bearer ${token}` } });
          socket.on('message', (data) => {
            const event = JSON.parse(data);
            if (event.event === 'complete') {
              socket.send(JSON.stringify({ id: 1, do: 'send', conversation_id: room, text: 'from Node' }));
            }
            if (event.event === 'message.created' && event.data.text === 'from Node') {
              console.log('ok');
              process.exit(0);
            }
          });
        """
        done = subprocess.run(["node", "-e", script, self.address(), self.token, self.room],
                              env={**os.environ, "NODE_PATH": "/usr/share/nodejs"}, capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, b"ok"), done.stderr.decode())


class Lines(FollowingTest):
    def lines(self, command, wanted):
        """The output of a command up to a line with `wanted`."""
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        watch = threading.Timer(60, process.kill)
        watch.start()
        lines = []
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if "complete" in line:
                self.say("now")
            if wanted in line:
                break
        watch.cancel()
        process.kill()
        process.stdout.close()
        process.stderr.close()
        return lines

    def test_curl(self):
        cursor = self.cursor
        before = self.say("before")
        lines = self.lines(["curl", "-sN", "-H", f"Last-Event-ID: {cursor}",
                            f"{self.server.url}/api/v1/events?topics=conversation:{self.room}"], '"now"')
        events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
        self.assertEqual([event["event"] for event in events], ["message.created", "complete", "message.created"])
        self.assertEqual(events[0]["data"]["id"], before)
        self.assertEqual([line for line in lines if line.startswith("id: ")][0].split(".")[2], events[0]["id"])

    def test_wsdump(self):
        lines = self.lines([VENV_PYTHON.parent / "wsdump", "--raw", "--headers", f"Authorization: Bearer {self.token}",
                            "--eof-wait", "60", self.address()], '"now"')
        self.assertEqual([json.loads(line)["event"] for line in lines], ["complete", "message.created"])

    def test_parley_tail(self):
        command = [PARLEY, "tail", f"conversation:{self.room}", "--data", self.data]
        lines = self.lines(command, "now")
        self.assertIn("complete", lines[0])
        self.assertRegex(lines[-1], rf"conversation:{self.room} message.created by ada “now”")
        lines = self.lines([*command, "--json", "--after", self.cursor], '"now"')
        self.assertEqual([json.loads(line)["event"] for line in lines], ["complete", "message.created"])

    def test_parley_tail_reports_errors(self):
        for arguments, status, sentence in [
            (["conversation:999999", "--data", self.data], 1, "can't subscribe"),
            (["everything", "--data", self.data], 2, "Topics are"),
            (["--data", self.data], 2, "needs a list of TOPICS"),
            (["me", "--data", Path(self.folder) / "nowhere"], 2, "does not exist"),
        ]:
            done = subprocess.run([PARLEY, "tail", *arguments], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
            self.assertIn(sentence, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
