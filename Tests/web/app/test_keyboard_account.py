"""The pages of notifications and of sign-in by keyboard alone."""

import base64
import hashlib
import sqlite3
import threading
import time
from contextlib import closing
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import test_apps
import test_keyboard
import test_passkeys
from playwright.sync_api import expect
from servers import free_port
from test_flows import Village

ISSUER = "https://id.example.org"


class SettingsByKeyboard(Village):
    """A site with an OpenID provider, and a host name for passkeys."""

    reach, press = test_keyboard.Keyboard.reach, test_keyboard.Keyboard.press
    authenticator = test_passkeys.Passkeys.authenticator

    @classmethod
    def prepare(cls):
        port = free_port()
        cls.listen = f"127.0.0.1:{port}"
        secret = Path(cls.folder) / "secret"
        secret.write_text("needles\n")
        secret.chmod(0o600)
        cls.options = (
            f"--public-url=http://localhost:{port}", f"--oidc=work={ISSUER}", "--oidc-client=work=parley", "--oidc-name=work=Wool & Co",
            f"--oidc-secret-file=work={secret}")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.origin = f"http://localhost:{cls.server.port}"

    def change_database(self, statement, *values):
        with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database, database:
            database.execute(statement, values)

    def at(self, name, path, anew=False):
        page = self.signed_in(name, anew=anew)
        self.open(page, path)
        return page

    def confirmed(self, page, title, name):
        """Answers the question in the dialog."""
        expect(page.get_by_role("dialog", name=title)).to_be_visible()
        self.press(page, name)
        expect(page.get_by_role("dialog")).to_have_count(0)

    def stored(self):
        return self.call("GET", "/me/notifications", token=self.tokens["grace"])

    def test_notifications(self):
        page = self.at("grace", "/you/notifications")
        self.reach(page, "Pause all notifications")
        page.keyboard.press("Space")
        self.eventually(page, True, lambda: self.stored()["paused"])
        page.keyboard.press("Space")
        self.eventually(page, False, lambda: self.stored()["paused"])
        self.reach(page, "Snooze")
        page.keyboard.press("ArrowDown")
        self.eventually(page, True, lambda: self.stored()["snoozed_until"] is not None)
        self.reach(page, "Mentions")
        page.keyboard.press("Space")
        self.eventually(page, False, lambda: self.stored()["push"]["mention"])
        self.reach(page, "Quiet hours")
        page.keyboard.press("Space")
        self.eventually(page, True, lambda: self.stored()["quiet_hours"] is not None)
        self.reach(page, "Sunday")
        page.keyboard.press("Space")
        self.eventually(page, 6, lambda: len(self.stored()["quiet_hours"]["days"]))

    def test_passkeys(self):
        page = self.at("lin", "/you/passkeys", anew=True)
        self.authenticator(page)
        main = page.get_by_role("main")
        self.press(page, "Add a passkey")
        expect(page.get_by_text("Passkey added.")).to_be_visible()
        self.press(page, "Rename")
        expect(page.get_by_role("dialog", name="Rename").get_by_label("Name")).to_be_focused()
        page.keyboard.press("Control+a")
        page.keyboard.type("Blue phone")
        page.keyboard.press("Enter")
        expect(main.locator(".setting-row")).to_contain_text("Blue phone")
        self.press(page, "Delete Blue phone")
        self.confirmed(page, "Delete this passkey?", "Delete$")
        expect(main.get_by_text("No passkeys yet")).to_be_visible()

    def test_linked_accounts(self):
        user = self.call("GET", "/users/@lin", token=self.tokens["ada"])["id"]
        self.change_database(
            "insert into identity (id, user_id, issuer, subject, name, created_at) values (1, ?, ?, 's', 'lin@id.example.org', ?)",
            int(user), ISSUER, int(time.time() * 1_000))
        page = self.at("lin", "/you/accounts", anew=True)
        self.reach(page, "Link Wool & Co")
        self.press(page, "Unlink Wool & Co")
        self.confirmed(page, "Unlink Wool & Co?", "Unlink$")
        expect(page.get_by_role("main").get_by_role("button", name="Unlink Wool & Co")).to_have_count(0)
        self.assertEqual(self.call("GET", f"/users/{user}/identities", token=self.tokens["ada"])["data"], [])

    def test_sign_ins(self):
        page = self.at("lin", "/you/signins", anew=True)
        thief = self.context("desktop").request
        body = {"name": "lin", "password": test_passkeys.PASSWORD, "device": "stolen phone"}
        token = thief.post(f"{self.origin}/api/v1/sessions", data=body).json()["token"]
        self.open(page, "/you/signins")
        self.press(page, "This wasn't me")
        expect(page).to_have_url(f"{self.origin}/you/password?after=theft")
        self.reach(page, "New password")
        answer = thief.get(f"{self.origin}/api/v1/me", headers={"Authorization": f"Bearer {token}"})
        self.assertEqual(answer.status, 401)

    def test_connected_apps(self):
        program = ThreadingHTTPServer(("127.0.0.1", 0), test_apps.Program)
        threading.Thread(target=program.serve_forever, daemon=True).start()
        self.addCleanup(program.server_close)
        self.addCleanup(program.shutdown)
        uri = f"http://127.0.0.1:{program.server_port}/callback"
        app = self.call("POST", "/apps", {"name": "Ferry", "redirect_uris": ["http://127.0.0.1/callback"], "scope": "read"}, self.tokens["ada"])["id"]
        page = self.signed_in("lin", anew=True)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(b"v" * 43).digest()).rstrip(b"=").decode()
        query = urlencode({
            "response_type": "code", "client_id": app, "redirect_uri": uri, "scope": "read", "state": "s", "code_challenge": challenge,
            "code_challenge_method": "S256"})
        page.goto(f"{self.origin}/oauth/authorize?{query}")
        self.press(page, "Allow")
        expect(page).to_have_title("Ferry")
        # The app redeems its code: then it is connected.
        form = {
            "grant_type": "authorization_code", "client_id": app, "redirect_uri": uri, "code_verifier": "v" * 43,
            "code": parse_qs(urlsplit(page.url).query)["code"][0]}
        self.assertEqual(page.request.post(f"{self.origin}/oauth/token", form=form).status, 200)
        self.open(page, "/you/apps")
        self.press(page, "Disconnect Ferry")
        self.confirmed(page, "Disconnect Ferry?", "Disconnect$")
        expect(page.get_by_text("No connected apps")).to_be_visible()
