"""Descriptions of pictures: in the composer, in its draft, in messages, in the viewer, and at an own message."""

from playwright.sync_api import expect
from test_flows import Village
from test_messages import png


class Descriptions(Village):
    def described(self, page, words):
        dialog = page.get_by_role("dialog", name="Describe picture")
        dialog.get_by_role("textbox").first.fill(words)
        return dialog

    def test_a_picture_is_described_in_the_composer_and_later(self):
        for size in ("desktop", "phone"):
            page = self.signed_in("grace", size)
            self.room(page)
            said = f"Look at this on the {size}"
            page.get_by_role("textbox", name="Write a message").fill(said)
            page.locator("input[type=file]").set_input_files([{"name": f"{name}.png", "mimeType": "image/png", "buffer": png(320, 200, 90)} for name in ("bed", "shed")])
            page.get_by_role("button", name="Describe picture").first.click()
            dialog = self.described(page, "Two rows of lettuce")
            self.photograph(page, f"describe-picture-{size}")
            self.assert_accessible(page, f"describe picture {size}")
            dialog.get_by_role("button", name="Save").click()
            expect(page.locator(".composer .attachment").first).to_contain_text("Two rows of lettuce")
            self.photograph(page, f"described-draft-{size}")
            # The draft keeps it.
            self.go(page, "/forums")
            self.room(page)
            expect(page.locator(".composer .attachment").first).to_contain_text("Two rows of lettuce")
            page.get_by_role("button", name="Send").click()
            message = page.locator(".message").filter(has_text=said)
            expect(message.get_by_role("img", name="Two rows of lettuce")).to_be_visible()
            expect(message.get_by_role("img", name="shed.png")).to_be_visible()
            message.get_by_role("img", name="Two rows of lettuce").click()
            viewer = page.get_by_role("dialog")
            expect(viewer.locator(".viewer-words")).to_have_text("Two rows of lettuce")
            expect(viewer.locator(".viewer-head")).to_contain_text("bed.png")
            self.photograph(page, f"described-viewer-{size}")
            self.assert_accessible(page, f"described picture {size}")
            viewer.get_by_role("button", name="Close").click()

            if size == "desktop":
                message.get_by_role("img", name="shed.png").hover()
                message.get_by_role("button", name="More").first.click()
                page.get_by_role("menuitem", name="Describe picture").click()
                dialog = page.get_by_role("dialog", name="Describe picture")
                expect(dialog.get_by_role("textbox")).to_have_count(2)
                expect(dialog.get_by_role("textbox").first).to_have_value("Two rows of lettuce")
                dialog.get_by_role("textbox").last.fill("The green shed")
                dialog.get_by_role("button", name="Save").click()
                expect(message.get_by_role("img", name="The green shed")).to_be_visible()
            page.context.close()

    def test_a_new_topic_has_descriptions(self):
        page = self.signed_in("grace")
        self.go(page, f"/f/{self.garden['id']}/new")
        page.get_by_label("Title").fill("My bed")
        page.locator("input[type=file]").set_input_files({"name": "bed.png", "mimeType": "image/png", "buffer": png(320, 200, 90)})
        page.get_by_role("button", name="Describe picture").click()
        self.described(page, "A bed of roses").get_by_role("button", name="Save").click()
        preview = page.locator(".topic-preview img")
        expect(preview).to_have_attribute("alt", "A bed of roses")
        self.photograph(page, "topic-preview-picture")
        page.get_by_role("button", name="Remove bed.png").click()
        expect(preview).to_have_count(0)
        page.locator("input[type=file]").set_input_files({"name": "bed.png", "mimeType": "image/png", "buffer": png(320, 200, 90)})
        page.get_by_role("button", name="Describe picture").click()
        self.described(page, "A bed of roses").get_by_role("button", name="Save").click()
        page.get_by_role("button", name="Post topic").click()
        expect(page.get_by_role("img", name="A bed of roses")).to_be_visible()
