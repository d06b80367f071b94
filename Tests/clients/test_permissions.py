"""Each operation of openapi.json and each command of asyncapi.json with each kind of credential, beside `permissions.txt` and
`socket_permissions.txt`, which say what they permit."""

import http.client
import itertools
import json
import re
import sqlite3
import struct
import subprocess
import zlib
from base64 import urlsafe_b64encode
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from frames import described
from servers import PARLEY, TOP, VENV_PYTHON, Server, free_port
from serving import ServingTest, parley
from test_oauth import Form
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

HERE = Path(__file__).parent
PASSWORD = "wool and needles"
ORIGIN = "https://hall.example"
FOREIGN_ORIGIN = "https://evil.example"
URI = "https://ferry.example/callback"
SCOPES = ["profile", "read", "write", "admin"]
UNLIMITED = [
    f"--rate-{name}={1_000_000}" for kind in (
        "login", "guessing", "registration", "sending", "writing", "signals", "webhooks", "previews", "searches", "digests",
        "reports", "oauth", "exports", "discovery") for name in (kind, f"{kind}-burst")]
ROLES = {
    "users": {"guest", "bot", "member", "moderator", "admin", "owner"},
    "members": {"bot", "member", "moderator", "admin", "owner"},
    "people": {"guest", "member", "moderator", "admin", "owner"},
    "moderators": {"moderator", "admin", "owner"},
    "staff": {"admin", "owner"},
    "owners": {"owner"},
    "none": set(),
}
ROLES["everyone"] = ROLES["secret"] = ROLES["users"]
METHODS = {"get", "post", "put", "patch", "delete"}


class Credential:
    """A way to make requests: the user, and what the text of the credential may do."""

    def __init__(self, name, user=None, role=None, scope="admin", kind="session", proved=True, limited=False, silenced=False):
        self.name, self.user, self.role, self.scope, self.kind = name, user, role, scope, kind
        self.proved, self.limited, self.silenced = proved, limited, silenced
        self.token = self.cookie = None


CREDENTIALS = [
    Credential("visitor", kind="none"),
    Credential("guest", "gus", "guest"),
    Credential("member", "linus", "member"),
    Credential("silenced member", "silas", "member", silenced=True),
    Credential("moderator", "mira", "moderator"),
    Credential("admin", "alma", "admin"),
    Credential("owner", "ada", "owner"),
    Credential("owner without a new proof", "olga", "owner", proved=False),
    Credential("page of another site with an owner's cookie", "ora", "owner", kind="cookie elsewhere"),
    Credential("token of a bot", "dice", "bot", "write", "token"),
    *(Credential(f"token {scope}", "otto", "owner", scope, "token") for scope in SCOPES[1:]),
    Credential("token write of a forum", "otto", "owner", "write", "token", limited=True),
    *(Credential(f"app {scope}", "odo", "owner", scope, "app") for scope in SCOPES),
    Credential("app write of a forum", "odo", "owner", "write", "app", limited=True),
    Credential("ended session", "ena", kind="ended"),
    Credential("cookie of an ended session", "ena", kind="ended cookie"),
    Credential("session of a banned user", "ben", kind="ended"),
    Credential("token of a banned user", "ben", kind="ended"),
]


