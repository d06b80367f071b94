"""Writes a site of this version: a data folder and a backup as archives, and a manifest with migrations, row counts and digests.

The release build serves a new site, whose users use every part of it, so that no table is empty. The manifest proves that the sample
is the one that the release wrote; the tests open it with later versions.
"""

import base64
import hashlib
import io
import json
import os
import re
import sqlite3
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zlib
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener, urlopen

import pyotp
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.utils import websafe_encode
from import_sources import discord_channel, discord_message
from openid_issuer import CLIENT, SECRET, Providers, parameters, signed
from servers import LOOPBACK, PARLEY, TOP, Server, free_port
from serving import call, parley
from test_passkeys import HOST, ORIGIN, Authenticator

PASSWORD = "wool and needles"
MAX_BYTES = 1 << 20
# Rows of these tables are there for moments only: until a mail is queued, and until a file is removed.
MOMENTARY = {"password_reset", "unreferenced_content"}


def tables(database):
    """Names and columns, without generated columns and without virtual tables and their shadows."""
    names = [name for name, in database.execute(
        "select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%' order by name")]
    return {
        name: [column for column, hidden in database.execute("select name, hidden from pragma_table_xinfo(?)", (name,)) if not hidden]
        for name in names}


def rows(database, table, columns):
    """The rows of a table as texts, sorted."""
    names = ", ".join(f'"{column}"' for column in columns)
    return sorted(repr(row) for row in database.execute(f'select {names} from "{table}"'))


def digest(lines):
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def picture(red):
    """A PNG of one colour."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    body = zlib.compress((b"\0" + bytes((red, 99, 150)) * 8) * 8)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


class Program(BaseHTTPRequestHandler):
    """Answers a slash command."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        answer = json.dumps({"text": "Sunny"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Site:
    """A running site and its users."""

    def __init__(self, folder):
        self.folder = folder
        self.data = folder / "data"
        self.tokens = {}

    def __enter__(self):
        self.program = ThreadingHTTPServer(("127.0.0.1", 0), Program)
        threading.Thread(target=self.program.serve_forever, daemon=True).start()
        self.providers = Providers("work")
        self.providers.__enter__()
        secret = self.folder / "secret"
        secret.write_text(SECRET)
        secret.chmod(0o600)
        # The program may send requests to one port of this machine. That of the mail server is closed: mail waits.
        command = parley(
            self.folder, "--public-url", ORIGIN, "--smtp-url", f"smtp://127.0.0.1:{free_port()}", "--mail-from", "parley@example.org",
            "--dialects", "mormessages,pnut", "--oidc", f"work={self.providers['work'].url}", "--oidc-client", f"work={CLIENT}", "--oidc-secret-file", f"work={secret}")
        self.server = Server("sample", LOOPBACK, self.program.server_port, *command[1:])
        return self

    def __exit__(self, *_):
        status = self.server.stop()
        self.program.shutdown()
        self.providers.__exit__()
        if status:
            sys.exit(self.server.output())

    def run(self, *arguments, given=None):
        return subprocess.run([PARLEY, *map(str, arguments), "--data", self.data], input=given, capture_output=True, text=True,
                              check=True, timeout=60).stdout.strip()

    def ask(self, name, method, path, body=None, refusal=None):
        """The answer; None if the server refuses with this code."""
        try:
            return call(self.server, method, path, body, self.tokens.get(name))
        except HTTPError as error:
            problem = json.loads(error.read())
            if problem["code"] == refusal:
                return None
            sys.exit(f"{method} {path}: {problem}")

    def sign_in(self, name):
        return call(self.server, "POST", "/sessions", {"name": name, "password": PASSWORD, "device": "Desk"})

    def upload(self, name, content, file="rose.png", path=None, method="POST", **fields):
        request = Request(f"{self.server.url}/api/v1{path or '/files?name=' + file}", method=method, data=content)
        for field, value in {"Content-Type": "image/png", "Authorization": f"Bearer {self.tokens[name]}", **fields}.items():
            request.add_header(field, value)
        with urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or "null")

    def post(self, name, conversation, text, **more):
        return self.ask(name, "POST", f"/conversations/{conversation}/messages", {"text": text, "client_id": text[:40], **more})


