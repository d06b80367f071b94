"""A push service and its device: `push_service.py PORT FILE`. It verifies the signature of each request with `py_vapid`,
decrypts its body with `http_ece`, and writes what it received as a line of FILE before it answers 201.

The first line is the subscription of the device. The path decides about the answer: `/gone` is 410 and `/missing` 404, as by a
service whose user has removed the permission; `/large` is 413 above 2,000 bytes. The first request to `/busy` is 429, to `/down` 503,
to `/cut` a lost connection, and to `/silent` has no answer. The first answers to `/held` and `/held-gone` wait for the file
FILE.release; then FILE.answered is there."""

import base64
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02

PORT, FILE = int(sys.argv[1]), sys.argv[2]
KEY, AUTH = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)


# Paths of earlier requests.
SEEN = set()


def coded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def note(**values):
    os.write(LOG, (json.dumps(values) + "\n").encode())


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer is one segment: the client would wait for the rest of two.
    wbufsize = -1

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = 201
        try:
            authorization = self.headers["Authorization"]
            fields = dict(it.split("=", 1) for it in authorization.removeprefix("vapid ").split(", "))
            claims = json.loads(base64.urlsafe_b64decode(fields["t"].split(".")[1] + "=="))
            note(
                path=self.path, text=json.loads(http_ece.decrypt(body, private_key=KEY, auth_secret=AUTH, version="aes128gcm")),
                # The library does not expect the space that RFC 9110 permits.
                is_verified=Vapid02.verify(authorization.replace(", ", ",")), key=fields["k"], claims=claims, ttl=int(self.headers["TTL"]),
                urgency=self.headers["Urgency"], topic=self.headers["Topic"], encoding=self.headers["Content-Encoding"], size=len(body))
        except Exception as error:
            note(path=self.path, error=repr(error))
            status = 400
        is_first = self.path not in SEEN
        SEEN.add(self.path)
        if is_first and self.path == "/silent":
            time.sleep(600)
        if is_first and self.path in ("/cut", "/silent"):
            self.close_connection = True
            return
        is_held = is_first and self.path.startswith("/held")
        while is_held and not os.path.exists(f"{FILE}.release"):
            time.sleep(0.01)
        status = {"/gone": 410, "/held-gone": 410, "/missing": 404}.get(self.path, status)
        if self.path == "/large" and len(body) > 2_000:
            status = 413
        if is_first:
            status = {"/busy": 429, "/down": 503}.get(self.path, status)
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.wfile.flush()
        if is_held:
            open(f"{FILE}.answered", "w").close()

    def log_message(self, *_):
        pass


LOG = os.open(FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
point = KEY.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
note(endpoint=f"http://127.0.0.1:{PORT}/device", keys={"p256dh": coded(point), "auth": coded(AUTH)})
server = ThreadingHTTPServer(("127.0.0.1", PORT), Service)
print("ready", flush=True)
server.serve_forever()
