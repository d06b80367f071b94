"""Sharing links: addresses are recognized, previews are loaded through the server only, and links without TLS warn."""

import io

from PIL import Image
from playwright.sync_api import expect
from test_flows import Village

SEEDS = {
    "url": "https://example.org/seeds", "title": "Seeds for shady places", "site_name": "Example", "image": False, "file": None,
    "description": "Forty kinds that grow where the sun rarely comes, sorted by taste.",
    "picture": {"mime_type": "image/png", "size": 1, "width": 640, "height": 320, "url": "/api/v1/previews/seeds"},
}


def picture():
    content = io.BytesIO()
    Image.linear_gradient("L").resize((640, 320)).convert("RGB").save(content, "PNG")
    return content.getvalue()


class Sharing(Village):
    def outside(self, page):
        """Mocks the preview request, since the server fetches no local addresses. Returns the requested links."""
        asked = []

        def answer(route):
            if route.request.method != "POST":
                return route.fulfill(body=picture(), content_type="image/png")
            asked.append(route.request.post_data_json["url"])
            if "seeds" not in asked[-1]:
                return route.fulfill(status=400, json={"status": 400, "code": "invalid", "errors": [{"field": "url", "code": "unreachable"}]})
            return route.fulfill(json=SEEDS)

        page.route("**/api/v1/previews**", answer)
        return asked

    def begin(self, page):
        page.get_by_role("button", name="Add files, a link or a poll").click()
        page.get_by_role("menuitem", name="Share a link").click()
        sheet = page.get_by_role("dialog", name="Share a link")
        expect(sheet.get_by_label("Link or search words")).to_be_focused()
        return sheet

    def test_an_address_is_previewed_and_shared(self):
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                page, reader = self.signed_in("ada", size), self.signed_in("grace", size)
                asked, requests = self.outside(page), []
                for each in (page, reader):
                    each.on("request", lambda request: requests.append(request.url))
                self.room(page)
                self.room(reader)
                sheet = self.begin(page)
                expect(sheet.get_by_role("button", name="Share", exact=True)).to_be_disabled()
                sheet.get_by_label("Link or search words").fill(f"example.org/seeds?{size}")
                card = sheet.locator(".link-preview")
                expect(card).to_contain_text("Seeds for shady places")
                expect(card.locator("img")).to_have_js_property("naturalWidth", 640)
                self.photograph(page, f"share-{size}")
                self.assert_accessible(page, "share")
                sheet.get_by_role("button", name="Share", exact=True).click()
                expect(sheet).to_have_count(0)
                for each, side in ((page, ".is-mine"), (reader, ":not(.is-mine)")):
                    shown = each.locator(f".message{side}").filter(has_text=f"https://example.org/seeds?{size}")
                    expect(shown.locator(".link-preview strong")).to_have_text("Seeds for shady places")
                    expect(shown.locator(".link-preview")).to_have_attribute("href", f"https://example.org/seeds?{size}")
                    expect(shown.locator(".link-preview img")).to_have_js_property("naturalWidth", 640)
                    expect(shown.locator(".picture, .attachment")).to_have_count(0)
                self.photograph(reader, f"shared-{size}")
                self.assert_accessible(reader, "shared")
                self.assertEqual(set(asked), {f"https://example.org/seeds?{size}"})
                self.assertEqual([it for it in requests if not it.startswith((self.origin, "blob:"))], [], "no request to the linked site")

    def test_search_words_find_a_message_to_share(self):
        said = self.say("The wheelbarrow has a flat tyre")
        page = self.signed_in("ada")
        asked = self.outside(page)
        self.room(page)
        sheet = self.begin(page)
        field = sheet.get_by_label("Link or search words")
        field.fill("nothing like that")
        expect(sheet.get_by_text("No results for “nothing like that”.")).to_be_visible()
        field.fill("wheelbarrow")
        hit = sheet.get_by_role("button").filter(has_text="flat tyre")
        expect(hit).to_be_visible()
        self.photograph(page, "share-words")
        self.assert_accessible(page, "share, words")
        # Enter focuses the search result.
        field.press("Enter")
        expect(hit).to_be_focused()
        hit.press("Enter")
        expect(field).to_have_value(f"{self.origin}/m/{said['id']}")
        expect(sheet.locator(".link-preview")).to_contain_text("flat tyre")
        field.press("Enter")
        expect(sheet).to_have_count(0)
        mine = page.locator(".message.is-mine").filter(has_text=f"/m/{said['id']}")
        expect(mine.locator(".state")).to_have_attribute("title", "Sent")
        # Readers of the link may lack access to the message, so no preview is sent.
        expect(mine.locator(".link-preview")).to_have_count(0)
        mine.locator(".rich a").click()
        expect(page.locator("article:focus")).to_contain_text("flat tyre")
        self.assertEqual(asked, [])

    def test_a_link_without_a_preview_can_be_shared(self):
        page = self.signed_in("ada")
        self.outside(page)
        self.room(page)
        sheet = self.begin(page)
        sheet.get_by_label("Link or search words").fill("http://example.org/old")
        expect(sheet.get_by_text("The server couldn't load a preview.")).to_be_visible()
        expect(sheet.locator(".link-preview")).to_contain_text("not encrypted")
        sheet.get_by_role("button", name="Share", exact=True).click()
        expect(page.locator(".message.is-mine").filter(has_text="http://example.org/old").locator(".link-preview")).to_have_count(0)

    def test_a_link_without_tls_warns_before_it_opens(self):
        self.say("An old page: http://example.net/old and a new one: https://example.net/new")
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                page = self.signed_in("ada", size)
                page.context.route("http://example.net/**", lambda route: route.fulfill(body="old"))
                page.context.route("https://example.net/**", lambda route: route.fulfill(body="new"))
                self.room(page)
                page.get_by_role("link", name="http://example.net/old").click()
                asked = page.get_by_role("dialog", name="This link is not encrypted")
                expect(asked).to_contain_text("The connection to example.net is not encrypted.")
                self.photograph(page, f"not-encrypted-{size}")
                self.assert_accessible(page, "not encrypted")
                asked.get_by_role("button", name="Cancel").click()
                expect(asked).to_have_count(0)
                self.assertEqual(len(page.context.pages), 1)
                page.get_by_role("link", name="http://example.net/old").click()
                with page.context.expect_page() as opened:
                    asked.get_by_role("button", name="Open anyway").click()
                expect(opened.value.get_by_text("old")).to_be_visible()
                with page.context.expect_page() as opened:
                    page.get_by_role("link", name="https://example.net/new").click()
                expect(opened.value.get_by_text("new")).to_be_visible()