def fill(site):
    """Uses every part of the site."""
    code = site.run("setup").split("/")[-1]
    site.tokens["ada"] = call(site.server, "POST", f"/links/{code}", {"name": "ada", "password": PASSWORD})["token"]
    for name in ("grace", "linus", "barbara", "edsger", "alan", "mallory"):
        site.run("user", "create", name, "--password-stdin", given=PASSWORD + "\n")
        site.tokens[name] = site.sign_in(name)["token"]
    me = {name: site.ask(name, "GET", "/me") for name in site.tokens}
    fill_users(site, me)
    forum = site.ask("ada", "POST", "/forums", {"title": "Knitting", "visibility": "public"})
    fill_messages(site, forum, me)
    fill_programs(site, forum)
    fill_moderation(site, forum, me)
    fill_sign_in(site)
    fill_apps(site)
    fill_dialects(site)
    fill_identities(site)
    # Left for the next start: a link, and the notifications that are mailed.
    site.ask("ada", "POST", "/users/@barbara/reset")
    time.sleep(2)


def fill_users(site, me):
    site.ask("ada", "PATCH", "/users/me", {"addresses": ["ada@example.org"], "bio": "I knit.", "status_text": "Knitting"})
    site.ask("ada", "PATCH", "/settings", {"welcome": "Welcome!", "rules": "Be kind."})
    invite = site.ask("ada", "POST", "/invites", {"max_uses": 5})
    code = invite.get("code") or urlsplit(invite["url"]).path.split("/")[-1]
    site.tokens["new"] = call(site.server, "POST", "/users", {"name": "newcomer", "password": PASSWORD, "invite": code, "accept_rules": True})["token"]
    site.ask("ada", "POST", "/invites", {"max_uses": 1})
    site.ask("grace", "PUT", "/users/@ada/follow")
    site.ask("grace", "PUT", "/users/@mallory/block")
    site.ask("grace", "PUT", "/me/email", {"address": "grace@example.org"})
    call(site.server, "POST", "/password-resets", {"login": "grace"})
    site.ask("grace", "PATCH", "/me/notifications", {"push_shows": "sender"})
    avatar = site.upload("ada", picture(200))
    site.ask("ada", "PUT", "/users/me/avatar", {"file": avatar["id"]})
    group = site.ask("ada", "POST", "/groups", {"name": "Weavers"})
    site.ask("ada", "PUT", f"/groups/{group['id']}/members/@grace")
    site.group = group["id"]
    emoji = site.upload("ada", picture(10))
    site.ask("ada", "POST", "/emoji", {"name": "yarn", "file": emoji["id"]})
    site.ask("ada", "POST", "/uploads", {"name": "film.mp4", "size": 1_000})
    site.ask("ada", "POST", "/me/tokens", {"name": "script", "scope": "read", "password": PASSWORD})
    key = ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    site.ask("grace", "POST", "/me/push-subscriptions", {
        "endpoint": "https://push.example.org/send/1", "name": "Phone",
        "keys": {"p256dh": websafe_encode(key), "auth": websafe_encode(os.urandom(16))}})


def fill_messages(site, forum, me):
    room = forum["room_id"]
    first = site.post("ada", room, "Who knits #socks? See https://example.org/socks")
    rose = site.upload("grace", picture(50))
    reply = site.post("grace", room, "I do, @ada, and @room.", reply_to=first["id"], attachments=[rose["id"]], descriptions=["A rose"])
    site.post("ada", room, "Here", annotations=[
        {"type": "org.example.row", "value": {"row": 7}},
        {"type": "net.app.core.geolocation", "value": {"latitude": 64.1, "longitude": -21.9}}])
    wrong = site.post("ada", room, "Misspeled")
    site.ask("ada", "PATCH", f"/messages/{wrong['id']}", {"text": "Misspelled"})
    gone = site.post("grace", room, "Gone")
    site.ask("grace", "DELETE", f"/messages/{gone['id']}")
    for action in ("like", "star", "pin"):
        site.ask("ada", "PUT", f"/messages/{reply['id']}/actions/{action}")
    poll = site.post("ada", room, "Which yarn?", poll={"options": ["Wool", "Cotton"], "choices": 1})
    site.ask("grace", "PUT", f"/messages/{poll['id']}/vote", {"options": [0]})
    topic = site.ask("grace", "POST", f"/forums/{forum['id']}/conversations", {"title": "Yarn from Iceland", "text": "It is #warm."})
    site.topic = topic["id"]
    private = site.ask("ada", "POST", "/forums", {"title": "Weaving", "visibility": "private"})
    site.ask("ada", "PATCH", f"/forums/{private['id']}", {"read_groups": [site.group]})
    direct = site.ask("ada", "POST", "/conversations", {"kind": "direct", "participants": ["@grace"]})
    site.post("ada", direct["id"], "A secret pattern")
    group = site.ask("ada", "POST", "/conversations", {"kind": "group", "title": "Fair", "participants": ["@grace", "@linus"]})
    site.post("ada", group["id"], "See you there")
    site.ask("grace", "PUT", f"/conversations/{room}/read", {"message_id": reply["id"]})
    site.ask("grace", "PUT", f"/conversations/{topic['id']}/level", {"level": "everything"})
    site.ask("grace", "PUT", f"/conversations/{group['id']}/later", {"until": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 86_400))})
    site.room = room