class Line:
    """A line of the table."""

    def __init__(self, text):
        request, words, *body = text.split(" | ")
        self.text, self.body = text, "".join(body)
        self.method, self.path = request.split(" ", 1)
        self.operation = f"{self.method} {re.sub(r'=[^}]*', '', self.path.split('?')[0])}"
        words = words.split()
        self.users = words[0]
        self.scope = next((word for word in words[1:] if word in SCOPES), None)
        self.conditions = {word for word in words[1:] if "=" not in word} - set(SCOPES)
        named = dict(word.split("=", 1) for word in words if "=" in word)
        self.passes = named.pop("", "done").split(",")
        self.refusals = named
        unknown = self.conditions - {"proof", "new-proof", "session", "direct", "forums", "speech", "after-email"}
        assert self.users in ROLES and not unknown, text

    def expected(self, who):
        """The results of a request with a credential."""
        if self.users == "secret":
            return self.passes
        if who.kind == "ended":
            return ["session_ended"]
        # Whatever the operation: a browser sends the cookie with requests of any page (CSRF).
        if who.kind == "cookie elsewhere":
            is_change = self.method != "GET" or self.operation == "GET /realtime"
            return ["forbidden"] if is_change else [self.refusals["others"]] if self.users == "none" else self.passes
        if who.scope == "profile" and "profile" in self.refusals:
            return [self.refusals["profile"]]
        # Apps with the name and picture of the user alone read what visitors read.
        if who.role is None or who.scope == "profile" and self.scope is None:
            if self.scope:
                return ["session_ended" if who.kind == "ended cookie" else "unauthenticated"]
            return self.passes if self.users == "everyone" else [self.refusals["visitors"]]
        if who.limited:
            if "forums" not in self.conditions:
                return ["forbidden"]
            if "limited" in self.refusals:
                return [self.refusals["limited"]]
        if self.scope and SCOPES.index(who.scope) < SCOPES.index(self.scope):
            return ["forbidden"]
        if who.role in self.refusals:
            return [self.refusals[who.role]]
        if who.role not in ROLES[self.users]:
            return [self.refusals.get("others", "forbidden")]
        if who.silenced and "speech" in self.conditions:
            return ["silenced"]
        if who.kind != "session" and "session" in self.conditions or who.kind == "app" and "direct" in self.conditions:
            return ["forbidden"]
        if who.kind != "session" and "new-proof" in self.conditions:
            return ["step_up_required"]
        if not who.proved and self.conditions & {"proof", "new-proof"}:
            return ["step_up_required"]
        return self.passes


class SocketLine(Line):
    """A line of the table of commands: the path is the name of the command."""

    def __init__(self, text):
        super().__init__(f"SOCKET {text}")


def lines(file, kind):
    return [kind(line) for line in (HERE / file).read_text().splitlines() if line and not line.startswith("#")]


