"""Conversations over HTTP: a daemon on a planted folder, and matrix-synapse with a room, both loaded by wrk."""

import hashlib
import hmac
import json
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from measure import SECONDS, reported
from servers import BENCH, BUILD, PARLEY, TOP, Server, free_port

FOLDER = BUILD / "bench"
PEERS = Path(__file__).with_name("peers")
SYNAPSE_PYTHON = BUILD / "tools" / "synapse" / "bin" / "python"
LONG = 65
"""The conversation that `parley-bench store plant` fills."""


@dataclass
class ChatServer:
    """A server, an access token, and the requests that post a message and read a page."""

    server: Server
    token: str
    method: str
    post: str
    page: str
    body: str

    def posting(self, connections=64):
        """Each request posts another message with another id, so that none counts as a retry."""
        return self._wrk("post.lua", {"METHOD": self.method, "TARGET": self.post, "BODY": self.body}, connections)

    def paging(self, connections=64):
        return self._wrk("get.lua", {"TARGET": self.page}, connections)

    def first_answer(self):
        """The body of the answer to one post."""
        body = self.body.replace("ID", "first").replace("TEXT", "The kettle is on, come down when you are ready. 1")
        request = urllib.request.Request(
            f"{self.server.url}{self.post}", method=self.method, data=body.encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request) as answer:
            return answer.read().decode()

    def _wrk(self, script, variables, connections):
        def load(server):
            return reported(
                ["wrk", "--threads", "1", "--connections", connections, "--duration", f"{SECONDS}s", "--timeout", "30s",
                 "--script", TOP / "Tests/bench" / script, server.url], {"TOKEN": self.token, **variables})
        return load


def parley_chat(stack, folder):
    """The daemon with raised rate limits, and a token of the first planted user."""
    token = subprocess.run(
        [PARLEY, "token", "person1", "--scope", "write", "--data", folder], cwd=TOP, check=True, stdout=subprocess.PIPE,
        text=True).stdout.strip()
    server = stack.enter_context(
        Server("bench-chat", PARLEY, "serve", "--listen", "127.0.0.1:0", "--data", folder, "--loops", 1,
               "--log-format", "none", "--rate-sending", 10**6, "--rate-sending-burst", 10**6))
    messages = f"/api/v1/conversations/{LONG}/messages"
    return ChatServer(server, token, "POST", messages, f"{messages}?limit=50", '{"client_id":"ID","text":"TEXT"}')


def synapse_chat(stack, messages):
    """matrix-synapse on SQLite, one process, rate limits raised, with a room of `messages` messages."""
    subprocess.run([TOP / "Tests/tools/venv", PEERS / "synapse.txt", SYNAPSE_PYTHON.parents[1]], check=True)
    folder = FOLDER / f"synapse-{messages}-{hashlib.sha256((PEERS / 'synapse.txt').read_bytes()).hexdigest()[:12]}"
    if folder.exists():
        return _running(stack, folder, json.loads((folder / "known.json").read_text()))
    for old in FOLDER.glob(f"synapse-{messages}-*"):
        shutil.rmtree(old)
    folder.mkdir(parents=True)
    try:
        return _running(stack, folder, _room(folder, messages))
    except BaseException:
        shutil.rmtree(folder)
        raise


def _running(stack, folder, known):
    return _chat(stack.enter_context(_serve(folder)), known)


def _chat(server, known):
    room = f"/_matrix/client/v3/rooms/{urllib.parse.quote(known['room'])}"
    return ChatServer(server, known["token"], "PUT", f"{room}/send/m.room.message/ID", f"{room}/messages?limit=50&dir=b",
                '{"msgtype":"m.text","body":"TEXT"}')


def _serve(folder):
    port = free_port()
    often = {"per_second": 1e9, "burst_count": 1e9}
    log = folder / "log.json"
    log.write_text(json.dumps(
        {"version": 1, "handlers": {"err": {"class": "logging.StreamHandler"}},
         "root": {"level": "WARNING", "handlers": ["err"]}}))
    settings = folder / "settings.json"  # YAML reads JSON
    settings.write_text(json.dumps({
        "server_name": "localhost", "pid_file": str(folder / "pid"), "report_stats": False, "trusted_key_servers": [],
        "listeners": [{"port": port, "bind_addresses": ["127.0.0.1"], "type": "http",
                       "resources": [{"names": ["client"], "compress": False}]}],
        "database": {"name": "sqlite3", "args": {"database": str(folder / "db")}}, "log_config": str(log),
        "media_store_path": str(folder / "media"), "signing_key_path": str(folder / "key"),
        "registration_shared_secret": "bench", "rc_message": often,
    }))
    module = [SYNAPSE_PYTHON, "-m", "synapse.app.homeserver", "-c", settings]
    subprocess.run([*module, "--generate-keys"], check=True, stdout=subprocess.DEVNULL)
    return Server("bench-synapse", *module, port=port, ready_within=60)


def _room(folder, messages):
    """Registers a user, creates a room and fills it; stores the token and the room id beside it for the next run."""
    with _serve(folder) as server:
        nonce = _ask(server, "GET", "/_synapse/admin/v1/register")["nonce"]
        words = "\0".join([nonce, "ada", "a long password", "notadmin"]).encode()
        known = {"token": _ask(server, "POST", "/_synapse/admin/v1/register", {
            "nonce": nonce, "username": "ada", "password": "a long password", "admin": False,
            "mac": hmac.new(b"bench", words, hashlib.sha1).hexdigest()})["access_token"]}
        known["room"] = _ask(
            server, "POST", "/_matrix/client/v3/createRoom", {"preset": "private_chat"}, known["token"])["room_id"]
        chat = _chat(server, known)
        print(f"planting {messages:,} messages in matrix-synapse …", flush=True)
        sent = 0
        while sent < messages:
            sent += chat.posting(16)(server).operations
            if sys.stdout.isatty():
                print(f"\r{min(sent, messages):,}", end="\r", flush=True)
        (folder / "known.json").write_text(json.dumps(known))
        return known


def _ask(server, method, path, body=None, token=None):
    request = urllib.request.Request(
        f"{server.url}{path}", method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)