def fill_programs(site, forum):
    bot = site.ask("ada", "POST", "/bots", {"name": "counter", "scope": "write", "forums": [forum["id"]]})
    site.tokens["bot"] = bot["token"]["token"] if isinstance(bot.get("token"), dict) else bot["token"]
    bot_id = bot.get("user", bot)["id"]
    asked = site.post("bot", site.room, "Count?", buttons=[{"id": "yes", "label": "Yes"}])
    site.ask("grace", "POST", f"/messages/{asked['id']}/presses", {"button_id": "yes"})
    site.ask("ada", "POST", "/webhooks", {"conversation_id": site.room, "name": "Builds"})
    site.ask("ada", "POST", "/webhook-endpoints", {
        "name": "Index", "url": "https://index.example.org/hook", "topics": [f"conversation:{site.room}"]})
    site.ask("ada", "POST", "/commands", {
        "name": "weather", "description": "The weather", "bot_id": bot_id, "url": f"http://127.0.0.1:{site.program.server_port}/", "forums": [forum["id"]]})
    site.ask("grace", "POST", f"/conversations/{site.room}/commands", {"name": "weather", "text": "Oslo"})
    site.post("grace", site.room, "After the webhook")


def fill_moderation(site, forum, me):
    bad = site.post("mallory", site.room, "A raid")
    site.ask("grace", "POST", "/reports", {"message_id": bad["id"], "reason": "Spam"})
    site.ask("ada", "POST", f"/messages/{bad['id']}/remove", {"reason": "Spam"})
    worse = site.upload("mallory", picture(90))
    illegal = site.post("mallory", site.room, "Illegal", attachments=[worse["id"]])
    site.ask("ada", "POST", "/destructions", {"message": illegal["id"], "reason": "Illegal"})
    spam = site.upload("alan", picture(120))
    site.post("alan", site.room, "Spam with a picture", attachments=[spam["id"]])
    site.ask("ada", "POST", "/removals", {"author": "@alan", "since": "2020-01-01T00:00:00Z", "reason": "Spam"})
    site.ask("ada", "POST", "/moderation-rules", {"name": "Casino", "words": ["casino"], "action": "hold", "enabled": True})
    held = site.upload("linus", picture(160))
    site.ask("linus", "POST", f"/conversations/{site.room}/messages", {
        "text": "A casino for knitters", "attachments": [held["id"]]}, refusal="held_for_review")
    site.ask("ada", "PUT", "/users/@mallory/ban", {"reason": "A raid."})
    site.ask("ada", "PUT", "/users/@alan/silence", {"reason": "Spam."})
    site.ask("ada", "DELETE", "/users/@edsger", {"how": "erase", "reason": "On request."})


def fill_sign_in(site):
    setup = site.ask("linus", "POST", "/me/second-factor")
    app = pyotp.parse_uri(setup["url"])
    site.ask("linus", "PUT", "/me/second-factor", {"code": app.now()})
    options = site.ask("barbara", "POST", "/me/passkeys/options")
    key = Authenticator(ec.generate_private_key(ec.SECP256R1()))
    site.ask("barbara", "POST", "/me/passkeys", {"name": "Key", "credential": dict(key.make(options))})
    signed = key.sign(call(site.server, "POST", "/sessions/passkey/options"))
    call(site.server, "POST", "/sessions/passkey", {"credential": dict(signed), "device": "Key"})
    other = call(site.server, "POST", "/sessions", {"name": "newcomer", "password": PASSWORD})["token"]
    call(site.server, "DELETE", "/sessions", token=other)
    site.ask("ada", "POST", "/backups")
    site.ask("grace", "POST", "/me/export")


