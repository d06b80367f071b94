"""Rooms whose members are all online: the daemon, ejabberd and NATS, with the load options of each."""

import http.client
import json
import shutil
import sqlite3
import subprocess
from dataclasses import dataclass

from measure import load
from servers import BUILD, PARLEY, TOP, Server, free_port

FOLDER = BUILD / "bench"
CROWD = 10_000
"""Users that `parley-bench store plant --crowd` creates, with tokens known to the loads."""
ROOMS = {100: 2_013, 1_000: 2_014, 5_000: 2_015}
"""Member count to conversation id; the members are the first users."""
LETTERS = 64
ERLANG = [
    "erlang-base", *(f"erlang-{name}" for name in (
        "asn1 base64url crypto eunit ftp goldrush idna inets jiffy jose lager mnesia odbc os-mon p1-acme p1-cache-tab "
        "p1-eimp p1-mqtree p1-pkix p1-sqlite3 p1-stringprep p1-stun p1-tls p1-utils p1-xml p1-xmpp p1-yaml p1-yconf "
        "p1-zlib public-key runtime-tools ssl syntax-tools tftp tools unicode-util-compat xmerl").split())]


@dataclass
class Room:
    """A server, its WebSocket path and protocol, and the name of the room."""

    server: Server
    tongue: str
    path: str
    name: str

    def load(self, members, window=16):
        """`window` members write, each one message at a time. An operation is one message received by one member."""
        return load("room", f"ws://127.0.0.1:{{port}}{self.path}", "--as", self.tongue, "--room", self.name,
                    "--connections", members, "--size", LETTERS, "--window", window)


def crowded(stack, folder, *launcher):
    """The daemon, with raised rate limits per address and per user. `launcher` is a program that starts it."""
    return stack.enter_context(
        Server("bench-crowd", *launcher, PARLEY, "serve", "--listen", "127.0.0.1:0", "--data", folder, "--loops", 1,
               "--log-format", "none", "--limit-connections", 20_000, "--limit-connections-per-address", 20_000,
               "--rate-sending", 10**6, "--rate-sending-burst", 10**6))


def parley_room(server, members):
    room = ROOMS[members]
    return Room(server, "parley", f"/api/v1/realtime?topics=conversation:{room}", str(room))


def missed(server, count):
    """Posts `count` messages into the room of 100 members. Returns the cursor from before them."""
    token = {"Authorization": "Bearer bench-0", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection("127.0.0.1", server.port)

    def ask(method, path, body=None):
        connection.request(method, f"/api/v1{path}", body and json.dumps(body), token)
        answer = connection.getresponse()
        said = json.loads(answer.read())
        if answer.status not in (200, 201):
            raise RuntimeError(f"{method} {path} returned {answer.status}: {said}")
        return said

    cursor = ask("GET", "/sync?topics=me")["cursor"]
    for number in range(count):
        ask("POST", f"/conversations/{ROOMS[100]}/messages",
            {"text": f"The kettle is on, come down when you are ready. {number}"})
    return cursor


def nats_room(stack):
    """Core NATS subjects without storage: the upper bound for pure fan-out."""
    folder = unpacked("nats", "nats-server")
    settings, port = FOLDER / "nats.conf", free_port()
    settings.write_text(f"""
        host: 127.0.0.1
        port: {free_port()}
        websocket {{ host: 127.0.0.1, port: {port}, no_tls: true }}
        """)
    server = Server("bench-nats", folder / "usr/sbin/nats-server", "-c", settings, port=port)
    return Room(stack.enter_context(server), "nats", "/", "room")


def ejabberd_room(stack):
    """A room (XEP-0045) with an archive (XEP-0313) in SQLite. Presence is off: joining a room of a thousand would cost
    a million stanzas."""
    subprocess.run([TOP / "Tests/tools/debian", "libexpat1", "libsqlite3-0", "libstdc++6", "libtinfo6",
                    "libyaml-0-2"], check=True)
    unpacking = unpacked("ejabberd", "ejabberd", *ERLANG)
    erlang = unpacking / "usr/lib/erlang"
    folder, port = FOLDER / "ejabberd", free_port()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with sqlite3.connect(folder / "ejabberd.db") as database:
        database.executescript((unpacking / "usr/share/ejabberd/sql/lite.sql").read_text())
    settings = folder / "ejabberd.yml"  # YAML reads JSON
    settings.write_text(json.dumps({
        "hosts": ["localhost"], "loglevel": "error",
        "listen": [{"port": port, "ip": "127.0.0.1", "module": "ejabberd_http", "backlog": 1_024,
                    "request_handlers": {"/ws": "ejabberd_http_ws"}}],
        "auth_method": ["anonymous"], "anonymous_protocol": "sasl_anon", "allow_multiple_connections": True,
        "default_db": "sql", "sql_type": "sqlite", "sql_database": str(folder / "ejabberd.db"),
        "access_rules": {"everyone": [{"allow": "all"}]}, "shaper": {}, "shaper_rules": {},
        "modules": {
            "mod_mam": {"default": "always", "db_type": "sql"},
            "mod_muc": {
                "host": "rooms.localhost", "access": "everyone", "access_create": "everyone", "max_users": CROWD,
                "history_size": 0, "min_message_interval": 0, "min_presence_interval": 0,
                "default_room_options": {
                    "mam": True, "max_users": CROWD, "presence_broadcast": [], "logging": False}}},
    }))
    program, = erlang.glob("erts-*/bin/erlexec")
    server = Server(
        "bench-ejabberd", program, "-noinput", "+K", "true", "+P", 250_000, "-mnesia", "dir", f'"{folder}/mnesia"',
        "-s", "ejabberd", port=port, ready_within=60, env={
            "ROOTDIR": str(erlang), "BINDIR": str(program.parent), "EMU": "beam", "PROGNAME": "erl",
            "ERL_LIBS": str(next(unpacking.glob("usr/lib/*-linux-gnu*"))), "EJABBERD_CONFIG_PATH": str(settings),
            "EJABBERD_LOG_PATH": str(folder / "log"), "SPOOL_DIR": str(folder / "mnesia"), "HOME": str(folder)})
    return Room(stack.enter_context(server), "xmpp", "/ws", "room@rooms.localhost")


def unpacked(name, *packages):
    done = subprocess.run(
        [TOP / "Tests/tools/unpacked", name, *packages], check=True, stdout=subprocess.PIPE, text=True)
    return TOP / done.stdout.strip().splitlines()[-1]
