"""A program that runs slash commands: `command_receiver.py PORT FILE SECRET`. It writes each use as a line of FILE before it
answers, and refuses one that the secret has not signed. The first word of the text says how it answers: `now`, `all`, `later`,
`slow`, `bad`, `hang`."""

import json
import os
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

from standardwebhooks import Webhook, WebhookVerificationError

PORT, FILE, SECRET = int(sys.argv[1]), sys.argv[2], Webhook(sys.argv[3])
# Longer than the server waits.
SLOW = 3.5


def write(line):
    os.write(LOG, (json.dumps(line) + "\n").encode())


def reply(use, text, audience="caller"):
    body = json.dumps({"text": text, "visible_to": audience, "client_id": text}).encode()
    request = Request(use["response_url"], body, {"Content-Type": "application/json"}, method="POST")
    with urlopen(request, timeout=30) as answer:
        write({"replied": answer.status})


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer is one segment: the client would wait for the rest of two.
    wbufsize = -1

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = SECRET.verify(body, dict(self.headers))
        except WebhookVerificationError:
            write({"refused": self.headers["webhook-id"]})
            return self.answer(401)
        use = event["data"]
        write({"id": self.headers["webhook-id"], "type": event["type"], **use})
        way, _, rest = use["text"].partition(" ")
        if way == "now":
            return self.answer(200, {"text": rest})
        if way == "all":
            return self.answer(200, {"text": rest, "visible_to": "all"})
        if way == "bad":
            return self.answer(200, [rest])
        if way == "hang":
            time.sleep(3_600)
        if way == "slow":
            time.sleep(SLOW)
        # The server has closed the connection of a slow answer.
        with suppress(OSError):
            self.answer(204)
        threading.Thread(target=reply, args=(use, rest)).start()

    def answer(self, status, value=None):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_):
        pass


LOG = os.open(FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
server = ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
print("ready", flush=True)
server.serve_forever()
