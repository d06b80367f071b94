"""Avatars: drawn from the user name, or uploaded, already at sign-up."""

import io
import re
from urllib.parse import unquote

from browsing import PASSWORD
from PIL import Image
from playwright.sync_api import expect
from test_flows import Village
from test_offline import IS_CACHED


def photograph():
    """A large landscape JPEG, as from a phone."""
    content = io.BytesIO()
    Image.linear_gradient("L").resize((1600, 900)).convert("RGB").save(content, "JPEG")
    return {"name": "me.jpg", "mimeType": "image/jpeg", "buffer": content.getvalue()}


class Faces(Village):
    def avatar(self, name):
        user = self.call("GET", f"/users/@{name}", token=self.tokens["ada"])
        status, headers = self.curl_headers(self.origin + user["avatar"])
        self.assertEqual(status, 200)
        return self.curl(self.origin + user["avatar"]), headers["content-type"]

    def fill(self, page, display):
        page.get_by_label("Display name").fill(display)
        page.get_by_label("Password").fill(PASSWORD)

    def test_a_drawn_avatar_is_shown_while_typing_and_stays(self):
        page = self.page(self.context("phone"))
        self.open(page, f"/i/{self.invite}")
        face = page.locator(".face-field img")
        before = face.get_attribute("src")
        self.fill(page, "Mary Somerville")
        expect(page.get_by_label("Username", exact=True)).to_have_value("mary")
        expect(face).not_to_have_attribute("src", before)
        self.photograph(page, "invite-face-phone")
        self.assert_accessible(page, "an avatar at sign-up")
        shown = unquote(face.get_attribute("src").split(",", 1)[1])
        page.get_by_role("button", name="Accept the rules and create account").click()
        expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
        stored, kind = self.avatar("mary")
        self.assertEqual(stored.decode(), shown)
        self.assertTrue(kind.startswith("image/svg"))

    def test_a_picture_chosen_at_sign_up_is_uploaded(self):
        page = self.page(self.context())
        self.open(page, f"/i/{self.invite}")
        self.fill(page, "Emmy Noether")
        page.locator(".face-field input[type=file]").set_input_files(photograph())
        expect(page.get_by_role("button", name="Use generated picture")).to_be_visible()
        expect(page.locator(".face-field img")).to_have_js_property("naturalWidth", 256)
        self.photograph(page, "invite-face-desktop")
        page.get_by_role("button", name="Accept the rules and create account").click()
        expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
        stored, kind = self.avatar("emmy")
        # Small and square, since every list shows it.
        self.assertEqual(Image.open(io.BytesIO(stored)).size, (256, 256))
        self.assertFalse(kind.startswith("image/svg"))

    def test_it_is_changed_and_removed_in_the_profile(self):
        page = self.signed_in("grace")
        self.go(page, "/you/profile")
        drawn = page.get_by_role("button", name="Use generated picture")
        expect(drawn).to_be_hidden()
        page.locator("input[type=file]").set_input_files(photograph())
        expect(page.get_by_text("Saved.")).to_be_visible()
        expect(drawn).to_be_visible()
        expect(page.locator(".profile-face img")).to_have_js_property("naturalWidth", 256)
        self.assertEqual(Image.open(io.BytesIO(self.avatar("grace")[0])).size, (256, 256))
        drawn.click()
        expect(drawn).to_be_hidden()
        self.assertTrue(self.avatar("grace")[1].startswith("image/svg"))

    def test_a_new_picture_replaces_the_cached_one(self):
        page = self.signed_in("lin", service_workers="allow")
        self.eventually(page, True, lambda: page.evaluate(IS_CACHED))
        self.go(page, "/you/profile")
        self.eventually(page, True, lambda: page.evaluate("async () => (await (await caches.open('pictures')).keys()).some((it) => it.url.endsWith('/avatar'))"))
        drawn = page.get_by_role("button", name="Use generated picture")
        page.locator("input[type=file]").set_input_files(photograph())
        expect(page.get_by_text("Saved.")).to_be_visible()
        expect(drawn).to_be_visible()
        expect(page.locator(".profile-face img")).to_have_js_property("naturalWidth", 256)
        drawn.click()
        expect(drawn).to_be_hidden()


class Joining(Village):
    """Sign-up without an invite, where registration is open or needs approval."""

    def test_open_registration_and_registration_with_approval(self):
        for policy in ("open", "approval"):
            self.call("PATCH", "/settings", {"registration": policy}, self.tokens["ada"])
            with self.subTest(policy=policy):
                page = self.page(self.context("phone"))
                page.goto(self.origin)
                page.get_by_role("link", name="Create account").click()
                self.settle(page)
                expect(page.get_by_role("heading", name="Welcome to The Allotment")).to_be_visible()
                # A user waiting for approval can't upload a picture.
                expect(page.locator(".face-field")).to_have_count(int(policy == "open"))
                self.photograph(page, f"join-{policy}")
                self.assert_accessible(page, "an account")
                page.get_by_label("Display name").fill(f"Someone {policy}")
                page.get_by_label("Username", exact=True).fill(policy)
                page.get_by_label("Password").fill(PASSWORD)
                if policy == "open":
                    page.get_by_role("button", name="Accept the rules and create account").click()
                    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
                else:
                    page.get_by_role("button", name="Request to join").click()
                    expect(page.get_by_role("status")).to_contain_text("Thanks, Someone approval. Your request was sent.")
                    expect(page.get_by_role("heading", name="The Allotment")).to_be_focused()
                    self.assert_accessible(page, "asked")
        waiting = self.call("GET", "/users?state=pending", token=self.tokens["ada"])["data"]
        self.assertEqual([it["name"] for it in waiting], ["approval"])
        page = self.signed_in("ada")
        self.go(page, "/admin/users")
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_role("button", name="Approve")).to_have_count(0)

    def test_closed_registration_is_not_offered(self):
        self.call("PATCH", "/settings", {"registration": "invite"}, self.tokens["ada"])
        page = self.page(self.context())
        for address in ("/sign-in", "/sign-in?new"):
            self.open(page, address)
            expect(page.get_by_role("link", name=re.compile("Sign in")).or_(page.get_by_role("button", name="Sign in")).first).to_be_visible()
            expect(page.get_by_role("link", name="Create account")).to_have_count(0)
            expect(page.get_by_label("Display name")).to_have_count(0)
