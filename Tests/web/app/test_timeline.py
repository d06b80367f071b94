"""The timeline of a long topic: the reader's position, and navigation to any post."""

import re

from playwright.sync_api import expect
from test_flows import Village

POSTS = 80


class LongTopic(Village):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        cls.topic = self.call("POST", f"/forums/{cls.garden['id']}/conversations", {"title": "The diary of the beds", "text": "Post 1"}, cls.tokens["grace"])
        for number in range(2, POSTS + 1):
            self.say(f"Post {number}", ("grace", "lin")[number % 2], cls.topic["id"])

    def slider(self, page):
        return page.get_by_role("slider", name="Post")

    def post(self, page, number):
        return page.locator(".post").filter(has_text=re.compile(rf"Post {number}(?!\d)"))

    def assert_at(self, page, number):
        expect(self.slider(page)).to_have_js_property("value", str(number))
        expect(self.slider(page)).to_have_attribute("aria-valuetext", re.compile(f"^Post {number} of {POSTS}"))
        expect(self.post(page, number)).to_be_in_viewport()

    def test_on_a_desktop_it_shows_the_position_and_leads_to_any_post(self):
        page = self.signed_in("ada")
        self.go(page, f"/t/{self.topic['id']}")
        slider = self.slider(page)
        expect(slider).to_be_visible()
        slider.press("End")
        self.assert_at(page, POSTS)
        slider.press("ArrowUp")
        self.assert_at(page, POSTS - 1)
        slider.press("Home")
        self.assert_at(page, 1)
        expect(page.get_by_role("heading", name="The diary of the beds", level=2)).to_be_in_viewport()
        slider.press("ArrowDown")
        self.assert_at(page, 2)
        slider.press("PageDown")
        self.assert_at(page, 12)
        expect(slider).to_be_focused()
        self.photograph(page, "timeline-desktop-light")
        self.assert_accessible(page, "timeline")

        # No label repeats the date of an end or overlaps it.
        ends = page.locator(".timeline .timeline-end")
        for key in ("Home", "ArrowDown", "End", "ArrowUp"):
            slider.press(key)
            label = page.locator(".timeline .timeline-at")
            for at in range(ends.count()):
                self.assertNotIn(ends.nth(at).inner_text(), label.inner_text())
                one, other = self.box(label), self.box(ends.nth(at))
                self.assertTrue(one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"], key)
        slider.press("Home")
        self.assert_at(page, 1)

        # Dragged, it scrolls on release; scrolling moves it.
        box = self.box(slider)
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.eventually(page, True, lambda: 30 <= int(slider.input_value()) <= 50)
        expect(self.post(page, int(slider.input_value()))).to_be_in_viewport()
        page.get_by_role("button", name=re.compile("^Go to newest post")).click()
        self.assert_at(page, POSTS)
        page.get_by_role("button", name=re.compile("^Go to first post")).click()
        self.assert_at(page, 1)
        page.locator(".stream").evaluate("it => { it.scrollTop = 1500; }")
        self.eventually(page, True, lambda: int(slider.input_value()) > 3)

        # Hidden while the details are open.
        page.get_by_role("button", name="Details").click()
        expect(slider).to_be_hidden()
        expect(page.get_by_role("button", name="Go to another")).to_be_visible()

    def test_on_a_phone_the_post_number_opens_it(self):
        page = self.signed_in("ada", "phone")
        self.go(page, f"/t/{self.topic['id']}")
        expect(self.slider(page)).to_be_hidden()
        pill = page.get_by_role("button", name="Go to another")
        expect(pill).to_have_text(re.compile(rf"^\d+ / {POSTS}$"))
        pill.tap()
        sheet = page.get_by_role("dialog", name="Go to post")
        slider = sheet.get_by_role("slider", name="Post")
        slider.press("Home")
        expect(self.post(page, 1)).to_be_in_viewport()
        slider.press("PageDown")
        expect(slider).to_have_attribute("aria-valuetext", re.compile(f"^Post 11 of {POSTS}"))
        self.photograph(page, "timeline-phone-light")
        self.assert_accessible(page, "timeline on a phone")
        self.assert_fits(page, "timeline on a phone")
        sheet.get_by_role("button", name=re.compile("^Go to newest post")).tap()
        expect(self.post(page, POSTS)).to_be_in_viewport()
        page.keyboard.press("Escape")
        expect(sheet).to_have_count(0)
        expect(pill).to_be_focused()
        expect(pill).to_have_text(f"{POSTS} / {POSTS}")

    def test_right_to_left_and_with_longer_texts(self):
        for size in ("phone", "desktop"):
            with self.subTest(size=size):
                page = self.signed_in("ada", size)
                page.evaluate("localStorage.setItem('language', 'en-XA')")
                self.open(page, f"/t/{self.topic['id']}")
                page.evaluate("document.documentElement.dir = 'rtl'")
                if size == "phone":
                    pill = page.locator(".timeline-pill button")
                    expect(pill).to_have_text(re.compile("^⟦"))
                    pill.tap()
                slider = page.locator("dialog .timeline-slider" if size == "phone" else ".timeline-slider")
                slider.press("Home")
                # Right to left, the left arrow moves forward.
                slider.press("ArrowLeft" if size == "phone" else "ArrowDown")
                expect(slider).to_have_js_property("value", "2")
                expect(slider).to_have_attribute("aria-valuetext", re.compile("^⟦"))
                self.photograph(page, f"timeline-{size}-long-rtl")
                self.assert_fits(page, f"timeline from the right, {size}")

    def test_a_short_topic_needs_none(self):
        short = self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": "Short", "text": "One post"}, self.tokens["grace"])
        page = self.signed_in("ada")
        self.go(page, f"/t/{short['id']}")
        expect(page.locator(".post")).to_have_count(1)
        expect(page.locator(".timeline, .timeline-pill")).to_have_count(0)

    def test_it_appears_and_counts_as_a_topic_grows(self):
        topic = self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": "Growing", "text": "Post 1"}, self.tokens["grace"])
        grow = lambda posts: [self.say(f"Post {number} {'word ' * 60}", "grace", topic["id"]) for number in posts]
        counted = lambda page, number: expect(self.slider(page)).to_have_attribute("aria-valuetext", re.compile(f"^Post 1 of {number}"))
        page, phone = self.signed_in("ada"), self.signed_in("lin", "phone")
        for one in (page, phone):
            expect(one.locator(".sign-online").filter(visible=True).first).to_be_visible()
            self.go(one, f"/t/{topic['id']}")
            expect(one.locator(".post")).to_have_count(1)
        grow(range(2, 13))
        counted(page, 12)
        expect(phone.locator(".timeline-pill")).to_have_text(re.compile("1.*12"))
        grow(range(13, 16))
        counted(page, 15)
        # The timeline grows while another page is open.
        self.go(page, "/forums")
        grow(range(16, 19))
        self.go(page, f"/t/{topic['id']}")
        # The topic opens at the first unread post, which depends on what was read before.
        expect(self.slider(page)).to_have_attribute("aria-valuetext", re.compile(r"^Post \d+ of 18"))
