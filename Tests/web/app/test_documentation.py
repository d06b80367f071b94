"""The documentation at /docs: whole without JavaScript, on a phone and a desktop, in light and dark; its search and the choice of a
language."""

import unittest

from browsing import SIZES, BrowsingTest, keep_screenshot
from playwright.sync_api import expect
from test_offline import IS_CACHED

PAGES = {"start": "/docs/", "errors": "/docs/errors/", "messages": "/docs/messages/", "operation": "/docs/messages/postMessage/",
         "frames": "/docs/realtime/frames/"}


class Documentation(BrowsingTest):
    def test_every_page_without_javascript(self):
        for size in SIZES:
            for scheme in ("light", "dark"):
                context = self.context(size, scheme, java_script_enabled=False)
                page = self.page(context)
                for name, address in PAGES.items():
                    with self.subTest(page=f"{name}-{size}-{scheme}"):
                        page.goto(self.origin + address)
                        expect(page.locator("h1")).to_be_visible()
                        # A search that cannot work is not shown.
                        expect(page.get_by_role("search")).to_be_hidden()
                        keep_screenshot(page, f"docs-{name}-{size}-{scheme}")
                        self.assert_fits(page, name)
                # The languages of an example are radio buttons.
                page.goto(f"{self.origin}/docs/messages/")
                example = page.locator(".examples").first
                expect(example.locator("pre:visible")).to_have_count(1)
                example.get_by_text("Swift", exact=True).click()
                expect(example.locator("pre:visible")).to_contain_text("try await client.send")

    def test_pages_are_accessible(self):
        for scheme in ("light", "dark"):
            page = self.page(self.context("desktop", scheme))
            for name, address in PAGES.items():
                page.goto(self.origin + address)
                self.assert_accessible(page, name)

    def test_the_search_finds_an_operation_by_keyboard(self):
        page = self.page(self.context())
        page.goto(f"{self.origin}/docs/")
        page.keyboard.press("/")
        field = page.get_by_label("Search")
        expect(field).to_be_focused()
        field.fill("createInvite")
        expect(page.locator(".found a").first).to_contain_text("Create an invite")
        # The index is in the page: the search needs no network.
        page.context.set_offline(True)
        field.fill("client_id reused")
        expect(page.locator(".found a").first).to_contain_text("client_id_reused")
        page.context.set_offline(False)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{self.origin}/docs/errors/#client_id_reused")
        field.fill("nothing has these words")
        expect(page.get_by_role("search")).to_contain_text("No results.")
        page.keyboard.press("Escape")
        expect(field).to_have_value("")

    def test_the_language_holds_for_all_examples_and_pages(self):
        page = self.page(self.context())
        page.goto(f"{self.origin}/docs/messages/")
        page.locator(".examples").first.get_by_text("Python", exact=True).click()
        expect(page.locator(".examples input[value=python]:checked")).to_have_count(page.locator(".examples").count())
        page.goto(f"{self.origin}/docs/forums/")
        expect(page.locator(".examples").first.locator("pre:visible")).to_contain_text("parley(")

    def test_the_service_worker_leaves_the_documentation_to_the_server(self):
        self.create_users("ada")
        context = self.context(service_workers="allow")
        self.sign_in(context, "ada")
        page = self.page(context)
        self.open(page)
        self.eventually(page, True, lambda: page.evaluate(IS_CACHED))
        self.eventually(page, True, lambda: page.evaluate("async () => (await navigator.serviceWorker.ready).active.state == 'activated'"))
        page.goto(f"{self.origin}/docs/")
        expect(page.locator("h1")).to_have_text("Start here")
        self.assertTrue(page.evaluate("!!navigator.serviceWorker.controller"))


if __name__ == "__main__":
    unittest.main()
