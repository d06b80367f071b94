"""A mail server for the tests: `mail_server.py PORT FILE MODE [CERTIFICATE KEY]`, with MODE `plain`, `starttls` or `tls`.

Each message is a line of FILE: the envelope, whether it came over TLS, the user, and the message as Python's `email` reads it. With
TLS it asks for the user `forum@example.org` and the password `right`, or that of MAIL_PASSWORD. Recipients decide: `refused@…`
is 550, `later@…` 450 at the first attempt, `cut@…` loses the connection after the content at the first attempt. While the file FILE.hold
is there, the answer to a content waits; then FILE.answered is made."""

import asyncio
import email
import email.policy
import json
import os
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

PORT, FILE, MODE = int(sys.argv[1]), sys.argv[2], sys.argv[3]
PASSWORD = os.environ.get("MAIL_PASSWORD", "right").encode()
LOG = os.open(FILE, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)


def parts(message):
    return {part.get_content_type(): part.get_content() for part in message.walk() if not part.is_multipart()}


class Handler:
    def __init__(self):
        self.seen = set()

    def is_first(self, address):
        first = address not in self.seen
        self.seen.add(address)
        return first

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("refused@"):
            return "550 5.1.1 there is no such user"
        if address.startswith("later@") and self.is_first(address):
            return "450 4.2.0 greylisted"
        envelope.rcpt_tos.append(address)
        return "250 ok"

    async def handle_DATA(self, server, session, envelope):
        message = email.message_from_bytes(envelope.original_content, policy=email.policy.default)
        line = {
            "from": envelope.mail_from, "to": envelope.rcpt_tos, "tls": server.transport.get_extra_info("ssl_object") is not None,
            "user": getattr(session.auth_data, "login", b"").decode() if session.auth_data else None,
            "hello": session.host_name, "headers": [[name, str(value)] for name, value in message.items()],
            "parts": parts(message), "defects": [str(it) for part in message.walk() for it in part.defects],
        }
        os.write(LOG, (json.dumps(line) + "\n").encode())
        if envelope.rcpt_tos[0].startswith("cut@") and self.is_first(envelope.rcpt_tos[0]):
            server.transport.abort()
        if os.path.exists(f"{FILE}.hold"):
            while os.path.exists(f"{FILE}.hold"):
                await asyncio.sleep(0.01)
            # After the answer.
            asyncio.get_running_loop().call_later(0.05, open(f"{FILE}.answered", "w").close)
        return "250 taken"


def authenticate(server, session, envelope, mechanism, data):
    is_right = (data.login, data.password) == (b"forum@example.org", PASSWORD)
    return AuthResult(success=is_right, handled=is_right, auth_data=data)


def make(handler, context):
    def protocol():
        server = SMTP(
            handler, hostname="mail.test", tls_context=context if MODE == "starttls" else None,
            require_starttls=MODE == "starttls", auth_required=MODE != "plain", auth_require_tls=MODE == "starttls",
            authenticator=authenticate)
        server.loop = asyncio.get_running_loop()
        return server

    return protocol


async def main():
    context = None
    if MODE != "plain":
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(sys.argv[4], sys.argv[5])
    server = await asyncio.get_running_loop().create_server(
        make(Handler(), context), "127.0.0.1", PORT, ssl=context if MODE == "tls" else None)
    async with server:
        await server.serve_forever()


asyncio.run(main())
