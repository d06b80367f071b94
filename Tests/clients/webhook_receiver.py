"""A server that receives webhooks: `webhook_receiver.py PORT FILE SECRET...`. It writes each request as a line of FILE before
it answers, and refuses a request that none of the secrets has signed."""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

PORT, FILE, SECRETS = int(sys.argv[1]), sys.argv[2], [Webhook(secret) for secret in sys.argv[3:]]


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer is one segment: the client would wait for the rest of two.
    wbufsize = -1

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        verified = []
        for number, secret in enumerate(SECRETS):
            try:
                event = secret.verify(body, dict(self.headers))
                verified.append(number)
            except WebhookVerificationError:
                pass
        if verified:
            line = json.dumps({"id": self.headers["webhook-id"], "verified": verified, **event}) + "\n"
            os.write(LOG, line.encode())
        self.send_response(204 if verified else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.wfile.flush()

    def log_message(self, *_):
        pass


LOG = os.open(FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
server = ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
print("ready", flush=True)
server.serve_forever()
