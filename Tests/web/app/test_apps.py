"""Apps that users connect (OAuth): the page on which they allow one, also without a script and by keyboard alone; *Connected apps*; the
administration."""

import base64
import hashlib
import re
import sqlite3
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from browsing import PASSWORD, SIZES
from playwright.sync_api import expect
from test_flows import Village

VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


class Program(BaseHTTPRequestHandler):
    """The app, at a loopback address of the user's device."""

    def do_GET(self):
        body = b"<!doctype html><title>Ferry</title><link rel=icon href='data:,'><h1>Welcome aboard</h1>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Apps(Village):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        cls.program = ThreadingHTTPServer(("127.0.0.1", 0), Program)
        threading.Thread(target=cls.program.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.program.server_close)
        cls.addClassCleanup(cls.program.shutdown)
        cls.callback = f"http://127.0.0.1:{cls.program.server_port}/callback"
        cls.ferry = self.create("Ferry", website="https://ferry.example.org/")

    def create(self, name, **more):
        body = {"name": name, "redirect_uris": ["http://127.0.0.1/callback"], "scope": "admin", **more}
        return self.call("POST", "/apps", body, self.tokens["ada"])["id"]

    def address(self, scope="read", app=None):
        return "/oauth/authorize?" + urlencode({
            "response_type": "code", "client_id": app or self.ferry, "redirect_uri": self.callback, "scope": scope, "state": "s1",
            "code_challenge": CHALLENGE, "code_challenge_method": "S256"})

    def answered(self, page):
        """The parameters of the redirect."""
        expect(page.get_by_role("heading", name="Welcome aboard")).to_be_visible()
        return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}

    def test_the_page_in_all_sizes(self):
        forum = self.garden["id"]
        for size in SIZES:
            for scheme in ("light", "dark"):
                with self.subTest(size=size, scheme=scheme):
                    context = self.context(size, scheme)
                    self.sign_in(context, "grace")
                    page = self.page(context)
                    page.goto(self.origin + self.address("write"))
                    expect(page.get_by_role("heading", level=1)).to_contain_text("Allow Ferry to use your account")
                    expect(page.get_by_role("listitem")).to_have_count(3)
                    expect(page.get_by_role("link", name="https://ferry.example.org/")).to_be_visible()
                    expect(page.locator("body")).to_contain_text("You'll be redirected to 127.0.0.1.")
                    self.photograph(page, f"consent-{size}-{scheme}")
                    self.assert_accessible(page, "consent")
                    self.assert_fits(page, "consent")
                    page.goto(self.origin + self.address(f"read forum:{forum}"))
                    expect(page.locator("body")).to_contain_text(f"Read these forums: {self.garden['title']}")

    def test_without_a_script_and_by_keyboard_alone(self):
        context = self.context(java_script_enabled=False)
        self.sign_in(context, "grace")
        page = self.page(context)
        for decision in ("Allow", "Cancel"):
            page.goto(self.origin + self.address())
            for _ in range(12):
                page.keyboard.press("Tab")
                if page.get_by_role("button", name=decision).and_(page.locator(":focus")).count():
                    break
            expect(page.get_by_role("button", name=decision)).to_be_focused()
            page.keyboard.press("Enter")
            answer = self.answered(page)
            self.assertEqual((answer["state"], answer["iss"]), ("s1", self.origin))
            self.assertEqual("code" in answer, decision == "Allow")
            self.assertEqual(answer.get("error"), None if decision == "Allow" else "access_denied")

    def test_full_access_asks_for_the_password(self):
        context = self.context()
        self.sign_in(context, "grace", anew=True)
        page = self.page(context)
        self.age_proofs()
        page.goto(self.origin + self.address("admin"))
        password = page.get_by_label("Your password")
        password.fill("wrong")
        page.get_by_role("button", name="Allow").click()
        expect(page.get_by_role("alert")).to_have_text("The password or the code is wrong.")
        self.photograph(page, "consent-password")
        self.assert_accessible(page, "consent-password")
        # Cancel needs no password.
        password.fill(PASSWORD)
        page.get_by_role("button", name="Allow").click()
        self.assertIn("code", self.answered(page))

    def test_a_passkey_proves_full_access(self):
        context = self.context()
        origin = f"http://localhost:{self.server.port}"
        page = self.page(context)
        page.goto(origin + "/sign-in?back=/you/passkeys")
        page.get_by_label("Name").fill("grace")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.get_by_role("heading", name="Passkeys")).to_be_visible()
        session = context.new_cdp_session(page)
        session.send("WebAuthn.enable", {"enableUI": False})
        key = session.send("WebAuthn.addVirtualAuthenticator", {"options": {
            "protocol": "ctap2", "ctap2Version": "ctap2_1", "transport": "internal", "hasResidentKey": True,
            "hasUserVerification": True, "isUserVerified": True, "automaticPresenceSimulation": True}})["authenticatorId"]
        self.age_proofs()
        page.goto(origin + self.address("admin"))
        use = page.get_by_role("button", name="Use a passkey")
        expect(page.get_by_label("Your password")).to_be_visible()
        expect(use).to_have_count(0)
        page.goto(origin + "/you/passkeys")
        page.get_by_role("main").get_by_role("button", name="Add a passkey").click()
        dialog = page.get_by_role("dialog", name="Confirm that it's you")
        dialog.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.get_by_text("Passkey added.")).to_be_visible()

        self.age_proofs()
        page.goto(origin + self.address("admin"))
        session.send("WebAuthn.setUserVerified", {"authenticatorId": key, "isUserVerified": False})
        use.click()
        expect(page.get_by_role("alert")).to_have_text("No passkey was used. Try again, or use your password.")
        expect(use).to_be_focused()
        self.photograph(page, "consent-passkey")
        self.assert_accessible(page, "consent-passkey")
        session.send("WebAuthn.setUserVerified", {"authenticatorId": key, "isUserVerified": True})
        page.keyboard.press("Enter")
        expect(page.get_by_label("Your password")).to_have_count(0)
        page.get_by_role("button", name="Allow").click()
        self.assertIn("code", self.answered(page))

        # The page is whole without its script.
        self.age_proofs()
        plain = self.context(java_script_enabled=False)
        plain.add_cookies(context.cookies())
        page = self.page(plain)
        page.goto(origin + self.address("admin"))
        expect(page.get_by_role("button", name="Use a passkey")).to_have_count(0)
        page.get_by_label("Your password").fill(PASSWORD)
        page.get_by_role("button", name="Allow").click()
        self.assertIn("code", self.answered(page))

    def age_proofs(self):
        """The last proof of each session of grace was eleven minutes ago."""
        with closing(sqlite3.connect(f"{self.folder}/data/parley.db", timeout=30)) as database, database:
            database.execute(
                "update session set proved_at = proved_at - 660000 where user_id = (select id from account where name_key = 'grace')")

    def test_a_visitor_signs_in_and_comes_back(self):
        page = self.page(self.context())
        page.goto(self.origin + self.address())
        page.get_by_label("Username").fill("grace")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Allow Ferry")
        page.get_by_role("button", name="Allow").click()
        self.assertIn("code", self.answered(page))

    def test_an_unknown_redirect_uri_is_a_page(self):
        context = self.context("phone")
        self.sign_in(context, "grace")
        page = self.page(context)
        page.goto(self.origin + self.address().replace("callback", "elsewhere"))
        expect(page.get_by_role("heading", name="This app can't be connected")).to_be_visible()
        self.photograph(page, "consent-refused")
        self.assert_accessible(page, "consent-refused")

    def connect(self, name, app, scope):
        context = self.context()
        self.sign_in(context, name)
        page = self.page(context)
        page.goto(self.origin + self.address(scope, app))
        page.get_by_role("button", name="Allow").click()
        answer = page.request.post(f"{self.origin}/oauth/token", form={
            "grant_type": "authorization_code", "code": self.answered(page)["code"], "client_id": app, "code_verifier": VERIFIER})
        self.assertEqual(answer.status, 200, answer.text())
        return answer.json()["access_token"]

    def test_connected_apps(self):
        ferry, boat = self.create("Ferry of Lin"), self.create("Rowing boat")
        token = self.connect("lin", ferry, "write")
        self.connect("lin", boat, f"read forum:{self.garden['id']}")
        for size in SIZES:
            page = self.signed_in("lin", size)
            self.go(page, "/you/apps")
            expect(page.locator(".setting-row", has_text="Ferry of Lin")).to_contain_text("Read and write")
            expect(page.locator(".setting-row", has_text="Rowing boat")).to_contain_text(self.garden["title"])
            self.photograph(page, f"connected-apps-{size}")
            self.assert_accessible(page, "connected-apps")
            self.assert_fits(page, "connected-apps")
        page.get_by_role("button", name="Disconnect Ferry of Lin").focus()
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog", name="Disconnect Ferry of Lin?")
        expect(dialog).to_be_visible()
        dialog.get_by_role("button", name="Disconnect").focus()
        page.keyboard.press("Enter")
        expect(page.locator(".setting-row", has_text="Ferry of Lin")).to_have_count(0)
        expect(page.locator(".setting-row", has_text="Rowing boat")).to_have_count(1)
        answer = page.request.get(f"{self.origin}/api/v1/me", headers={"Authorization": f"Bearer {token}", "Cookie": ""})
        self.assertEqual(answer.status, 401)

    def test_administration(self):
        ada = self.signed_in("ada")
        self.go(ada, "/admin/apps")
        expect(ada.locator(".setting-row", has_text="Ferry").first).to_contain_text("Administer")
        ada.get_by_role("button", name="New app").click()
        dialog = ada.get_by_role("dialog", name="New app")
        dialog.get_by_role("textbox", name="Name").fill("Barge")
        dialog.get_by_role("textbox", name="Redirect URIs").fill("http://barge.example.org/callback")
        create = dialog.get_by_role("button", name="Create app")
        create.click()
        expect(dialog.get_by_role("alert")).to_contain_text("Enter redirect URIs")
        dialog.get_by_role("textbox", name="Redirect URIs").fill("https://barge.example.org/callback\ncom.example.barge:/callback")
        dialog.get_by_text("Confidential client").click()
        self.photograph(ada, "app-form")
        self.assert_accessible(ada, "app-form")
        create.click()
        made = ada.get_by_role("dialog", name="Barge created")
        secret = made.get_by_role("textbox", name="Secret").input_value()
        self.assertRegex(secret, r"\Aparley_app_[A-Za-z0-9]{49}\Z")
        self.assertRegex(made.get_by_role("textbox", name="Client ID").input_value(), r"\A[1-9][0-9]*\Z")
        ada.keyboard.press("Escape")
        row = ada.locator(".setting-row", has_text="Barge")
        self.photograph(ada, "admin-apps")
        self.assert_accessible(ada, "admin-apps")
        self.assert_fits(ada, "admin-apps")

        row.get_by_role("button", name="Edit").click()
        edit = ada.get_by_role("dialog", name="Barge")
        edit.get_by_text("People can connect it").click()
        edit.get_by_role("button", name="Save").click()
        expect(row).to_contain_text("off")
        row.get_by_role("button", name="Edit").click()
        edit.get_by_role("button", name="New secret").click()
        ada.get_by_role("dialog", name="New secret").get_by_role("button", name="New secret").click()
        renewed = ada.get_by_role("textbox", name="Secret")
        expect(renewed).to_have_value(re.compile("parley_app_"))
        self.assertNotEqual(renewed.input_value(), secret)
        ada.keyboard.press("Escape")
        row.get_by_role("button", name="Edit").click()
        edit.get_by_role("button", name="Delete").click()
        ada.get_by_role("dialog", name="Delete Barge?").get_by_role("button", name="Delete").click()
        expect(row).to_have_count(0)

        ada.get_by_text("Apps may register themselves").click()
        self.eventually(ada, True, lambda: self.call("GET", "/settings", token=self.tokens["ada"])["app_registration"])
        grace = self.signed_in("grace")
        self.go(grace, "/admin/apps")
        expect(grace.get_by_text("This page doesn't exist")).to_be_visible()

    def test_in_arabic_on_a_phone(self):
        context = self.context("phone", locale="ar")
        self.sign_in(context, "grace")
        page = self.page(context)
        page.goto(self.origin + self.address("admin"))
        expect(page.get_by_role("button", name="سماح")).to_be_visible()
        self.photograph(page, "consent-ar")
        self.assert_accessible(page, "consent-ar")
        self.assert_fits(page, "consent-ar")

