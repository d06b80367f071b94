"""Passkeys with the virtual authenticator of Chromium: add, sign in by button and by autofill, prove, rename, delete."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from browsing import PASSWORD
from playwright.sync_api import expect
from test_flows import Village

# The algorithm that the page asks for, by its number in COSE.
ALGORITHMS = {"ES256": -7, "EdDSA": -8, "RS256": -257}


class Passkeys(Village):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # A passkey is for a host name.
        cls.origin = f"http://localhost:{cls.server.port}"

    def authenticator(self, page, **more):
        """A virtual authenticator of the page. Returns its session and its id."""
        session = page.context.new_cdp_session(page)
        session.send("WebAuthn.enable", {"enableUI": False})
        made = session.send("WebAuthn.addVirtualAuthenticator", {"options": {
            "protocol": "ctap2", "ctap2Version": "ctap2_1", "transport": "internal", "hasResidentKey": True,
            "hasUserVerification": True, "isUserVerified": True, "automaticPresenceSimulation": True, **more}})
        return session, made["authenticatorId"]

    def credentials(self, session, authenticator):
        return session.send("WebAuthn.getCredentials", {"authenticatorId": authenticator})["credentials"]

    def age_proofs(self):
        """Moves the begin of all sessions back by an hour."""
        with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database, database:
            database.execute("update session set proved_at = proved_at - 3600000")

    def enter(self, name, size="desktop"):
        page = self.page(self.context(size))
        self.open(page, "/sign-in?back=/you/passkeys")
        page.get_by_label("Name").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.get_by_role("heading", name="Passkeys")).to_be_visible()
        return page

    def add(self, page):
        page.get_by_role("main").get_by_role("button", name="Add a passkey").click()
        expect(page.get_by_text("Passkey added.")).to_be_visible()

    def presence(self, session, authenticator, is_there):
        """Whether the user confirms each request at once, also that of the autofill."""
        session.send("WebAuthn.setAutomaticPresenceSimulation", {"authenticatorId": authenticator, "enabled": is_there})

    def without_autofill(self, page):
        """The pages to come offer no passkey beside the name: it would answer before the button is pressed."""
        page.add_init_script("PublicKeyCredential.isConditionalMediationAvailable = async () => false")

    def sign_out(self, page):
        """To the sign-in page, in the tab that has the authenticator."""
        page.context.clear_cookies()
        page.evaluate("localStorage.clear()")
        page.goto(self.origin + "/sign-in?back=/you/passkeys")
        self.settle(page)

    def test_a_member_adds_renames_and_deletes_a_passkey(self):
        page = self.enter("lin", "phone")
        main = page.get_by_role("main")
        expect(main.get_by_text("No passkeys yet")).to_be_visible()
        self.photograph(page, "passkeys-none-390")
        session, key = self.authenticator(page)
        self.add(page)
        row = main.locator(".setting-row")
        expect(row).to_have_count(1)
        expect(row).to_contain_text("Never used")
        (made,) = self.credentials(session, key)
        self.assertEqual((made["rpId"], made["isResidentCredential"]), ("localhost", True))
        self.assert_accessible(page, "passkeys")
        self.assert_fits(page, "passkeys")
        # The device has one already.
        main.get_by_role("button", name="Add a passkey").click()
        expect(page.get_by_text("This device has a passkey for you already.")).to_be_visible()

        row.get_by_role("button", name="Rename").click()
        sheet = page.get_by_role("dialog", name="Rename")
        sheet.get_by_label("Name").fill("Blue phone")
        page.keyboard.press("Enter")
        expect(row).to_contain_text("Blue phone")
        self.photograph(page, "passkeys-390")
        self.age_proofs()
        row.get_by_role("button", name="Delete Blue phone").click()
        sheet = page.get_by_role("dialog", name="Delete this passkey?")
        self.photograph(page, "passkey-delete-390")
        sheet.get_by_role("button", name="Delete").click()

        # The proof by the passkey, in place.
        proof = page.get_by_role("dialog", name="Confirm that it's you")
        expect(proof.get_by_role("button", name="Use a passkey")).to_be_visible()
        self.photograph(page, "passkey-proof-390")
        self.assert_accessible(page, "proof by a passkey")
        proof.get_by_role("button", name="Use a passkey").click()
        expect(main.get_by_text("No passkeys yet")).to_be_visible()
        self.go(page, "/")
        for words in ("Passkey added.", "Passkey deleted."):
            expect(page.get_by_text(words).first).to_be_visible()

    def test_each_algorithm_signs_in_by_autofill_and_by_the_button_and_proves(self):
        for name, number in ALGORITHMS.items():
            with self.subTest(name):
                page = self.enter("grace")
                session, key = self.authenticator(page)
                # The page asks for one algorithm alone.
                page.evaluate("""(number) => {
                    const create = navigator.credentials.create.bind(navigator.credentials);
                    navigator.credentials.create = (options) => {
                        options.publicKey.pubKeyCredParams = [{ type: 'public-key', alg: number }];
                        return create(options);
                    };
                }""", number)
                self.add(page)
                with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database:
                    (made,) = database.execute("select public_key from passkey order by id desc limit 1").fetchone()
                self.assertIn({-7: b"\x03\x26", -8: b"\x03\x27", -257: b"\x03\x39\x01\x00"}[number], made)
                self.presence(session, key, False)
                self.sign_out(page)
                expect(page.get_by_label("Name")).to_be_focused()
                # The autofill takes the passkey without a press of a button.
                self.presence(session, key, True)
                page.reload()
                expect(page.get_by_role("heading", name="Passkeys")).to_be_visible()
                self.without_autofill(page)
                self.sign_out(page)
                page.get_by_role("button", name="Sign in with a passkey").click()
                expect(page.get_by_role("heading", name="Passkeys")).to_be_visible()
                # The proof, which deletes it.
                self.age_proofs()
                main = page.get_by_role("main")
                main.get_by_role("button", name=re.compile("^Delete ")).click()
                page.get_by_role("dialog", name="Delete this passkey?").get_by_role("button", name="Delete").click()
                page.get_by_role("dialog", name="Confirm that it's you").get_by_role("button", name="Use a passkey").click()
                expect(main.get_by_text("No passkeys yet")).to_be_visible()

    def test_the_autofill_of_the_name_signs_in(self):
        page = self.enter("ada")
        session, key = self.authenticator(page)
        self.add(page)
        self.presence(session, key, False)
        self.sign_out(page)
        name = page.get_by_label("Name")
        expect(name).to_have_attribute("autocomplete", "username webauthn")
        expect(name).to_be_focused()
        self.photograph(page, "sign-in-passkey-1440")
        self.assert_accessible(page, "sign-in with a passkey")
        # The user chooses the passkey at once, without a press of a button.
        self.presence(session, key, True)
        page.reload()
        expect(page.get_by_role("heading", name="Passkeys")).to_be_visible()
        expect(page.get_by_role("main").locator(".setting-row")).to_contain_text("Last used")
        self.photograph(page, "passkeys-1440")

    def test_failures_are_told(self):
        page = self.enter("lin")
        session, key = self.authenticator(page)
        self.add(page)
        self.without_autofill(page)
        self.sign_out(page)
        alert = page.get_by_role("alert")
        button = page.get_by_role("button", name="Sign in with a passkey")
        session.send("WebAuthn.setUserVerified", {"authenticatorId": key, "isUserVerified": False})
        button.click()
        expect(alert).to_have_text("No passkey was used. Try again, or use your password.")
        self.photograph(page, "sign-in-passkey-cancelled-1440")
        session.send("WebAuthn.setUserVerified", {"authenticatorId": key, "isUserVerified": True})
        with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database, database:
            database.execute("delete from passkey where user_id in (select id from account where name = 'lin')")
        button.click()
        expect(alert).to_have_text("The site doesn't know this passkey. Use another one, or sign in with your password.")

    def test_a_browser_without_passkeys_gets_the_password_alone(self):
        context = self.context("phone")
        context.add_init_script("delete window.PublicKeyCredential")
        page = self.page(context)
        self.open(page, "/sign-in?back=/you/passkeys")
        expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Sign in with a passkey")).to_have_count(0)
        page.get_by_label("Name").fill("lin")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.get_by_text("This browser can't use passkeys here.")).to_be_visible()
        expect(page.get_by_role("button", name="Add a passkey")).to_have_count(0)
        self.photograph(page, "passkeys-unsupported-390")
