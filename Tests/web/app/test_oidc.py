"""Sign-in at OpenID providers in the app: the buttons, the form of a new user, linked accounts, a proof in a window of its own, a failure.
`oidc-provider-mock` is the provider, and one of the tests where a proof needs the time of the sign-in there."""

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from browsing import PASSWORD, BrowsingTest
from openid_issuer import CLIENT, SECRET, Providers, signed
from playwright.sync_api import expect
from servers import VENV_PYTHON, Server, free_port
from test_flows import Village


class OIDC(Village):
    @classmethod
    def prepare(cls):
        port, mock = free_port(), free_port()
        user = json.dumps({"sub": "wool", "preferred_username": "wooly", "name": "Wooly Mammoth"})
        cls.mock = cls.enterClassContext(Server(
            "web-oidc-mock", VENV_PYTHON, "-m", "oidc_provider_mock", "--port", mock, "--user-claims", user, port=mock))
        cls.providers = cls.enterClassContext(Providers("own"))
        cls.provider = cls.providers["own"]
        cls.provider.answers["authorize"] = cls.authorize
        secret = Path(cls.folder) / "secret"
        secret.write_text(SECRET)
        secret.chmod(0o600)
        cls.listen = f"127.0.0.1:{port}"
        cls.options = (
            f"--public-url=http://127.0.0.1:{port}", f"--oidc=mock={cls.mock.url}", "--oidc-client=mock=any", f"--oidc-secret-file=mock={secret}",
            "--oidc-name=mock=Wool & Co", f"--oidc=own={cls.provider.url}", f"--oidc-client=own={CLIENT}",
            f"--oidc-secret-file=own={secret}", "--oidc-name=own=Own identity")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls("nothing").call("PATCH", "/settings", {"registration": "open"}, cls.tokens["ada"])

    @classmethod
    def authorize(cls, handler):
        """Signs the same user in at once."""
        request = {name: values[0] for name, values in parse_qs(urlsplit(handler.path).query).items()}
        claims = cls.provider.claims(request["nonce"], sub="own-1", preferred_username="owen", auth_time=int(time.time()))
        code = cls.provider.code(request, signed(claims))
        answer = urlencode({"code": code, "state": request["state"], "iss": cls.provider.url})
        handler.send(302, b"", Location=f"{request['redirect_uri']}?{answer}")

    def at_mock(self, page, subject="wool"):
        """Signs in on the page of the mock."""
        expect(page.get_by_role("heading", name="Authorize Client")).to_be_visible()
        page.get_by_role("button", name=subject, exact=True).first.click()

    def look(self, name, path, ready):
        """The page in two sizes, with axe."""
        for size in ("phone", "desktop"):
            page = self.page(self.context(size))
            page.goto(self.origin + path)
            ready(page)
            self.photograph(page, f"oidc-{name}-{size}")
            self.assert_accessible(page, f"oidc-{name}")
            self.assert_fits(page, f"oidc-{name}")

    def test_a_new_user_signs_up_by_the_button_and_comes_back(self):
        self.look("sign-in", "/sign-in", lambda page: expect(page.get_by_role("link", name="Continue with Wool & Co")).to_be_visible())
        page = self.page(self.context("phone"))
        self.open(page, "/sign-in?back=/you/accounts")
        page.get_by_role("link", name="Continue with Wool & Co").click()
        self.at_mock(page)
        expect(page.get_by_role("heading", name="Create account")).to_be_visible()
        expect(page.get_by_label("Username")).to_have_value("wooly")
        expect(page.locator("body")).to_contain_text("You are signed in at Wool & Co as wooly.")
        self.photograph(page, "oidc-sign-up-phone")
        self.assert_accessible(page, "oidc-sign-up")
        self.assert_fits(page, "oidc-sign-up")
        page.set_viewport_size({"width": 1440, "height": 900})
        self.photograph(page, "oidc-sign-up-desktop")
        page.get_by_label("Username").fill("ada")
        page.get_by_label("I accept the rules").check()
        page.get_by_role("button", name="Create account").click()
        expect(page.get_by_role("alert")).to_contain_text("Choose another username")
        page.get_by_label("Username").fill("mammoth")
        page.get_by_label("I accept the rules").check()
        page.get_by_role("button", name="Create account").click()
        row = page.get_by_role("main").locator(".setting-row")
        expect(row).to_contain_text("Wool & Co")
        expect(row).to_contain_text("wooly")
        # The only way to sign in stays.
        row.get_by_role("button", name="Unlink").click()
        page.get_by_role("dialog").get_by_role("button", name="Unlink").click()
        expect(page.get_by_text("This account is your only way to sign in.")).to_be_visible()

        other = self.page(self.context())
        self.open(other, "/sign-in?back=/you/accounts")
        other.get_by_role("link", name="Continue with Wool & Co").click()
        self.at_mock(other)
        expect(other.get_by_role("main").locator(".setting-row")).to_contain_text("wooly")

    def test_a_member_links_and_unlinks_an_account(self):
        page = self.page(self.context("desktop"))
        self.open(page, "/sign-in?back=/you/accounts")
        page.get_by_label("Username").fill("grace")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        main = page.get_by_role("main")
        expect(main.get_by_text("No linked accounts")).to_be_visible()
        main.get_by_role("button", name="Link Wool & Co").click()
        expect(page.get_by_role("heading", name="Authorize Client")).to_be_visible()
        page.locator("input[name=sub]").fill("grace@example.org")
        page.get_by_role("button", name="Authorize", exact=True).click()
        row = main.locator(".setting-row")
        expect(row).to_contain_text("grace@example.org")
        expect(row).to_contain_text("Never used")
        self.photograph(page, "oidc-accounts-desktop")
        self.assert_accessible(page, "oidc-accounts")
        page.set_viewport_size({"width": 390, "height": 844})
        self.assert_fits(page, "oidc-accounts")
        self.photograph(page, "oidc-accounts-phone")
        row.get_by_role("button", name="Unlink").focus()
        page.keyboard.press("Enter")
        page.get_by_role("dialog").get_by_role("button", name="Unlink").click()
        expect(main.get_by_text("No linked accounts")).to_be_visible()

    def test_a_proof_runs_in_a_window_of_its_own(self):
        page = self.page(self.context())
        self.open(page, "/sign-in?back=/you/accounts")
        page.get_by_role("link", name="Continue with Own identity").click()
        page.get_by_label("I accept the rules").check()
        page.get_by_role("button", name="Create account").click()
        main = page.get_by_role("main")
        expect(main.locator(".setting-row")).to_contain_text("owen")
        with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database, database:
            database.execute("update session set proved_at = proved_at - 3600000")
        main.get_by_role("button", name="Link Wool & Co").click()
        dialog = page.get_by_role("dialog", name="Confirm that it's you")
        expect(dialog.get_by_label("Password")).to_have_count(0)
        self.photograph(page, "oidc-proof-desktop")
        self.assert_accessible(page, "oidc-proof")
        with page.context.expect_page() as opened:
            dialog.get_by_role("button", name="Continue with Own identity").click()
        expect(page.get_by_role("heading", name="Authorize Client")).to_be_visible()
        self.eventually(page, True, lambda: opened.value.is_closed())

    def test_the_staff_recovers_a_stolen_account(self):
        with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database, database:
            database.execute(
                "insert into identity (id, user_id, issuer, subject, name, created_at) "
                "select 1, id, ?, 'thief', 'thief@example.org', 1 from account where name = 'lin'", (self.provider.url,))
        page = self.signed_in("ada")
        self.go(page, "/u/lin")
        page.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name="Recover stolen account").click()
        dialog = page.get_by_role("dialog", name="Recover stolen account")
        expect(dialog).to_contain_text("all sessions, tokens and apps end")
        keep = dialog.get_by_label("Linked account that stays")
        expect(keep.get_by_role("option")).to_have_text(["None", "Own identity: thief@example.org"])
        self.photograph(page, "recovery-desktop")
        self.assert_accessible(page, "recovery")
        page.set_viewport_size({"width": 390, "height": 844})
        self.assert_fits(page, "recovery")
        self.photograph(page, "recovery-phone")
        dialog.get_by_role("button", name="Recover", exact=True).focus()
        page.keyboard.press("Enter")
        expect(dialog).to_contain_text("Lin can set a new password with the link.")
        link = dialog.get_by_label("Link").input_value()
        self.assertEqual(self.call("GET", f"/links/{link.rsplit('/', 1)[1]}")["kind"], "reset")
        self.assertFalse(self.call("GET", "/users/@lin/identities", token=self.tokens["ada"])["data"])

    def test_a_failure_has_a_way_back(self):
        page = self.page(self.context("phone"))
        page.goto(self.origin + "/oidc/mock?back=/forums")
        page.get_by_role("button", name="Deny").click()
        expect(page.get_by_role("heading", name="Sign-in failed")).to_be_visible()
        expect(page.locator("body")).to_contain_text("request ID")
        self.photograph(page, "oidc-failed-phone")
        self.assert_accessible(page, "oidc-failed")
        self.assert_fits(page, "oidc-failed")
        page.set_viewport_size({"width": 1440, "height": 900})
        self.photograph(page, "oidc-failed-desktop")
        page.get_by_role("link", name="Try again").click()
        expect(page.get_by_role("link", name="Continue with Wool & Co")).to_be_visible()


class WithoutPasswords(BrowsingTest):
    @classmethod
    def prepare(cls):
        port = free_port()
        cls.listen = f"127.0.0.1:{port}"
        cls.options = (
            f"--public-url=http://127.0.0.1:{port}", "--oidc=work=https://id.example.org", "--oidc-client=work=parley",
            "--oidc-name=work=Wool & Co", "--password-sign-in=off")

    def test_the_sign_in_page_has_the_providers_alone(self):
        page = self.page(self.context("phone"))
        self.open(page, "/sign-in")
        expect(page.get_by_role("link", name="Continue with Wool & Co")).to_have_attribute("href", "/oidc/work?back=%2F")
        expect(page.get_by_label("Password")).to_have_count(0)
        expect(page.get_by_role("link", name="Create account")).to_have_count(0)
        self.photograph(page, "oidc-alone-phone")
        self.assert_accessible(page, "oidc-alone")
        self.assert_fits(page, "oidc-alone")
