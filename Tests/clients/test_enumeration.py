"""Names can't be enumerated: sign-in, password resets, passkeys, codes and confirmations answer alike for each kind of name, with the
same work. Passkeys are those of Yubico's `fido2`, codes those of `pyotp`. No time is compared."""

import json
import os
import re
import sqlite3
import subprocess
import time
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import pyotp
from cryptography.hazmat.primitives.asymmetric import ec
from openid_issuer import CLIENT, SECRET, Providers, parameters, signed
from prometheus_client.parser import text_string_to_metric_families
from servers import PARLEY, VENV_PYTHON, Server, free_port
from serving import ServingTest, parley
from test_passkeys import HOST, ORIGIN, PASSWORD, Authenticator

HERE = Path(__file__).parent
# A second factor, a passkey, neither; banned; imported, without a password; no such user. `robo` is a bot.
NAMES = ["codes", "keys", "plain", "banned", "imported", "nobody.here", "robo"]
UNLIMITED = [f"--rate-{name}={1_000_000}" for kind in ("login", "guessing") for name in (kind, f"{kind}-burst")]
# Fields that differ between two requests of one client: the clock and counters.
VARYING = {"date", "x-request-id", "ratelimit-remaining", "ratelimit-reset"}


class Enumeration(ServingTest):
    part = "doors"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        receiving = free_port()
        receiver = Server("enumeration-mail", VENV_PYTHON, HERE / "mail_server.py", receiving, f"{cls.folder}/mail", "plain",
                          port=receiving)
        cls.addClassCleanup(receiver.kill)
        cls.provider = cls.enterClassContext(Providers("work"))["work"]
        secret = Path(cls.folder) / "secret"
        secret.write_text(SECRET + "\n")
        secret.chmod(0o600)
        cls.server = cls.enterClassContext(cls.start(*parley(
            cls.folder, *UNLIMITED, f"--oidc=work={cls.provider.url}", f"--oidc-client=work={CLIENT}",
            f"--oidc-secret-file=work={secret}", "--public-url", ORIGIN, "--smtp-url", f"smtp://127.0.0.1:{receiving}",
            "--metrics-listen", "127.0.0.1:0")))
        cls.metrics = re.search(r"^metrics on (\S+)$", cls.server.output(), re.MULTILINE)[1]
        # Another user with a second factor, to compare with.
        users = [*NAMES[:5], "codes2"]
        for name, role in [("ada", "owner")] + [(name, "member") for name in users]:
            subprocess.run([PARLEY, "user", "create", name, "--role", role, "--password-stdin", "--data", f"{cls.folder}/data"],
                           input=PASSWORD, text=True, capture_output=True, check=True, timeout=60)
        cls.sessions = {}
        for name in ["ada", *users]:
            cls.sessions[name] = cls.sign_in(name)
        cls.done("POST", "/bots", {"name": "robo", "scope": "read"}, "ada")
        cls.done("PATCH", "/settings", {"registration": "open"}, "ada")
        for name in ("codes", "codes2"):
            setup = cls.done("POST", "/me/second-factor", None, name)
            cls.done("PUT", "/me/second-factor", {"code": pyotp.TOTP(setup["secret"]).now(), "keep_sessions": True}, name)
        cls.passkeys = {}
        for name in ("keys", "banned"):
            cls.passkeys[name] = Authenticator(ec.generate_private_key(ec.SECP256R1()))
            made = cls.passkeys[name].make(cls.done("POST", "/me/passkeys/options", None, name))
            cls.done("POST", "/me/passkeys", {"name": "Key", "credential": dict(made)}, name)
        cls.ids = {name: cls.done("GET", f"/users/@{name}", None, "ada")["id"] for name in NAMES if name != "nobody.here"}
        cls.ids["nobody.here"] = "999999"
        cls.done("PUT", "/users/@banned/ban", {"reason": "Advertising"}, "ada")
        with closing(sqlite3.connect(f"{cls.folder}/data/parley.db", timeout=30)) as database, database:
            database.execute("update account set imported = 1, password = null where name = 'imported'")

    @classmethod
    def ask(cls, method, path, body=None, token=None):
        """The status, the fields and the bytes of an answer."""
        fields = {"Host": HOST} | ({"Authorization": f"Bearer {token}"} if token else {})
        if body is not None:
            body, fields["Content-Type"] = json.dumps(body), "application/json"
        with closing(HTTPConnection("127.0.0.1", cls.server.port, timeout=30)) as line:
            line.request(method, f"/api/v1{path}", body, fields)
            answer = line.getresponse()
            return answer.status, answer.getheaders(), answer.read()

    @classmethod
    def done(cls, method, path, body, user):
        status, _, data = cls.ask(method, path, body, cls.sessions.get(user))
        assert status < 300, (path, status, data)
        return json.loads(data or b"null")

    @classmethod
    def sign_in(cls, name):
        return cls.done("POST", "/sessions", {"name": name, "password": PASSWORD}, None)["token"]

    def hashes(self):
        """The number of passwords that were hashed."""
        with urlopen(self.metrics, timeout=20) as response:
            families = list(text_string_to_metric_families(response.read().decode()))
        return next(it.samples[0].value for it in families if it.name == "parley_password_hashes")

    def check_alike(self, hashes, status, code, requests):
        """The answers to these requests have equal bytes, and each takes so many hashes. Returns the bodies."""
        seen, bodies = {}, []
        for name, request in requests:
            before = self.hashes()
            found, fields, data = self.ask(*request)
            self.assertEqual(self.hashes() - before, hashes, name)
            bodies.append(data)
            fields = [(field, value) for field, value in fields if field.lower() not in VARYING]
            # The number of the request, and nothing else, may differ.
            data = re.sub(rb'"request":"[^"]*"', b"", data)
            seen.setdefault((found, str(fields), data), []).append(name)
        self.assertEqual(len(seen), 1, seen)
        (found, _, data), = seen
        self.assertEqual(found, status, data)
        if code:
            body = json.loads(data.replace(b",,", b",").replace(b",}", b"}").replace(b"{,", b"{"))
            self.assertIn(code, [body["code"], *(it["code"] for it in body.get("errors", []))])
        return bodies

    def test_a_wrong_password(self):
        for password in ("a guess", "", "x" * 2_000):
            # A password that is too long for any user is not hashed.
            self.check_alike(int(len(password) < 1_000), 401, "wrong_credentials", [
                (name, ("POST", "/sessions", {"name": name, "password": password})) for name in NAMES])

    def test_a_password_reset(self):
        self.check_alike(0, 202, None, [(name, ("POST", "/password-resets", {"login": name})) for name in NAMES])
        self.check_alike(0, 202, None, [
            (name, ("POST", "/password-resets", {"login": f"{name}@example.org"})) for name in NAMES])

    def test_the_options_of_passkeys(self):
        # They take no name. A client that sends one learns nothing from it.
        bodies = self.check_options([(name, ("POST", "/sessions/passkey/options")) for name in NAMES])
        self.assertEqual({options["allowCredentials"] == [] for options in bodies}, {True})
        self.check_alike(0, 400, "unknown_field", [(name, ("POST", f"/sessions/passkey/options?name={name}")) for name in NAMES])

    def check_options(self, requests):
        """The answers differ in their challenges alone. Returns them."""
        seen, found = set(), []
        for name, request in requests:
            before = self.hashes()
            status, fields, data = self.ask(*request)
            self.assertEqual((status, self.hashes() - before), (200, 0), name)
            options = json.loads(data)
            found.append(dict(options))
            challenge = options["challenge"].encode()
            fields = [(field, value) for field, value in fields if field.lower() not in VARYING]
            seen.add((str(fields), data.replace(challenge, b"")))
        self.assertEqual(len(seen), 1, seen)
        return found

    def passkey(self, authenticator, user):
        """The body of a sign-in with a passkey of a user."""
        options = json.loads(self.ask("POST", "/sessions/passkey/options")[2])
        authenticator.handle = user.encode()
        return {"credential": dict(authenticator.sign(options))}

    def test_an_unknown_passkey(self):
        requests = []
        for name in NAMES:
            unknown = Authenticator(ec.generate_private_key(ec.SECP256R1()))
            requests.append((name, ("POST", "/sessions/passkey", self.passkey(unknown, self.ids[name]))))
        self.check_alike(0, 400, "passkey_unknown", requests)

    def test_a_wrong_code(self):
        # A challenge that the server has not signed, as for the user and the end that it names.
        end = 4_000_000_000_000
        self.check_alike(0, 400, "unknown", [
            (name, ("POST", "/sessions/second-factor", {"challenge": f"{self.ids[name]}.{end}.{'0' * 64}", "code": "123456"}))
            for name in NAMES])

    def test_the_challenge_of_a_code(self):
        # The password is right or wrong. Without it a user with a second factor answers like all others.
        self.check_alike(1, 401, "wrong_credentials", [
            (name, ("POST", "/sessions", {"name": name, "password": "a guess", "device": "Phone"})) for name in NAMES])
        # Challenges of users with a second factor differ in their ids alone, and take one hash, as each sign-in does.
        forms = set()
        for name in ("codes", "codes2"):
            before = self.hashes()
            status, fields, data = self.ask("POST", "/sessions", {"name": name, "password": PASSWORD})
            self.assertEqual((status, self.hashes() - before), (403, 1), name)
            body = json.loads(data)
            challenge = body["params"].pop("challenge")
            self.assertRegex(challenge, r"^\d+\.\d+\.\w+$")
            body.pop("request", None)
            fields = [(field, value) for field, value in fields if field.lower() not in VARYING]
            forms.add(re.sub(r"\d+", "0", json.dumps(body)) + str([(k, v) for k, v in fields if k.lower() != "content-length"]))
        self.assertEqual(len(forms), 1, forms)
        # A wrong code of both, with a challenge of the server.
        requests = []
        for name in ("codes", "codes2"):
            challenge = json.loads(self.ask("POST", "/sessions", {"name": name, "password": PASSWORD})[2])["params"]["challenge"]
            requests.append((name, ("POST", "/sessions/second-factor", {"challenge": challenge, "code": "AAAA-AAAA-AAAA-AAAA"})))
        self.check_alike(0, 400, "invalid", requests)

    def page(self, path, cookie=""):
        """The status, the fields and the text of a page of the site."""
        with closing(HTTPConnection("127.0.0.1", self.server.port, timeout=30)) as line:
            line.request("GET", path, headers={"Host": HOST, "Cookie": cookie})
            answer = line.getresponse()
            return answer.status, answer.headers, answer.read().decode()

    def answer_of_provider(self, **claims):
        """The answer to a user of the provider after the sign-in there."""
        _, fields, _ = self.page("/oidc/work")
        request = parameters(fields["Location"])
        token = signed(self.provider.claims(request["nonce"], **claims))
        query = urlencode({"code": self.provider.code(request, token), "state": request["state"], "iss": self.provider.url})
        status, fields, text = self.page(f"/oidc/work/callback?{query}", self.cookies(fields))
        return status, fields, text

    def cookies(self, fields):
        return "; ".join(it.split(";")[0] for it in fields.get_all("Set-Cookie") or [])

    def test_an_account_at_a_provider_with_the_address_of_a_user(self):
        # An address links nothing: the answer is that to any new user, whether or not a user here has it.
        seen = set()
        for name in NAMES:
            before = self.hashes()
            address = f"{name}@example.org"
            status, fields, text = self.answer_of_provider(sub=f"of {name}", email=address, email_verified=True)
            self.assertEqual((status, fields["Location"]), (303, "/oidc/work/sign-up"), text)
            names = [(field, value) for field, value in fields.items() if field.lower() not in VARYING | {"set-cookie"}]
            cookies = [re.sub(r"=[^;]+", "=", it, count=1) for it in fields.get_all("Set-Cookie")]
            shown, fields, page = self.page("/oidc/work/sign-up", self.cookies(fields))
            self.assertEqual((shown, self.hashes() - before), (200, 0), name)
            self.assertIn(address, page)
            # The form suggests the name in the address, whether or not it is free.
            page = page.replace(address, "address").replace(f'value="{name}"', 'value="name"')
            seen.add((text, str(names), str(cookies), page))
        self.assertEqual(len(seen), 1, seen)

    def test_a_confirmation_of_an_address(self):
        for name in ("codes", "keys"):
            self.done("PUT", "/me/email", {"address": f"{name}@example.org"}, name)
        codes = self.mailed_codes(2)
        # The links of other users, and one that never was.
        self.check_alike(0, 404, "not_found", [
            (name, ("POST", "/email-confirmations", {"code": code}, self.sessions["plain"]))
            for name, code in [*codes.items(), ("nobody.here", os.urandom(32).hex())]])
        self.done("POST", "/email-confirmations", {"code": codes["keys"]}, "keys")
        # An address that another user has confirmed, one that waits for another user, and a free one.
        answers = [self.done("PUT", "/me/email", {"address": f"{name}@example.org"}, "plain") for name in ("keys", "codes", "free")]
        self.assertEqual(answers, [
            {"address": None, "pending": f"{name}@example.org", "stopped_at": None} for name in ("keys", "codes", "free")])

    def mailed_codes(self, count):
        """The codes of the links that confirm addresses, by the name in the address."""
        path, deadline = Path(self.folder) / "mail", time.monotonic() + 60
        while True:
            lines = path.read_text().split("\n")[:-1] if path.exists() else []
            found = [(json.loads(line)["to"][0].split("@")[0], re.search(r"/email/([0-9a-f]{64})", line)) for line in lines]
            codes = {name: code[1] for name, code in found if code}
            if len(codes) >= count:
                return codes
            self.assertLess(time.monotonic(), deadline, lines)
            time.sleep(0.05)