def picture():
    """A PNG of one pixel."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\1\2\3")) + chunk(b"IEND", b"")


class Client:
    """Requests over one connection."""

    def __init__(self, port):
        self.port, self.connection = port, None

    def ask(self, method, path, body=None, token=None, cookie=None, **fields):
        """The status, the fields and the JSON of an answer, or its text."""
        fields = {name.replace("_", "-"): value for name, value in fields.items()}
        if token:
            fields["Authorization"] = f"Bearer {token}"
        if cookie:
            fields = {"Cookie": cookie, "Origin": ORIGIN} | fields
        if isinstance(body, (dict, list)):
            body, fields["Content-Type"] = json.dumps(body), "application/json"
        for last in (False, True):
            self.connection = self.connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                self.connection.request(method, path, body, fields)
                answer = self.connection.getresponse()
                # A stream of events has no end.
                is_endless = answer.headers.get_content_type() == "text/event-stream"
                data = b"" if is_endless else answer.read()
                break
            except (http.client.RemoteDisconnected, ConnectionError):
                # The server ends a connection with an answer to a bad request.
                self.connection = None
                if last:
                    raise
        if answer.will_close or is_endless:
            self.connection.close()
            self.connection = None
        try:
            return answer.status, answer.headers, json.loads(data)
        except ValueError:
            return answer.status, answer.headers, data.decode(errors="replace")


class Permissions(ServingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        receiving = free_port()
        receiver = Server("permissions-mail", VENV_PYTHON, HERE / "mail_server.py", receiving, f"{cls.folder}/mail", "plain",
                          port=receiving)
        cls.addClassCleanup(receiver.kill)
        cls.server = cls.enterClassContext(cls.start(
            *parley(cls.folder, *UNLIMITED, "--public-url", ORIGIN, "--smtp-url", f"smtp://127.0.0.1:{receiving}")))
        cls.client = Client(cls.server.port)
        roles = {who.user: who.role or "member" for who in CREDENTIALS if who.user and who.role != "bot"} | {
            "grace": "member", "zoe": "member", "yan": "member", "max": "member", "bea": "member", "amy": "admin"}
        # Without an owner there are no tokens.
        cls.tokens = {"ada": cls.add_user("ada", roles.pop("ada"))}
        with ThreadPoolExecutor(4) as pool:
            cls.tokens |= zip(roles, pool.map(cls.add_user, roles.keys(), roles.values()))
        cls.ask("PATCH", "/settings", {
            "registration": "open", "discovery": True, "newcomers": {"days": 0, "messages": 0}})
        cls.things = Things(cls)
        cls.make_credentials()

    @classmethod
    def add_user(cls, name, role):
        """Returns a token of the scope admin."""
        def say(*arguments, given=None):
            done = subprocess.run([PARLEY, *arguments, "--data", f"{cls.folder}/data"], input=given, text=True, capture_output=True,
                                  timeout=60)
            assert done.returncode == 0, (arguments, done.stderr)
            return done.stdout.strip()

        say("user", "create", name, "--role", role, "--password-stdin", given=PASSWORD)
        return say("token", name, "--scope", "admin")

    @classmethod
    def sign_in(cls, name, **more):
        status, headers, answer = cls.client.ask(
            "POST", "/api/v1/sessions", {"name": name, "password": PASSWORD, **more}, Origin=ORIGIN)
        assert status == 201, answer
        return answer.get("token") or "; ".join(it.split(";")[0] for it in headers.get_all("Set-Cookie"))

    @classmethod
    def ask(cls, method, path, body=None, user="ada", **more):
        """The JSON of a successful request of a user, with a token of its own."""
        status, _, answer = cls.client.ask(method, f"/api/v1{path}", body, cls.tokens[user], **more)
        assert status < 300, f"{user} {method} {path}: {status} {answer}"
        return answer

    @classmethod
    def make_credentials(cls):
        created, cookies = {"name": "t"}, {}
        for who in CREDENTIALS:
            if who.user == "dice":
                who.token = cls.things.dice_token
            elif who.kind in ("session", "ended") and who.name != "token of a banned user":
                who.token = cls.sign_in(who.user)
            elif who.kind == "token":
                more = {"forums": [cls.things.forum]} if who.limited else {"password": PASSWORD} if who.scope == "admin" else {}
                who.token = cls.ask("POST", "/me/tokens", created | {"scope": who.scope} | more, who.user)["token"]
            elif who.kind == "app":
                cookies[who.user] = cookies.get(who.user) or cls.sign_in(who.user, cookie=True)
                who.token = cls.connect_app(who, cookies)
            elif who.kind in ("ended cookie", "cookie elsewhere"):
                who.cookie = cls.sign_in(who.user, cookie=True)
            elif who.name == "token of a banned user":
                who.token = cls.ask("POST", "/me/tokens", created | {"scope": "write"}, who.user)["token"]
        cls.ask("DELETE", "/sessions", user="ena")
        cls.ask("PUT", "/users/@ben/ban", {"reason": "Advertising"})
        cls.ask("PUT", "/users/@silas/silence", {"reason": "Advertising"})
        stale = next(who for who in CREDENTIALS if not who.proved)
        user = cls.client.ask("GET", "/api/v1/me", token=stale.token)[2]["id"]
        with closing(sqlite3.connect(f"{cls.folder}/data/parley.db", timeout=30)) as database, database:
            database.execute("update session set proved_at = 1 where user_id = ?", (int(user),))

    @classmethod
    def connect_app(cls, who, cookies):
        """The access token that a user gives an app."""
        verifier = "v" * 43
        challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        limit = f" forum:{cls.things.forum}" if who.limited else ""
        query = urlencode({
            "response_type": "code", "client_id": cls.things.app, "redirect_uri": URI, "scope": who.scope + limit, "state": "s",
            "code_challenge": challenge, "code_challenge_method": "S256"})
        cookie = cookies[who.user]
        page = cls.client.ask("GET", f"/oauth/authorize?{query}", cookie=cookie)[2]
        form = Form(page).fields | {"decision": "allow"}
        status, headers, page = cls.client.ask(
            "POST", "/oauth/authorize", urlencode(form), cookie=cookie, Content_Type="application/x-www-form-urlencoded")
        assert status == 303, page
        code = parse_qs(urlsplit(headers["Location"]).query)["code"][0]
        status, _, answer = cls.client.ask(
            "POST", "/oauth/token", urlencode({
                "grant_type": "authorization_code", "code": code, "client_id": cls.things.app, "redirect_uri": URI,
                "code_verifier": verifier}), Content_Type="application/x-www-form-urlencoded")
        assert status == 200, answer
        return answer["access_token"]

    def test_each_operation_has_the_permissions_of_the_table(self):
        description = json.loads((TOP / "Public" / "openapi.json").read_text())
        operations = {
            f"{method.upper()} {path}": operation for path, item in description["paths"].items()
            for method, operation in item.items() if method in METHODS}
        table = lines("permissions.txt", Line)
        self.assertEqual({line.operation for line in table} ^ set(operations), set(), "operations without a line, and vice versa")
        self.things.descriptions = operations
        wrong = [it for line in table for it in self.check_description(line, operations[line.operation])]
        self.check(table, self.result, wrong)

    def test_each_command_of_a_socket_has_the_permissions_of_the_table(self):
        messages = json.loads((TOP / "Public" / "asyncapi.json").read_text())["components"]["messages"]
        commands = {message["examples"][0]["payload"]["do"] for name, message in messages.items() if name.endswith("Command")}
        table = lines("socket_permissions.txt", SocketLine)
        self.assertEqual({line.path for line in table} ^ commands, set(), "commands without a line, and vice versa")
        self.check(table, self.command_result, [])

    def check(self, table, result, wrong):
        """Compares the results of all lines and credentials with the table."""
        count = 0
        for line in table:
            # Refusals first: they change nothing that the others need.
            for who in sorted(CREDENTIALS, key=lambda who: line.expected(who) == line.passes):
                expected = line.expected(who)
                found = result(line, who)
                count += 1
                if found not in expected:
                    wrong.append(f"{line.text}\n    {who.name}: {found} instead of {', '.join(expected)}")
        self.assertFalse(wrong, "\n" + "\n".join([*wrong, f"{len(wrong)} of {count} differ"]))

    def check_description(self, line, operation):
        """The description says what the table says about scope, proof and sessions."""
        wrong = []
        scopes = {scope for scheme in operation["security"] for scopes in scheme.values() for scope in scopes}
        if line.scope and not any(SCOPES.index(scope) <= SCOPES.index(line.scope) for scope in scopes):
            wrong.append(f"{line.operation}: scope {scopes} in the description, {line.scope} in the table")
        if line.scope is None and {} not in operation["security"]:
            wrong.append(f"{line.operation}: a credential is needed in the description, none in the table")
        if line.conditions & {"proof", "new-proof"} and "step_up_required" not in operation["description"]:
            wrong.append(f"{line.operation}: the description names no proof")
        return wrong

    def command_result(self, line, who):
        """`done`, or the code of the problem: of the command, or of the socket that does not open."""
        self.things.begin(line, who)
        command = {"id": 1, "do": line.path} | json.loads(self.filled(line.body))
        fields = {"Authorization": f"Bearer {who.token}"} if who.token else {"Cookie": who.cookie} if who.cookie else {}
        origin = FOREIGN_ORIGIN if who.kind == "cookie elsewhere" else ORIGIN
        try:
            with connect(f"ws://127.0.0.1:{self.server.port}/api/v1/realtime", additional_headers=fields, origin=origin,
                         open_timeout=60) as socket:
                socket.send(json.dumps(command))
                answer = next(it for it in map(described, iter(lambda: socket.recv(60), None)) if it.get("re") == 1)
        except InvalidStatus as refused:
            return json.loads(refused.response.body)["code"]
        if "problem" in answer:
            return answer["problem"]["code"]
        self.things.use_up()
        return "done"

    def filled(self, text):
        return re.sub(r"\$(\w+)", lambda found: self.things.get(found[1]), text)

    def result(self, line, who):
        """`done`, or the code of the problem."""
        things = self.things
        things.begin(line, who)
        if "after-email" in line.conditions:
            things.email()
        path = re.sub(r"\{\w+=(\w+)\}", lambda found: things.get(found[1]), line.path)
        path = self.filled(path)
        body, fields = None, {"Origin": FOREIGN_ORIGIN} if who.kind == "cookie elsewhere" else {}
        if line.body.startswith("@"):
            body = things.picture_bytes if "picture" in line.body else line.body[1:].encode()
            fields["Content_Type"] = "application/octet-stream"
            if "/uploads" in path:
                fields["Upload_Offset"] = "0"
        elif line.body:
            body = json.loads(self.filled(line.body))
        status, _, answer = self.client.ask(line.method, f"/api/v1{path}", body, who.token, who.cookie, **fields)
        if status < 400:
            things.use_up()
            return "done"
        return answer["code"] if isinstance(answer, dict) and "code" in answer else str(status)


class Things:
    """Things that the requests name. A method is called for each request that needs its thing; those of `new_…` are made anew after
    a successful request."""

    def __init__(self, test):
        self.ask, self.test = test.ask, test
        self.numbers = itertools.count(1)
        self.unused = {}
        self.picture_bytes = picture()
        hall = self.ask("POST", "/forums", {"title": "Hall", "visibility": "public"})
        self.forum, self.room = hall["id"], hall["room_id"]
        self.room_stream = f"conversation:{self.room}"
        dice = self.ask("POST", "/bots", {"name": "dice", "scope": "write", "forums": [self.forum]})
        self.dice, self.dice_token = dice["user"]["id"], dice["token"]
        for user in ("gus", "linus", "silas", "mira", "alma", "olga", "ora", "otto", "odo", "grace", "zoe", "yan", "max", "bea", "amy"):
            self.ask("PUT", f"/forums/{self.forum}/members/@{user}", {"role": "member"})
        self.grace, self.zoe, self.yan, self.max, self.bea, self.amy = (
            self.ask("GET", f"/users/@{name}")["id"] for name in ("grace", "zoe", "yan", "max", "bea", "amy"))
        self.message = self.post("hello")
        self.topic = self.add_topic()
        self.open_forum = self.ask("POST", "/forums", {"title": "Lounge", "visibility": "public"})["id"]
        self.private_forum = self.ask("POST", "/forums", {"title": "Attic", "visibility": "private"})["id"]
        self.invite = self.ask("POST", "/invites", {}, "grace")["id"]
        self.job = self.ask("DELETE", f"/forums/{self.add_forum()}")["job_id"]
        hook = self.ask("POST", "/webhooks", {"conversation_id": self.room, "name": "Deploys"})
        self.hook = hook["url"].rsplit("/", 1)[1]
        self.webhook = self.ask("POST", "/webhooks", {"conversation_id": self.room, "name": "Builds"})["id"]
        self.another_endpoint, self.another_command = self.add_endpoint("ada"), self.add_command("ada")
        self.app = self.add_app()
        self.secret_app = self.add_app(confidential=True)
        self.group = self.ask("POST", "/groups", {"name": "knitters", "self_chosen": True})["id"]
        self.rule = self.ask("POST", "/moderation-rules", {"name": "Pills", "words": ["pills"], "action": "hold"})["id"]
        self.report = self.ask("POST", "/reports", {"message_id": self.message, "reason": "Spam"}, "zoe")["id"]
        self.removal = self.ask("POST", "/removals", {"author": "@bea", "since": "2026-01-01T00:00:00.000Z"})["id"]
        self.poll = self.add_poll()
        self.buttons = self.post_as_bot("?", buttons=[{"id": "yes", "label": "Yes"}])
        self.file = self.upload("grace")
        self.post("a note", attachments=[self.file])
        walk = {"kind": "group", "title": "Walk", "participants": ["@yan"]}
        self.foreign_group = self.ask("POST", "/conversations", walk, "grace")["id"]
        self.foreign_file = self.upload("grace")
        self.post("a secret", self.foreign_group, attachments=[self.foreign_file])
        feed = self.ask("POST", "/conversations", {"kind": "feed", "readers": {"open_to": "anyone"}}, "grace")["id"]
        self.feed_post = self.post("a post", feed)
        # A silenced user can't write these any more.
        self.of_silenced = [self.post("of old", user="silas") for _ in range(6)]
        self.owned = {}

    def begin(self, line, who):
        self.line, self.who, self.used = line, who, set()
        # The user of the credential, or any other for the callers without one.
        self.user = who.user if who.role and who.user != "dice" else "linus" if who.user == "dice" else "yan"

    def get(self, name):
        if not hasattr(self, name):
            return name
        thing = getattr(self, name)
        if not callable(thing):
            return thing
        if name.startswith(("new_", "removed_", "edited_")):
            self.used.add(name)
            if name not in self.unused:
                self.unused[name] = thing()
            return self.unused[name]
        return thing()

    def use_up(self):
        for name in self.used:
            self.unused.pop(name, None)

    def post(self, text, room=None, user="grace", **more):
        return self.ask("POST", f"/conversations/{room or self.room}/messages", {"text": text, **more}, user)["id"]

    # Values

    def name(self):
        return f"n{next(self.numbers)}"

    def number(self):
        return str(next(self.numbers) % 360)

    def tomorrow(self):
        return (datetime.now(timezone.utc) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%S.000Z")

    def long_text(self):
        return "x" * 1_100

    def unknown(self):
        return "unknown"

    def unknown_code(self):
        return "a" * 64

    def push_keys(self):
        return json.dumps({
            "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "auth": "BTBZMqHH6r4Tts7J_aSIgg"})

    def example(self):
        return json.dumps(self.descriptions[self.line.operation]["requestBody"]["content"]["application/json"]["example"])

    # Values that differ from those of now: a change without effect is none.

    def circle(self):
        return "none" if self.ask("GET", "/settings")["require_second_factor"] == "staff" else "staff"

    def registration(self):
        return json.dumps(not self.ask("GET", "/settings")["app_registration"])

    def role(self):
        return "member" if self.ask("GET", f"/users/{self.max}")["role"] == "moderator" else "moderator"

    def disabled(self):
        return json.dumps(self.ask("GET", f"/users/{self.max}")["state"] == "active")

    # Users and what they own

    def email(self):
        """An address of the user, for which a token is not enough."""
        if self.who.role and self.who.scope == "admin":
            is_enough = self.who.kind == "session" and self.who.proved
            token = self.who.token if is_enough else self.test.sign_in(self.user)
            address = {"address": f"{self.user}@example.org"}
            status, _, answer = self.test.client.ask("PUT", "/api/v1/me/email", address, token)
            assert status == 200, answer

    def new_user(self):
        answer = self.test.client.ask(
            "POST", "/api/v1/users", {"name": f"u{next(self.numbers)}", "password": PASSWORD, "accept_rules": True})[2]
        user = answer["user"]["id"]
        self.ask("PUT", f"/forums/{self.forum}/members/{user}", {"role": "member"})
        return user

    def picture(self):
        return self.upload(None, self.picture_bytes, self.own_token())

    def new_invite(self):
        return self.ask("POST", "/invites", {}, "grace")["id"]

    def upload(self, user, data=b"wool", token=None):
        token = token or self.test.tokens[user]
        answer = self.test.client.ask("POST", "/api/v1/files?name=a", data, token, Content_Type="application/octet-stream")
        assert answer[0] in (200, 201), answer
        return answer[2]["id"]

    def own_token(self):
        """The credential, if it is one that may write: a token of a forum knows its own files alone."""
        may_write = self.who.token and self.who.role and self.who.scope in SCOPES[2:]
        return self.who.token if may_write else self.test.tokens[self.user]

    def own_file(self):
        return self.upload(None, self.picture_bytes, self.own_token())

    def own_upload(self):
        return self.test.client.ask("POST", "/api/v1/uploads", {"name": "film", "size": 5}, self.own_token())[2]["id"]

    # Integrations

    def add_endpoint(self, user):
        return self.ask("POST", "/webhook-endpoints", {"name": "x", "url": "https://example.org/x", "topics": ["me"]}, user)["id"]

    def add_command(self, user):
        return self.ask(
            "POST", "/commands", {"name": self.name(), "bot_id": self.dice, "url": "https://example.org/x"}, user)["id"]

    def of_staff(self, kind, make):
        """A thing of the user, if it is one of the staff."""
        owner = self.user if self.who.role in ROLES["staff"] else "ada"
        if (kind, owner) not in self.owned:
            self.owned[kind, owner] = make(owner)
        return self.owned[kind, owner]

    def endpoint(self):
        return self.of_staff("endpoint", self.add_endpoint)

    def command(self):
        return self.of_staff("command", self.add_command)

    def add_app(self, **more):
        return self.ask(
            "POST", "/apps", {"name": self.name(), "redirect_uris": [URI], "scope": "admin", **more})["id"]

    new_app = add_app

    # Forums, messages and conversations

    def add_forum(self):
        return self.ask("POST", "/forums", {"title": self.name(), "visibility": "public"})["id"]

    new_forum = add_forum

    def add_topic(self):
        return self.ask("POST", f"/forums/{self.forum}/conversations", {"title": "Wool", "text": "?"}, "grace")["id"]

    new_topic = add_topic

    def new_message(self):
        return self.post("hello")

    def own_message(self):
        if self.who.silenced:
            is_deletion = "delete" in (self.line.method.lower(), self.line.path)
            return self.of_silenced.pop() if is_deletion else self.of_silenced[0]
        if self.who.user == "dice":
            return self.post_as_bot("hello")
        return self.post("hello", user=self.user)

    def removed_message(self):
        message = self.post("hello")
        self.ask("POST", f"/messages/{message}/remove", {"reason": "x"})
        return message

    def edited_message(self):
        message = self.post("hello")
        self.ask("PATCH", f"/messages/{message}", {"text": "hello again"}, "grace")
        return message

    def add_poll(self):
        return self.post("Which?", poll={"options": ["wool", "silk"]})

    new_poll = add_poll

    def post_as_bot(self, text, **more):
        path = f"/api/v1/conversations/{self.room}/messages"
        return self.test.client.ask("POST", path, {"text": text, **more}, self.dice_token)[2]["id"]

    def add_group(self):
        user = "dice" if self.who.user == "dice" else self.user
        group = self.ask(
            "POST", "/conversations", {"kind": "group", "title": "Walk", "participants": [f"@{user}"]}, "grace")["id"]
        self.ask("PUT", f"/conversations/{group}/participants/@{user}", {"role": "admin"}, "grace")
        return group

    def own_group(self):
        """A group with the user as one of its admins."""
        if ("group", self.who.user) not in self.owned:
            self.owned["group", self.who.user] = self.add_group()
        return self.owned["group", self.who.user]

    def group_message(self):
        return self.post("hello", self.own_group())
