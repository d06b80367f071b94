"""Custom emoji: added by staff, used in messages and reactions, text again after the deletion."""

import io

from PIL import Image
from playwright.sync_api import expect
from test_flows import Village


def parrot():
    content = io.BytesIO()
    Image.new("RGB", (64, 64), (20, 160, 90)).save(content, "PNG")
    return {"name": "parrot.png", "mimeType": "image/png", "buffer": content.getvalue()}


class CustomEmoji(Village):
    def test_added_used_and_deleted(self):
        self.say("Well done :parrot: and `:parrot:` and :unknown:")
        ada = self.signed_in("ada")
        grace = self.signed_in("grace")
        room = f"/f/{self.garden['id']}-garden/room"
        self.go(grace, room)
        self.go(ada, "/admin/emoji")
        expect(ada.get_by_text("No custom emoji yet")).to_be_visible()
        ada.get_by_label("Name", exact=True).fill("parrot")
        ada.locator("input[type=file]").set_input_files(parrot())
        ada.get_by_role("button", name="Add emoji").click()
        expect(ada.locator(".setting-row", has_text=":parrot:")).to_be_visible()
        self.photograph(ada, "custom-emoji-admin")
        self.assert_accessible(ada, "custom emoji")

        # The list arrives with the event of the settings.
        bubble = grace.locator(".bubble", has_text="Well done")
        expect(bubble.get_by_role("img", name=":parrot:")).to_have_count(1)
        expect(bubble.locator("code")).to_have_text(":parrot:")
        expect(bubble).to_contain_text(":unknown:")
        bubble.hover()
        grace.get_by_role("button", name="React", exact=True).first.click()
        grace.locator(".emoji-grid").get_by_role("button", name="parrot").first.click()
        reaction = grace.locator(".reaction")
        expect(reaction.get_by_role("img", include_hidden=True)).to_have_js_property("naturalWidth", 64)
        field = grace.get_by_role("textbox", name="Write a message")
        field.press_sequentially("Hello :parr")
        expect(grace.get_by_role("option", name=":parrot:")).to_be_visible()
        field.press("Enter")
        expect(field).to_have_value("Hello :parrot: ")
        self.assert_visitors_see_it(room)
        self.photograph(grace, "custom-emoji-room")

        ada.locator(".setting-row", has_text=":parrot:").get_by_role("button", name="Delete").click()
        ada.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(ada.get_by_text("No custom emoji yet")).to_be_visible()
        expect(bubble.get_by_role("img", name=":parrot:")).to_have_count(0)
        expect(bubble).to_contain_text("Well done :parrot:")

    def assert_visitors_see_it(self, room):
        """In the app: its visitors have a session that has ended."""
        context = self.context()
        context.add_cookies([{"name": "parley", "value": "ended", "url": self.origin}])
        page = self.page(context)
        self.open(page, room)
        expect(page.get_by_role("link", name="Sign in to write here")).to_be_visible()
        bubble = page.locator(".bubble", has_text="Well done")
        expect(bubble.get_by_role("img", name=":parrot:")).to_have_js_property("naturalWidth", 64)
        expect(page.locator(".reaction").get_by_role("img", include_hidden=True)).to_have_js_property("naturalWidth", 64)
        expect(bubble).to_contain_text(":unknown:")
        page.context.close()
