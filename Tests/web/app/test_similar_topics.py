"""Similar topics, shown while a topic is written."""

import re

from playwright.sync_api import expect
from test_flows import Village


class Alike(Village):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        for title, text in (("Which tomatoes for a shady balcony?", "No sun before noon."), ("Slugs again", "They eat the marigolds on the balcony."),
                            ("Rain barrels", "Two are empty.")):
            self.call("POST", f"/forums/{cls.garden['id']}/conversations", {"title": title, "text": text}, cls.tokens["grace"])

    def test_similar_topics_are_shown_below_the_title(self):
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                page = self.signed_in("ada", size)
                self.go(page, f"/f/{self.garden['id']}/new")
                alike = page.get_by_role("region", name="Similar topics")
                title = page.get_by_label("Title")
                title.press_sequentially("A tomato")
                expect(alike.get_by_role("link")).to_have_count(1)
                expect(alike.get_by_role("link", name=re.compile("Which tomatoes"))).to_be_visible()
                # One word is in a title, another only in a text.
                title.fill("Marigold seeds")
                expect(alike.get_by_role("link", name=re.compile("Slugs again"))).to_be_visible()
                title.fill("Tomatoes on a balcony")
                expect(alike.get_by_role("link").first).to_contain_text("Which tomatoes")
                expect(page.get_by_role("status").filter(has_text="similar")).to_have_text("2 similar topics")
                self.photograph(page, f"alike-{size}-light")
                self.assert_accessible(page, "alike")
                self.assert_fits(page, "alike")
                # Visiting a similar topic and coming back keeps the draft.
                alike.get_by_role("link").first.click()
                expect(page.get_by_role("heading", name="Which tomatoes for a shady balcony?").first).to_be_visible()
                page.go_back()
                expect(title).to_have_value("Tomatoes on a balcony")
                expect(alike.get_by_role("link").first).to_contain_text("Which tomatoes")
                title.fill("Wheelbarrows")
                expect(alike).to_have_count(0)
                title.fill("")

    def test_right_to_left_and_with_longer_texts(self):
        page = self.signed_in("ada", "phone")
        page.evaluate("localStorage.setItem('language', 'en-XA')")
        self.open(page, f"/f/{self.garden['id']}/new")
        page.evaluate("document.documentElement.dir = 'rtl'")
        page.locator("input.field-input").fill("Rain barrel")
        expect(page.locator("section .topic-row")).to_have_count(1)
        expect(page.locator("section .section-title")).to_have_text(re.compile("^⟦"))
        self.photograph(page, "alike-long-rtl")
        self.assert_fits(page, "alike from the right")