def fill_dialects(site):
    """A client of MorMessages with its own id of a message, and a subscription. A client of pnut with a marker and a profile."""
    basic = "Basic " + base64.b64encode(f"grace:{PASSWORD}".encode()).decode()

    def ask(method, path, body, credential):
        fields = {"Authorization": credential, "Content-Type": "application/json"}
        with urlopen(Request(site.server.url + path, json.dumps(body).encode(), fields, method=method), timeout=60) as answer:
            return json.loads(answer.read())

    def put(path, body):
        return ask("PUT", f"/mormessages/api/rest{path}", body, basic)

    def pnut(method, path, body):
        return ask(method, f"/v1{path}", body, f"Bearer {site.tokens['grace']}")["data"]

    forum = put("/forum", {"title": "Looms"})
    put(f"/forum/{forum['uuid']}/message", {"text": "Warped", "uuid": "11f1cc86-0000-4000-8000-00000000a11e"})
    put("/subscription", {"userIdentity": "grace", "topicId": forum["uuid"]})
    post = pnut("POST", "/posts", {"text": "Carded"})
    pnut("POST", "/markers", {"name": "global", "id": post["id"]})
    pnut("PATCH", "/users/me", {"locale": "de", "timezone": "Europe/Berlin"})


def fill_apps(site):
    """An app that a user has allowed, and the timeline of feeds."""
    uri, verifier = "https://ferry.example.org/callback", "v" * 43
    app = site.ask("ada", "POST", "/apps", {"name": "Ferry", "redirect_uris": [uri], "scope": "read"})
    query = urlencode({
        "response_type": "code", "client_id": app["id"], "redirect_uri": uri, "scope": "read", "code_challenge_method": "S256",
        "code_challenge": websafe_encode(hashlib.sha256(verifier.encode()).digest())})
    token = site.tokens["grace"]
    cookie = {"Cookie": f"__Host-parley={token}", "Origin": ORIGIN}
    with urlopen(Request(f"{site.server.url}/oauth/authorize?{query}", headers=cookie), timeout=60) as page:
        text = page.read().decode()
    found = re.search(r'name="token" value="([^"]+)"', text)
    if not found:
        sys.exit(f"There is no consent page: {page.url} {text[:2_000]}")
    form = urlencode({"request": query, "token": found[1], "decision": "allow"}).encode()
    try:
        build_opener(NoRedirect).open(Request(f"{site.server.url}/oauth/authorize", form, cookie), timeout=60)
        sys.exit("The consent was not answered by a redirect.")
    except HTTPError as redirect:
        code = parse_qs(urlsplit(redirect.headers["Location"]).query)["code"][0]
    form = urlencode({
        "grant_type": "authorization_code", "client_id": app["id"], "redirect_uri": uri, "code": code, "code_verifier": verifier})
    urlopen(Request(f"{site.server.url}/oauth/token", form.encode()), timeout=60).close()
    feed = site.ask("ada", "POST", "/conversations", {"kind": "feed", "readers": {"open_to": "users"}})
    post = site.post("ada", feed["id"], "Wool is #warm")
    site.ask("grace", "PUT", "/me/timeline-filters/wool", {"include": {"hashtags": ["warm"]}})
    site.ask("grace", "PUT", "/timeline/read", {"message_id": post["id"]})


def fill_identities(site):
    """An account at a provider that a user has linked, and a session that it opened."""
    provider, url = site.providers["work"], site.server.url
    bearer = {"Authorization": f"Bearer {site.tokens['grace']}", "Content-Type": "application/json"}
    asked = Request(f"{url}/api/v1/me/identities", json.dumps({"issuer": "work"}).encode(), bearer)
    with urlopen(asked, timeout=60) as answer:
        finish(site, provider, json.load(answer)["url"], answer.headers["Set-Cookie"], f"__Host-parley={site.tokens['grace']}; ")
    try:
        build_opener(NoRedirect).open(f"{url}/oidc/work", timeout=60)
        sys.exit("The sign-in was not answered by a redirect.")
    except HTTPError as redirect:
        finish(site, provider, redirect.headers["Location"], redirect.headers["Set-Cookie"])


