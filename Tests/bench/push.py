"""A message that notifies every member of a forum: with and without devices, with their push messages queued, and sent."""

import http.client
import json
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

from measure import IS_SMOKE, ROUNDS, Load
from planted import copied
from servers import LOOPBACK, PARLEY, TOP, VENV_PYTHON, Server

MEMBERS = 100 if IS_SMOKE else 2_000
POSTS = 1 if IS_SMOKE else 20
FEW_POSTS = 1 if IS_SMOKE else 5
"""Messages of a round. Each is in another forum: `@room` notifies once in ten minutes."""
SINK = Path(__file__).with_name("push_sink.py")
# The keys of RFC 8291, appendix A.
POINT = bytes.fromhex("042571b2becdfde360551aaf1ed0f4cd366c11cebe555f89bcb7b186a53339173168ece2ebe018597bd30479b86e3c8f8eced577ca59187e9246990db682008b0e")
AUTH = bytes.fromhex("05305932a1c7eabe13b6cec9fda48882")
LATER = 10**14
"""A time far away, in milliseconds."""


class Posting:
    """A daemon with `MEMBERS` members in each of its forums, and a client who posts to all members of the next forum.

    The worker of push messages is `off`, puts messages into the queue until later (`queued`), or is `sending` them."""

    def __init__(self, stack, name, *, posts=POSTS, endpoint=None, worker="off"):
        self.posts, self.worker = posts, worker
        folder = stack.enter_context(copied(1_000, forums=POSTS * ROUNDS, crowd=MEMBERS))
        self.database = folder / "parley.db"
        token = subprocess.run(
            [PARLEY, "token", "person1", "--scope", "write", "--data", folder], cwd=TOP, check=True, stdout=subprocess.PIPE,
            text=True).stdout.strip()
        port = 1 if endpoint is None else endpoint.rpartition(":")[2]
        command = [
            LOOPBACK, port, "serve", "--listen", "127.0.0.1:0", "--data", folder, "--loops", 1, "--log-format", "none", "--public-url",
            "https://bench.example", "--rate-sending", 10**6, "--rate-sending-burst", 10**6]
        # The first start makes the key of push messages, and ends the devices of an earlier one.
        Server(f"bench-push-{name}-first", *command).stop()
        with closing(sqlite3.connect(self.database)) as database:
            self.plant(database, endpoint)
            self.rooms = [room for room, in database.execute("select room_id from forum order by id")]
        if worker == "off":
            command += ["--outgoing", "off"]
        self.server = stack.enter_context(Server(f"bench-push-{name}", *command))
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        time.sleep(1 if IS_SMOKE else 5)  # the check of the database after the start

    def plant(self, database, endpoint):
        now = int(time.time() * 1_000)
        users = [(user, session) for user, session in database.execute(
            "select a.id, s.id from account a join session s on s.user_id = a.id where a.name like 'crowd%' order by a.id")]
        database.executemany(
            "insert or ignore into forum_member (forum_id, user_id, created_at) select id, ?, ? from forum",
            [(user, now) for user, _ in users])
        if endpoint is not None:
            first = database.execute("select value + 1 from counter where name = 'id'").fetchone()[0]
            database.executemany(
                "insert into push_subscription (id, user_id, session_id, name, endpoint, point, auth, created_at, retry_at) "
                "values (?, ?, ?, 'phone', ?, ?, ?, ?, ?)",
                [(first + number, user, session, f"{endpoint}/{user}", POINT, AUTH, now, LATER if self.worker == "queued" else None)
                 for number, (user, session) in enumerate(users)])
            database.execute("update counter set value = value + ? where name = 'id'", (len(users),))
        database.commit()

    def __call__(self, server):
        """An operation is a message, until its members are notified and their push messages are queued or sent."""
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        times, started, errors = [], time.monotonic(), 0
        for number in range(self.posts):
            room, asked = self.rooms.pop(), time.monotonic()
            connection.request(
                "POST", f"/api/v1/conversations/{room}/messages", json.dumps({"text": f"@room The kettle is on. {number}"}),
                self.headers)
            answer = connection.getresponse()
            made = json.loads(answer.read())
            times.append(time.monotonic() - asked)
            errors += answer.status != 201
            self.wait(int(made["id"]), room)
        times.sort()
        connection.close()
        return Load(self.posts, time.monotonic() - started, errors, times[len(times) // 2] * 1e6, times[-1] * 1e6)

    def wait(self, message, room):
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as database:
            def count(sql, *values):
                return database.execute(sql, values).fetchone()[0]
            until(lambda: count("select count(*) from notification where message_id = ?", message) >= MEMBERS)
            if self.worker != "off":
                state = "null" if self.worker == "sending" else "not null"
                until(lambda: count(
                    f"select count(*) from push_delivery where topic = ? and notification_id is {state}", f"c{room}") == MEMBERS)


def until(is_done, seconds=120):
    deadline = time.monotonic() + seconds
    while not is_done():
        if time.monotonic() > deadline:
            raise RuntimeError("The push messages did not arrive.")
        time.sleep(0.05)


def sink(stack):
    return stack.enter_context(Server("bench-push-sink", VENV_PYTHON, SINK)).url
