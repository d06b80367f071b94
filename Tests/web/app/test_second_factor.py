"""Two-step sign-in: set up with a QR code, sign-in with a code, recovery codes, proofs asked in place."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pyotp
from browsing import PASSWORD
from playwright.sync_api import expect
from test_flows import Village


class SecondFactor(Village):
    def change_database(self, statement):
        with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database, database:
            database.execute(statement)

    def age_proofs(self):
        """Moves the begin of all sessions back by an hour."""
        self.change_database("update session set proved_at = proved_at - 3600000")

    def code(self):
        """A code that was not used before."""
        self.step = max(getattr(self, "step", 0) + 1, int(time.time()) // 30)
        while int(time.time()) // 30 < self.step - 1:
            time.sleep(0.2)
        return self.app.at(self.step * 30)

    def wrong_code(self):
        """A code of no time within three hours: the server tells a wrong code from one of another time."""
        valid = {self.app.at(int(time.time()) + 30 * step) for step in range(-360, 361)}
        return next(code for code in map("{:06}".format, range(1_000)) if code not in valid)

    def sign_ins(self, page):
        return page.request.get(f"{self.origin}/api/v1/me/sign-ins").json()["data"]

    def test_a_foreign_device_is_signed_out_and_its_traces_are_listed(self):
        page = self.page(self.context("phone"))
        self.sign_in(page.context, "grace", anew=True)
        thief = self.context("desktop").request
        body = {"name": "grace", "password": PASSWORD, "device": "stolen phone"}
        token = thief.post(f"{self.origin}/api/v1/sessions", data=body).json()["token"]
        headers = {"Authorization": f"Bearer {token}"}
        self.assertEqual(thief.get(f"{self.origin}/api/v1/me", headers=headers).status, 200)
        # A later sign-in stands above, so the link of the mail has to name the session.
        self.sign_in(self.context("desktop"), "grace", anew=True)
        session = next(it["session_id"] for it in self.sign_ins(page) if it["device"] == "stolen phone")
        self.open(page, f"/you/signins?session={session}")
        main = page.get_by_role("main")
        expect(main.get_by_role("heading", name="Was this you?")).to_be_visible()
        self.photograph(page, "chosen-sign-in")
        self.assert_accessible(page, "chosen sign-in")
        main.get_by_role("button", name="This wasn't me").first.click()
        expect(page.get_by_text("That device is signed out. Choose a new password.")).to_be_visible()
        expect(page).to_have_url(f"{self.origin}/you/password?after=theft")
        expect(main.get_by_label("New password")).to_be_visible()
        self.assertEqual(thief.get(f"{self.origin}/api/v1/me", headers=headers).status, 401)
        traces = main.get_by_role("navigation", name="Look for what that device may have added")
        for name in ("Two-step sign-in", "Passkeys", "Connected apps", "API tokens"):
            expect(traces.get_by_role("link", name=name)).to_be_visible()
        expect(traces.get_by_role("link", name="Webhooks")).to_have_count(0)
        self.photograph(page, "foreign-device")
        self.assert_accessible(page, "foreign device")
        self.assert_fits(page, "foreign device")
        traces.get_by_role("link", name="API tokens").click()
        expect(page).to_have_url(f"{self.origin}/you/tokens")
        # The page without a foreign device has no such list.
        self.open(page, "/you/password")
        expect(main.get_by_label("New password")).to_be_visible()
        expect(traces).to_have_count(0)

    def test_a_member_sets_it_up_and_signs_in_with_it(self):
        page = self.page(self.context("phone"))
        self.sign_in(page.context, "lin", anew=True)
        self.open(page, "/you")
        main = page.get_by_role("main")
        page.get_by_role("link", name="Two-step sign-in").click()
        expect(main.get_by_text("Two-step sign-in is off.")).to_be_visible()
        self.assert_accessible(page, "two-step off")
        self.age_proofs()

        # The proof is asked for in place, and the request repeated.
        main.get_by_role("button", name="Set up").click()
        sheet = page.get_by_role("dialog", name="Confirm that it's you")
        sheet.get_by_label("Password").fill("guess")
        sheet.get_by_role("button", name="Continue").click()
        expect(sheet.get_by_role("alert")).to_have_text("The current password is wrong.")
        self.photograph(page, "proof")
        self.assert_accessible(page, "proof")
        sheet.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(main.get_by_role("img", name="QR code of the setup key")).to_be_visible()
        key = main.get_by_role("code").inner_text()
        main.get_by_role("button", name="Copy").click()
        self.assertEqual(page.evaluate("navigator.clipboard.readText()"), key)
        self.app = pyotp.TOTP(key.replace(" ", ""))
        self.photograph(page, "two-step-setup")
        self.assert_accessible(page, "two-step setup")
        self.assert_fits(page, "two-step setup")
        main.get_by_role("textbox", name="Code").fill(self.wrong_code())
        main.get_by_role("button", name="Turn on").click()
        expect(main.get_by_role("alert")).to_have_text("This code is wrong. Check it, or wait for the next one.")
        main.get_by_role("textbox", name="Code").fill(self.code())
        main.get_by_role("button", name="Turn on").click()
        expect(main.get_by_role("heading", name="Recovery codes")).to_be_visible()
        codes = main.get_by_role("listitem").all_inner_texts()
        self.assertEqual(len(codes), 10)
        self.photograph(page, "two-step-codes")
        self.assert_accessible(page, "recovery codes")
        self.assert_fits(page, "recovery codes")
        main.get_by_role("button", name="Copy").click()
        self.assertEqual(page.evaluate("navigator.clipboard.readText()"), "\n".join(codes) + "\n")
        with page.expect_download() as download:
            main.get_by_role("link", name="Download").click()
        self.assertEqual(Path(download.value.path()).read_text().split(), codes)
        main.get_by_role("button", name="I've saved them").click()
        expect(main.get_by_text("10 recovery codes left.")).to_be_visible()

        # The second step of a sign-in, with the keyboard alone.
        other = self.page(self.context())
        self.open(other, "/sign-in?back=/you")
        other.get_by_label("Name").fill("lin")
        other.get_by_label("Password").fill(PASSWORD)
        other.keyboard.press("Enter")
        expect(other.get_by_label("Code")).to_be_focused()
        self.photograph(other, "second-step")
        self.assert_accessible(other, "second step")
        other.keyboard.type(self.wrong_code())
        other.keyboard.press("Enter")
        expect(other.get_by_role("alert")).to_have_text("This code is wrong. Check it, or wait for the next one.")
        other.get_by_label("Code").fill(codes[0])
        other.keyboard.press("Enter")
        expect(other.get_by_role("heading", name="You", exact=True)).to_be_visible()
        self.go(other, "/you/twostep")
        expect(other.get_by_text("9 recovery codes left.")).to_be_visible()
        self.photograph(other, "two-step-on")
        self.assert_accessible(other, "two-step on")
        self.change_database("update recovery_code set used_at = 1")
        self.open(other, "/you/twostep")
        expect(other.get_by_text("No recovery codes are left. Make new ones, so that you can sign in without your phone.")).to_be_visible()

        # Staff helps.
        owner = self.signed_in("ada")
        self.age_proofs()
        self.go(owner, "/u/lin")
        owner.get_by_role("main").get_by_role("button", name="More").click()
        owner.get_by_role("menuitem", name="Turn off two-step sign-in").click()
        owner.get_by_role("dialog").get_by_role("button", name="Turn off").click()
        sheet = owner.get_by_role("dialog", name="Confirm that it's you")
        sheet.get_by_label("Password").fill(PASSWORD)
        sheet.get_by_role("button", name="Continue").click()
        expect(owner.get_by_text("is off.")).to_be_visible()
        third = self.context()
        self.sign_in(third, "lin", anew=True)

    def test_every_refused_request_is_repeated_after_the_proof(self):
        page = self.signed_in("ada")
        refusal = {"code": "step_up_required", "title": "", "status": 403, "params": {"methods": ["password"]}}
        page.route("**/api/v1/groups", lambda route: route.fulfill(status=403, json=refusal), times=1)
        self.go(page, "/admin/groups")
        page.get_by_role("button", name="New group").click()
        dialog = page.get_by_role("dialog", name="New group")
        dialog.get_by_label("Name").fill("knitters")
        dialog.get_by_role("button", name="Create group").click()
        sheet = page.get_by_role("dialog", name="Confirm that it's you")
        sheet.get_by_label("Password").fill(PASSWORD)
        sheet.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("button", name="knitters")).to_be_visible()

    def test_a_cancelled_proof_is_no_error(self):
        page = self.signed_in("ada")
        said = self.say("chrysanthemum")["id"]
        self.age_proofs()

        def cancel():
            sheet = page.get_by_role("dialog", name="Confirm that it's you")
            sheet.get_by_role("button", name="Cancel").click()
            expect(sheet).to_have_count(0)
            page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
            self.assertEqual(page.locator(".toast").all_inner_texts(), [])
            self.assertEqual(page.get_by_role("alert").filter(visible=True).all_inner_texts(), [])

        def destroy(opened):
            opened.get_by_role("button", name="More").click()
            page.get_by_role("menuitem", name="Delete permanently").click()
            sheet = page.get_by_role("dialog", name="Permanently delete")
            sheet.get_by_label("Reason").fill("A letter.")
            sheet.get_by_role("button", name="Delete permanently").click()
            cancel()

        self.go(page, "/u/lin")
        destroy(page.get_by_role("main"))
        self.room(page)
        message = page.locator(f".message[data-id='{said}']")
        message.hover()
        destroy(message)
        self.call("POST", "/reports", {"message_id": said, "reason": "Illegal."}, self.tokens["lin"])
        self.go(page, "/admin/reports")
        page.get_by_role("button", name="Delete permanently").first.click()
        sheet = page.get_by_role("dialog", name="Permanently delete this message?")
        sheet.get_by_label("Reason").fill("A letter.")
        sheet.get_by_role("button", name="Delete permanently").click()
        cancel()
        self.go(page, "/admin/webhooks")
        page.get_by_role("button", name="New webhook").click()
        form = page.get_by_role("dialog", name="New webhook")
        form.get_by_role("textbox", name="Name").fill("Builds")
        form.get_by_role("button", name="Create webhook").click()
        cancel()
        expect(form).to_be_visible()