def finish(site, provider, address, cookie, more=""):
    """The answer of the provider to a request."""
    request = parameters(address)
    code = provider.code(request, signed(provider.claims(request["nonce"], sub="grace", preferred_username="grace")))
    query = urlencode({"code": code, "state": request["state"], "iss": provider.url})
    try:
        build_opener(NoRedirect).open(
            Request(f"{site.server.url}/oidc/work/callback?{query}", headers={"Cookie": more + cookie.split(";")[0]}), timeout=60)
        sys.exit("The answer of the provider was not answered by a redirect.")
    except HTTPError as redirect:
        if redirect.code != 303:
            sys.exit(redirect.read().decode())


def fill_imported(site, folder):
    """A channel of Discord."""
    author = {"id": "101", "name": "charles", "nickname": "Charles", "isBot": False, "roles": [], "avatarUrl": ""}
    channel = {"id": "55", "type": "GuildTextChat", "categoryId": "5", "category": "Crafts", "name": "looms", "topic": None}
    source = folder / "looms.json"
    source.write_text(discord_channel(channel, [discord_message(1, author, "2020-01-01T10:00:00+00:00", "A loom")]))
    subprocess.run([PARLEY, "import", source, "--from", "discord", "--data", site.data], check=True, capture_output=True, timeout=60)


class NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def pack(folder, target):
    """The files of a folder, with the same bytes each time."""
    with io.BytesIO() as buffer:
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    archive.add(path, path.relative_to(folder), filter=plain)
        target.write_bytes(zlib_pack(buffer.getvalue()))


def plain(entry):
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o600
    return entry


def zlib_pack(content):
    """gzip without a time."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(content) + packer.flush()


def main(target):
    if target.exists():
        sys.exit(f"{target} exists: a sample is never replaced.")
    with tempfile.TemporaryDirectory(prefix="parley-") as folder:
        folder = Path(folder)
        with Site(folder) as site:
            fill(site)
            fill_imported(site, folder)
        for name in ("lock", "running", "reserve"):
            (site.data / name).unlink(missing_ok=True)
        for file in (site.data / "backups").glob("*"):
            file.unlink()
        # Without a mail server no mail comes back.
        with closing(sqlite3.connect(site.data / "parley.db")) as database, database:
            database.execute("insert into mail_bounce (user_id, mail_id, bounced_at) select user_id, 1, 1 from email limit 1")
        verified = subprocess.run([PARLEY, "verify", "--all", "--data", site.data], capture_output=True, text=True, timeout=60)
        if verified.returncode:
            sys.exit(verified.stdout + verified.stderr)
        (site.data / "lock").unlink(missing_ok=True)
        with closing(sqlite3.connect(site.data / "parley.db")) as database:
            database.execute("pragma journal_mode = delete")
            columns = tables(database)
            content = {name: rows(database, name, columns[name]) for name in columns}
            migrations = [list(row) for row in database.execute("select number, name, hash from migration order by number")]
        empty = sorted(name for name, lines in content.items() if not lines and name not in MOMENTARY)
        if empty:
            sys.exit(f"These tables are empty: {', '.join(empty)}")
        target.mkdir(parents=True)
        subprocess.run([PARLEY, "backup", folder / "backup.tar", "--data", site.data], check=True, capture_output=True, timeout=60)
        (site.data / "lock").unlink(missing_ok=True)
        pack(site.data, target / "data.tar.gz")
        (target / "backup.tar.gz").write_bytes(zlib_pack((folder / "backup.tar").read_bytes()))
    manifest = {
        "migrations": migrations,
        "rows": {name: len(lines) for name, lines in content.items()},
        "digests": {name: digest(lines) for name, lines in content.items()},
    }
    (target / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    size = sum(file.stat().st_size for file in target.iterdir())
    if size > MAX_BYTES:
        sys.exit(f"{target} has {size} bytes, more than {MAX_BYTES}.")
    print(f"{target}: {len(content)} tables, {sum(map(len, content.values()))} rows, {size // 1024} KB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
