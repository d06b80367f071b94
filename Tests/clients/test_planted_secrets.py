"""Secrets are nowhere but with their users: not in the log, the database, its write-ahead log, a backup, an export, `/metrics`, and the
arguments and environments of processes."""

import base64
import json
import os
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from hashlib import sha256
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pyotp
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from test_mail import Mailing
from test_oauth import Form

ORIGIN = "https://wool.example"
URI = "https://ferry.example/callback"
PASSWORD = "a purl of merino 7"
NEXT_PASSWORD = "a knit of alpaca 8"


class PlantedSecrets(Mailing):
    part = "doors"
    mode = "starttls"
    # A word of its own, which no log has for another reason.
    smtp_password = "the postman knits 9"
    client_secret = "the porter spins 10"

    def flags(self):
        for name, text in (("smtp-password", self.smtp_password), ("oidc-work", self.client_secret)):
            file = Path(self.folder) / name
            file.write_text(text + "\n")
            file.chmod(0o600)
        secret = Path(self.folder) / "smtp-password"
        return [
            "--oidc", "work=https://id.wool.example", "--oidc-client", "work=parley",
            "--oidc-secret-file", f"work={self.folder}/oidc-work",
            "--smtp-url", f"smtp://forum%40example.org@localhost:{self.receiving}", "--smtp-password-file", str(secret),
            "--smtp-ca", self.certificate, "--mail-from", "forum@example.org", "--metrics-listen", "127.0.0.1:0",
            "--log-addresses", "full"]

    def request(self, method, path, body=None, token=None, **fields):
        """The status, the fields and the text of an answer."""
        fields = {name.replace("_", "-"): value for name, value in fields.items()}
        if token:
            fields["Authorization"] = f"Bearer {token}"
        if isinstance(body, dict):
            body, fields["Content-Type"] = json.dumps(body), "application/json"
        with closing(HTTPConnection("127.0.0.1", self.daemon.port, timeout=30)) as line:
            line.request(method, path, body, fields)
            answer = line.getresponse()
            return answer.status, answer.headers, answer.read().decode(errors="replace")

    def done(self, method, path, body=None, token=None, **fields):
        status, _, text = self.request(method, f"/api/v1{path}", body, token, **fields)
        self.assertLess(status, 400, (path, text))
        return json.loads(text or "null")

    def plant(self):
        """Makes and uses each kind of secret. Returns them by name: texts, and bytes for those that have another form."""
        planted = {"password of the mail server": self.smtp_password, "client secret of an OpenID provider": self.client_secret}
        # The provider can't be reached.
        self.assertEqual(self.request("GET", "/oidc/work")[0], 503)
        owner = self.sessions["ada"]
        invite = self.done("POST", "/invites", {"max_uses": 2}, owner)["code"]
        planted["invite code"] = invite
        self.request("GET", f"/api/v1/links/{invite}")
        self.request("GET", f"/invite/{invite}")
        user = self.done("POST", "/users", {"name": "eve", "password": PASSWORD, "invite": invite})
        planted |= {"password": PASSWORD, "session": user["token"]}
        status, headers, _ = self.request(
            "POST", "/api/v1/sessions", {"name": "eve", "password": PASSWORD, "cookie": True}, Origin=ORIGIN)
        self.assertEqual(status, 201)
        cookies = [it.split(";")[0] for it in headers.get_all("Set-Cookie")]
        for cookie in cookies:
            name, value = cookie.split("=", 1)
            planted[f"cookie {name.removeprefix('__Host-')}"] = value
        self.cookie, session = "; ".join(cookies), user["token"]
        # A guess of the password that is the one of another site.
        self.request("POST", "/api/v1/sessions", {"name": "eve", "password": NEXT_PASSWORD})
        token = self.done("POST", "/me/tokens", {"name": "t", "scope": "write"}, session)["token"]
        planted["token"] = token
        self.plant_webhooks(planted, owner, token)
        self.plant_app(planted, owner)
        self.plant_file_link(planted, token)
        # The reset of a password by mail, and by staff.
        self.done("PUT", "/me/email", {"address": "eve@example.org"}, session)
        confirm = self.code(self.received(1)[0], "email")
        planted["confirmation link"] = confirm
        self.done("POST", "/email-confirmations", {"code": confirm}, session)
        self.done("POST", "/password-resets", {"login": "eve"})
        planted["mailed reset link"] = self.code(self.received(2)[1], "reset")
        planted["reset link"] = self.done("POST", "/users/@eve/reset", None, owner)["code"]
        for code in (planted["mailed reset link"], planted["reset link"]):
            self.request("GET", f"/reset/{code}")
            self.request("GET", f"/api/v1/links/{code}")
            self.request("DELETE", f"/api/v1/links/{code}")
            self.request("GET", f"/api/v1/links/{code}/more?code={code}")
        session = self.done("POST", f"/links/{planted['reset link']}", {"password": NEXT_PASSWORD})["token"]
        planted["new password"] = NEXT_PASSWORD
        self.plant_second_factor(planted, session)
        return planted

    def plant_webhooks(self, planted, owner, token):
        room = self.done("POST", "/forums", {"title": "Knitting"}, owner)["room_id"]
        hook = self.done("POST", "/webhooks", {"conversation_id": room, "name": "Builds"}, owner)["url"].rsplit("/", 1)[1]
        planted["webhook"] = hook
        self.assertEqual(self.request("POST", f"/api/v1/hooks/{hook}", {"text": "built"})[0], 200)
        for path in (f"/api/v1/hooks/{hook}/github", f"/hooks/{hook}", f"/api/v1/hooks/{hook}?format=none"):
            self.assertGreaterEqual(self.request("POST", path, {"text": "built"})[0], 400)
        endpoint = self.done(
            "POST", "/webhook-endpoints", {"name": "x", "url": "https://example.org/x", "topics": ["me"]}, owner)
        planted["secret of an outgoing webhook"] = endpoint["secret"]
        planted["its bytes"] = base64.b64decode(endpoint["secret"].removeprefix("whsec_"))
        # A token in a wrong place.
        self.request("GET", "/api/v1/realtime", Sec_WebSocket_Protocol=f"parley.token.{token}")
        self.request("GET", f"/api/v1/forums?token={token}")
        self.request("GET", "/api/v1/forums", Authorization=f"Basic {token}")
        self.request("GET", "/", Referer=f"{ORIGIN}/invite/{planted['invite code']}")

    def plant_app(self, planted, owner):
        app = self.done(
            "POST", "/apps", {"name": "Ferry", "redirect_uris": [URI], "scope": "read", "confidential": True}, owner)
        planted["secret of an app"] = app["secret"]
        verifier = "v" * 43
        challenge = base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = urlencode({
            "response_type": "code", "client_id": app["id"], "redirect_uri": URI, "scope": "read", "state": "s",
            "code_challenge": challenge, "code_challenge_method": "S256"})
        status, _, page = self.request("GET", f"/oauth/authorize?{query}", Cookie=self.cookie)
        self.assertEqual(status, 200)
        form, kind = urlencode(Form(page).fields | {"decision": "allow"}), "application/x-www-form-urlencoded"
        _, headers, page = self.request("POST", "/oauth/authorize", form, Cookie=self.cookie, Origin=ORIGIN, Content_Type=kind)
        code = parse_qs(urlsplit(headers["Location"]).query)["code"][0]
        planted["OAuth code"] = code
        fields = {"client_id": app["id"], "client_secret": app["secret"]}

        def ask(**more):
            return json.loads(self.request("POST", "/oauth/token", urlencode(fields | more), Content_Type=kind)[2])

        tokens = ask(grant_type="authorization_code", code=code, redirect_uri=URI, code_verifier=verifier)
        planted |= {"OAuth access token": tokens["access_token"], "OAuth refresh token": tokens["refresh_token"]}
        planted["second refresh token"] = ask(grant_type="refresh_token", refresh_token=tokens["refresh_token"])["refresh_token"]
        # Reuse of both.
        self.assertEqual(ask(grant_type="refresh_token", refresh_token=tokens["refresh_token"])["error"], "invalid_grant")
        self.assertIn("error", ask(grant_type="authorization_code", code=code, redirect_uri=URI, code_verifier=verifier))

    def plant_file_link(self, planted, token):
        file = self.done("POST", "/files?name=a.txt", b"wool", token, Content_Type="application/octet-stream")["id"]
        url = self.done("POST", f"/files/{file}/link", None, token)["url"]
        link = parse_qs(urlsplit(url).query)["link"][0]
        planted["file link"] = link
        path = f"/api/v1/files/{file}/content?link={quote(link)}"
        self.assertEqual(self.request("GET", path)[0], 200)
        self.assertEqual(self.request("GET", path + "0")[0], 404)

    def plant_device(self):
        """Subscribes a device whose push service can't be reached. The database has to have these, and so has a backup."""
        point = ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        auth, path = os.urandom(16), os.urandom(24).hex()
        keys = {name: base64.urlsafe_b64encode(it).rstrip(b"=").decode() for name, it in (("p256dh", point), ("auth", auth))}
        body = {"endpoint": f"https://push.wool.example/send/{path}", "keys": keys, "name": "Phone"}
        made = self.done("POST", "/me/push-subscriptions", body, self.sessions["lin"])
        outcome = self.done("POST", f"/me/push-subscriptions/{made['id']}/test", None, self.sessions["lin"])
        self.assertEqual(outcome["outcome"], "unavailable")
        return {"path of a device": path, "keys of a device": auth}

    def plant_second_factor(self, planted, session):
        secret = self.done("POST", "/me/second-factor", None, session)["secret"]
        planted |= {"TOTP secret": secret, "its bytes of TOTP": pyotp.TOTP(secret).byte_secret()}
        codes = self.done("PUT", "/me/second-factor", {"code": pyotp.TOTP(secret).now(), "keep_sessions": True}, session)
        used, unused = codes["recovery_codes"][:2]
        planted |= {"recovery code": used, "the same without hyphens": used.replace("-", ""), "unused recovery code": unused}
        refused = json.loads(self.request("POST", "/api/v1/sessions", {"name": "eve", "password": NEXT_PASSWORD})[2])
        challenge = refused["params"]["challenge"]
        planted["challenge"] = challenge
        self.done("POST", "/sessions/second-factor", {"challenge": challenge, "code": used})
        self.assertEqual(self.request("POST", "/api/v1/sessions/second-factor", {"challenge": challenge, "code": used})[0], 400)

    def keys(self):
        """The keys that only the daemon has: those of `secrets.key` and `site.key`, and that of Web Push, opened with it."""
        text = (Path(self.folder) / "data" / "secrets.key").read_text().strip()
        with closing(sqlite3.connect(f"{self.folder}/data/parley.db", timeout=30)) as database:
            (sealed,), = database.execute("select secret from push_key").fetchall()
        self.assertEqual(sealed[0], 1, "the version of the format")
        vapid = AESGCM(bytes.fromhex(text)).decrypt(sealed[1:13], sealed[13:], b"push key")
        self.assertEqual(len(vapid), 32)
        site = (Path(self.folder) / "data" / "site.key").read_text().strip()
        return {"secrets.key": text, "site.key": site, "bytes of secrets.key": bytes.fromhex(text), "VAPID key": vapid}

    def forms(self, secret):
        """The bytes of a secret, also as programs write them."""
        data = secret.encode() if isinstance(secret, str) else secret
        forms = {data, data.hex().encode(), data.hex().upper().encode(), base64.b64encode(data), base64.urlsafe_b64encode(data)}
        forms |= {form.rstrip(b"=") for form in forms}
        if isinstance(secret, str):
            forms |= {quote(secret, safe="").encode(), json.dumps(secret)[1:-1].encode(), secret.encode("utf-16-le")}
            if re.fullmatch(r"[0-9a-f]{32,}", secret):
                forms.add(bytes.fromhex(secret))
        return forms

    def processes(self):
        """Arguments and environments of the daemon and its children, and what `ps` shows."""
        shown = subprocess.run(["ps", "-eww", "-o", "args"], capture_output=True, check=True).stdout
        lines = [line for line in shown.split(b"\n") if b"parley" in line]
        places = {"ps": b"\n".join(lines)}
        for name in ("cmdline", "environ"):
            places[name] = Path(f"/proc/{self.daemon.pid}/{name}").read_bytes()
        return places

    def test_no_place_has_a_planted_secret(self):
        planted = self.plant()
        planted |= self.keys()
        device = self.plant_device()
        self.assertGreaterEqual(len(planted), 12)
        places = self.processes()
        metrics = re.search(r"^metrics on http://([^/]+)/metrics$", self.daemon.output(), re.MULTILINE)[1]
        with closing(HTTPConnection(metrics, timeout=30)) as line:
            line.request("GET", "/metrics")
            places["metrics"] = line.getresponse().read()
        folder = Path(self.folder)
        self.say("backup", str(folder / "backup.tar"))
        self.say("export", str(folder / "site.zip"))
        self.say("export", str(folder / "eve.zip"), "--user", "eve")
        for archive in [*folder.glob("*.tar"), *folder.glob("*.zip")]:
            shutil.unpack_archive(archive, folder / f"unpacked-{archive.stem}")
        self.read_files(folder, "running", places)
        self.daemon.stop()
        places["log"] = self.daemon.log.read_bytes()
        with closing(sqlite3.connect(f"{self.folder}/data/parley.db")) as database:
            database.execute("pragma wal_checkpoint(truncate)")
        self.read_files(folder, "stopped", places)
        # Other texts are there.
        self.assertIn(b"/api/v1/hooks/", places["log"])
        # A checkpoint may have moved it from the write-ahead log to the database.
        places["running database"] = places["running data/parley.db"] + places["running data/parley.db-wal"]
        for place in ("running database", "stopped data/parley.db", "stopped unpacked-backup/parley.db"):
            self.assertTrue(b"ferry.example" in places[place], place)
        databases = {"running database", "running backup.tar", "stopped backup.tar"}
        self.assertIn(device["keys of a device"], places["stopped data/parley.db"])
        for name, secret in [*planted.items(), *device.items()]:
            for form in self.forms(secret):
                for place, data in places.items():
                    is_wanted = name in device and ("parley.db" in place or place in databases)
                    self.assertFalse(form in data and not is_wanted, f"{place} has the {name} as {form[:8]}…")

    def read_files(self, folder, state, places):
        """Adds the files of the daemon and its copies. A file that ends meanwhile is left out."""
        # Those of the operator, and of the tests: the secrets belong there.
        own = {folder / "smtp-password", folder / "oidc-work", folder / "received", *(folder / "data").glob("*.key")}
        for file in folder.rglob("*"):
            if file.is_file() and file not in own:
                try:
                    places[f"{state} {file.relative_to(folder)}"] = file.read_bytes()
                except FileNotFoundError:
                    pass
