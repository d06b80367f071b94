"""Uploaded pictures of a forum and of the site."""

import io
import re

from PIL import Image
from playwright.sync_api import expect
from test_flows import Village


class OwnPictures(Village):
    def picture(self):
        content = io.BytesIO()
        Image.linear_gradient("L").resize((320, 180)).convert("RGB").save(content, "PNG")
        return {"name": "beds.png", "mimeType": "image/png", "buffer": content.getvalue()}

    def test_a_forum_picture_is_uploaded(self):
        page = self.signed_in("ada")
        self.go(page, "/forums/new")
        page.get_by_label("Title").fill("Orchard")
        page.get_by_label("Picture URL").fill("https://example.org/old.png")
        page.locator("input[type=file]").set_input_files(self.picture())
        # The chosen file replaces the address and is previewed before the upload.
        expect(page.get_by_label("Picture URL")).to_have_value("")
        look = page.locator(".forum-preview .tile-picture > img")
        expect(look).to_have_attribute("src", re.compile("^blob:"))
        expect(look).to_have_js_property("naturalWidth", 320)
        expect(look).to_have_css("opacity", "1")
        self.photograph(page, "own-picture-light")
        self.assert_accessible(page, "own picture")
        page.get_by_role("button", name="Create forum").click()
        expect(page.get_by_role("heading", name="Orchard").first).to_be_visible()
        forum = next(it for it in self.call("GET", "/forums", token=self.tokens["ada"])["data"] if it["title"] == "Orchard")
        self.assertIsNotNone(forum["icon_file"])
        self.go(page, "/forums")
        own = page.locator(f".tile[href^='/f/{forum['id']}'] .tile-picture > img")
        expect(own).to_have_js_property("naturalWidth", 320)
        # A generated picture is a quiet ground, an own one is shown as it is.
        expect(own).to_have_css("opacity", "1")
        expect(page.locator(f".tile[href^='/f/{self.garden['id']}'] .tile-picture > img")).to_have_css("opacity", "0.5")

    def test_a_site_picture_is_uploaded(self):
        page = self.signed_in("ada")
        expect(page.locator(".sidebar-head img")).to_have_js_property("complete", True)
        self.go(page, "/admin/settings")
        page.locator("input[type=file]").set_input_files(self.picture())
        expect(page.locator(".site-picture")).to_have_js_property("naturalWidth", 320)
        # The page fetches the new icon; leaving earlier would show the old one for some minutes.
        with page.expect_event("requestfinished", lambda it: it.url.endswith("/api/v1/icon")):
            page.get_by_role("button", name="Save").click()
        self.assertIsNotNone(self.call("GET", "/settings", token=self.tokens["ada"])["icon_file"])
        self.open(page, "/")
        expect(page.locator(".sidebar-head img")).to_have_js_property("naturalWidth", 320)
