"""Soak test for dead receivers: with a push service and a mail server that never answer, and later refuse all connections, a daemon needs
no more memory with time, and posting takes as long as in a daemon without both. Both daemons fill the caches of their databases."""

import http.client
import json
import random
import socket
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing

from measure import resident_bytes
from planted import copied
from push import AUTH, POINT
from servers import LOOPBACK, PARLEY, TOP, Server

USERS, FORUMS = 200, 20
MENTIONS = 20
"""Users that a message notifies."""
PAUSE = 0.02
AGE = 16 * 60_000
"""In milliseconds: unread notifications of this age are mailed."""
MAX_SLOWDOWN = 1.5
MAX_RISE = 6 * 2**20
"""In bytes: how much more than the plain daemon's the memory may rise in the second half. It was flat after five minutes."""


class Silence:
    """A server that accepts connections and never answers."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.accepted, self.count = [], 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.count += 1
            # The client has closed most of the earlier ones.
            self.accepted = self.accepted[-100:] + [connection]

    def refuse(self):
        """Closes all connections and takes no more."""
        # A blocked accept would keep the listener open.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.accepted:
            connection.close()


class Site:
    """A daemon whose users have devices and addresses, or have not."""

    def __init__(self, stack, name, push=None, mail=None):
        folder = stack.enter_context(copied(1_000, forums=FORUMS, crowd=USERS))
        self.database = folder / "parley.db"
        self.token = subprocess.run(
            [PARLEY, "token", "person1", "--scope", "write", "--data", folder], cwd=TOP, check=True, stdout=subprocess.PIPE,
            text=True).stdout.strip()
        command = [
            LOOPBACK, push.port if push else 1, "serve", "--listen", "127.0.0.1:0", "--data", folder, "--loops", 1, "--log-format",
            "none", "--public-url", "https://soak.example", "--rate-sending", 10**6, "--rate-sending-burst", 10**6]
        # The first start makes the key of push messages, and ends the devices of an earlier one.
        Server(f"soak-{name}-first", *command).stop()
        with closing(sqlite3.connect(self.database)) as database:
            plant(database, push, mail)
            self.rooms = [room for room, in database.execute("select room_id from forum order by id")]
        # The first posts are old when the daemon starts again, so mail about them is due.
        with Server(f"soak-{name}-first", *command) as self.server:
            self.connect()
            for number in range(FORUMS):
                self.post(number)
        with closing(sqlite3.connect(self.database)) as database:
            database.execute("update notification set created_at = created_at - ?", (AGE,))
            database.commit()
        if mail:
            command += ["--smtp-url", f"smtp://127.0.0.1:{mail.port}"]
        self.server = stack.enter_context(Server(f"soak-{name}", *command))
        self.connect()

    def connect(self):
        self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)

    def post(self, number):
        """Returns the seconds until the answer."""
        names = " ".join(f"@crowd{(number * MENTIONS + other) % USERS}" for other in range(MENTIONS))
        started = time.monotonic()
        self.ask(f"/conversations/{self.rooms[number % FORUMS]}/messages", {"text": f"The kettle is on, {names}"}, 201)
        return time.monotonic() - started

    def reset(self, number):
        """Asks for a mail that is not late."""
        self.ask("/password-resets", {"login": f"crowd{number % USERS}"}, 202, 429)

    def ask(self, path, body, *statuses):
        self.connection.request("POST", f"/api/v1{path}", json.dumps(body), {
            "Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status not in statuses:
            raise RuntimeError(f"{path} returned {answer.status}: {text.decode()}")

    def waiting(self):
        """The lengths of both queues."""
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as database:
            return [database.execute(f"select count(*) from {table}").fetchone()[0] for table in (
                "push_delivery where notification_id is not null", "mail_delivery where sent_at is null")]


def plant(database, push, mail):
    now = int(time.time() * 1_000)
    users = database.execute(
        "select a.id, s.id from account a join session s on s.user_id = a.id where a.name like 'crowd%' order by a.id").fetchall()
    database.executemany(
        "insert or ignore into forum_member (forum_id, user_id, created_at) select id, ?, ? from forum",
        [(user, now) for user, _ in users])
    if push:
        first = database.execute("select value + 1 from counter where name = 'id'").fetchone()[0]
        database.executemany(
            "insert into push_subscription (id, user_id, session_id, name, endpoint, point, auth, created_at) "
            "values (?, ?, ?, 'phone', ?, ?, ?, 0)",
            [(first + number, user, session, f"http://127.0.0.1:{push.port}/{user}", POINT, AUTH)
             for number, (user, session) in enumerate(users)])
        database.execute("update counter set value = value + ? where name = 'id'", (len(users),))
    if mail:
        database.executemany(
            "insert into email (user_id, address) values (?, ?)", [(user, f"crowd{user}@soak.example") for user, _ in users])
    database.commit()


def soak(minutes):
    with ExitStack() as stack:
        push, mail = Silence(), Silence()
        sites = {"dead": Site(stack, "dead", push, mail), "plain": Site(stack, "plain")}
        # The check of the database after the start.
        time.sleep(5)
        times, memory = {name: [] for name in sites}, {name: [] for name in sites}
        started, printed, number, is_refusing = time.monotonic(), 0, 0, False
        while (elapsed := time.monotonic() - started) < minutes * 60:
            order = random.sample(sorted(sites), len(sites))
            for name in order:
                times[name].append(sites[name].post(number))
                if number % 50 == 0 and name == "dead":
                    sites[name].reset(number // 50)
            number += 1
            time.sleep(PAUSE)
            if not is_refusing and elapsed > minutes * 30:
                push.refuse()
                mail.refuse()
                is_refusing = True
            if elapsed - printed >= min(10, minutes * 6):
                printed = elapsed
                for name, site in sites.items():
                    memory[name].append(resident_bytes(site.server.pid))
                dead, plain = (memory[name][-1] / 2**20 for name in ("dead", "plain"))
                print(f"{elapsed:5.0f} s  {dead:6.1f} MB, the plain daemon {plain:6.1f} MB  {number} posts", flush=True)
        waiting = sites["dead"].waiting()
        return verdict(memory, times, waiting, push.count, mail.count)


def verdict(memory, times, waiting, pushes, mails):
    rise = {}
    for name, sizes in memory.items():
        warm = max(sizes[:max(1, len(sizes) // 2)])
        rise[name] = sizes[-1] - warm
        print(f"memory of the {name} daemon: {warm / 2**20:.1f} MB once warm, {sizes[-1] / 2**20:.1f} MB at the end")
    is_grown = rise["dead"] - max(0, rise["plain"]) > MAX_RISE
    print(f"memory is {'GROWN' if is_grown else 'steady'} beside the plain daemon")
    is_slower = False
    for what, value in (("median", statistics.median), ("p95", lambda values: statistics.quantiles(values, n=20)[-1])):
        dead, plain = (value(times[name]) * 1e3 for name in ("dead", "plain"))
        is_slower |= dead > MAX_SLOWDOWN * plain
        print(f"a post: {what} {dead:.2f} ms, {plain:.2f} ms in the plain daemon: {dead / plain:.2f} times")
    print(f"posting is {'SLOWER' if is_slower else 'unharmed'}")
    print(f"{waiting[0]} push messages and {waiting[1]} mails wait; {pushes} and {mails} connections were accepted in vain")
    is_idle = 0 in (pushes, mails) or 0 in waiting
    if is_idle:
        print("NO messages were tried")
    return 1 if is_grown or is_slower or is_idle else 0


if __name__ == "__main__":
    sys.exit(soak(float(sys.argv[1]) if len(sys.argv) > 1 else 10))
