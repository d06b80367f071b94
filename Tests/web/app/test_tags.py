"""Tags of topics: in lists, in the topic's head, the list of a tag, its menu, live changes, offline, visitor pages."""

import re

from browsing import keep_screenshot
from playwright.sync_api import expect
from test_flows import Village


class Tags(Village):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        self.call("PUT", f"/forums/{cls.garden['id']}/members/me", {}, cls.tokens["lin"])
        cls.topics = {title: self.topic(title, text) for title, text in (
            ("Planting", "When do you plant it? #garlic #autumn #beds #mulch #frost"),
            ("Frost dates", "Who covers the beds tonight? #Frost"),
            ("Garlic bread", "With butter. #garlic #kitchen"),
            ("Welcome", "Say hello."),
        )}

    def topic(self, title, text):
        return self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": title, "text": text}, self.tokens["grace"])

    def first(self, topic):
        return self.call("GET", f"/conversations/{topic['id']}/messages?order=asc&limit=1", token=self.tokens["grace"])["data"][0]

    def list(self, page, query=""):
        self.go(page, f"/f/{self.garden['id']}-garden/topics{query}")
        return page.locator(".topic-row-title")

    @staticmethod
    def row(page, title):
        return page.locator(".topic-tagged, .topic-row").filter(has_text=title).first

    def test_the_tags_of_a_row_lead_to_their_topics_and_back(self):
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                page = self.signed_in("lin", size)
                rows = self.list(page)
                expect(rows).to_have_count(4)
                tags = self.row(page, "Planting").locator(".tag")
                expect(tags).to_have_text(["#garlic", "#autumn", "#beds", re.compile(r"^\+2")])
                expect(self.row(page, "Welcome").locator(".tag")).to_have_count(0)
                for scheme in ("light", "dark"):
                    page.emulate_media(color_scheme=scheme)
                    self.photograph(page, f"tags-{size}-{scheme}")
                self.assert_accessible(page, "topics with tags")
                self.assert_fits(page, "topics with tags")
                self.row(page, "Planting").get_by_role("link", name="#garlic", exact=True).click()
                expect(rows).to_have_text([re.compile("Garlic bread"), re.compile("Planting")])
                self.assertTrue(page.url.endswith("/topics?tag=garlic"), page.url)
                expect(page).to_have_title(re.compile("^#garlic · Garden"))
                filters = page.get_by_role("navigation", name="Filter topics")
                filters.get_by_role("link", name="Mine", exact=True).click()
                expect(page.get_by_text("No topics match this filter.")).to_be_visible()
                expect(filters.locator("[aria-current]")).to_have_count(2)
                self.photograph(page, f"tags-filtered-{size}")
                self.assert_accessible(page, "topics of a tag")
                filters.get_by_role("link", name="Remove the tag garlic").click()
                self.assertTrue(page.url.endswith("/topics?filter=mine"), page.url)
                page.go_back()
                page.go_back()
                expect(rows).to_have_count(2)
                page.context.close()

    def test_the_menu_offers_the_most_used_tags(self):
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                page = self.signed_in("lin", size)
                rows = self.list(page)
                page.get_by_role("button", name="Tags").click()
                menu = page.get_by_role("menu", name="Tags")
                expect(menu.get_by_role("menuitemradio").first).to_be_focused()
                expect(menu.get_by_role("menuitemradio").nth(0)).to_have_text(re.compile("#frost.*2"))
                expect(menu.get_by_role("menuitemradio").nth(1)).to_have_text(re.compile("#garlic.*2"))
                self.photograph(page, f"tags-menu-{size}")
                self.assert_accessible(page, "menu of tags")
                menu.get_by_role("menuitemradio", name="#kitchen").click()
                expect(rows).to_have_text([re.compile("Garlic bread")])
                page.get_by_role("button", name="Tags").click()
                expect(menu.get_by_role("menuitemradio", name="#kitchen")).to_have_attribute("aria-checked", "true")
                page.keyboard.press("Escape")
                page.context.close()

    def test_a_tag_without_topics_and_a_forum_without_tags(self):
        page = self.signed_in("lin")
        self.list(page, "?tag=%23Chives")
        expect(page.get_by_text("No topics with #chives.")).to_be_visible()
        self.photograph(page, "tags-none")
        page.get_by_role("button", name="Show all topics").click()
        expect(page.locator(".topic-row")).to_have_count(4)
        plain = self.call("POST", "/forums", {"title": "Plain", "visibility": "public"}, self.tokens["ada"])
        self.go(page, f"/f/{plain['id']}/topics")
        expect(page.get_by_text("No topics yet.")).to_be_visible()
        expect(page.get_by_role("button", name="Tags")).to_have_count(0)
        self.go(page, f"/f/{plain['id']}/topics?tag=chives")
        page.get_by_role("button", name="Tags").click()
        expect(page.get_by_text("No tags yet.")).to_be_visible()

    def test_the_head_of_a_topic_has_all_its_tags(self):
        page = self.signed_in("lin")
        self.go(page, f"/t/{self.topics['Planting']['id']}")
        head = page.locator(".stream-head")
        expect(head.locator(".tag")).to_have_text(["#garlic", "#autumn", "#beds", "#mulch", "#frost"])
        self.photograph(page, "tags-topic-desktop")
        self.assert_accessible(page, "topic with tags")
        # The list beside it has them, too.
        beside = page.locator(".split-list")
        expect(beside.get_by_role("button", name="Tags")).to_be_visible()
        expect(beside.locator(".tag").first).to_be_visible()
        head.get_by_role("link", name="#frost", exact=True).click()
        expect(page.locator(".topic-row")).to_have_count(2)
        phone = self.signed_in("lin", "phone")
        self.go(phone, f"/t/{self.topics['Planting']['id']}")
        expect(phone.locator(".stream-head .tag")).to_have_count(5)
        self.photograph(phone, "tags-topic-phone")
        self.assert_fits(phone, "topic with tags")

    def test_an_edit_of_the_first_post_changes_open_lists(self):
        topic = self.topic("Leeks", "In a trench. #leeks")
        page, other = self.signed_in("lin"), self.signed_in("lin")
        self.go(page, f"/f/{self.garden['id']}-garden/topics?tag=leeks")
        expect(page.locator(".topic-row")).to_have_count(1)
        self.go(other, f"/t/{topic['id']}")
        expect(other.locator(".stream-head .tag")).to_have_text(["#leeks"])
        first = self.first(topic)
        self.call("PATCH", f"/messages/{first['id']}", {"text": "In a trench. #leeks #trench"}, self.tokens["grace"])
        expect(page.locator(".topic-tagged .tag")).to_have_text(["#leeks", "#trench"])
        expect(other.locator(".stream-head .tag")).to_have_text(["#leeks", "#trench"])
        self.call("PATCH", f"/messages/{first['id']}", {"text": "In a trench. #trench"}, self.tokens["grace"])
        expect(page.get_by_text("No topics with #leeks.")).to_be_visible()
        self.call("DELETE", f"/messages/{first['id']}", token=self.tokens["grace"])
        expect(other.locator(".stream-head .tag")).to_have_count(0)
        self.call("DELETE", f"/conversations/{topic['id']}", token=self.tokens["ada"])

    def test_cached_topics_are_filtered_offline(self):
        page = self.signed_in("grace")
        rows = self.list(page)
        expect(rows).to_have_count(4)
        page.context.set_offline(True)
        self.row(page, "Planting").get_by_role("link", name="#garlic", exact=True).click()
        expect(rows).to_have_text([re.compile("Garlic bread"), re.compile("Planting")])
        page.context.set_offline(False)

    def test_visitor_pages_have_tags_without_scripts(self):
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                page = self.page(self.context(size, java_script_enabled=False))
                page.goto(f"{self.origin}/f/{self.garden['id']}")
                keep_screenshot(page, f"tags-visitor-{size}")
                self.assert_fits(page, "visitor page with tags")
                page.get_by_role("link", name="#garlic", exact=True).first.click()
                expect(page.locator(".row h2")).to_have_text(["Garlic bread", "Planting"])
                keep_screenshot(page, f"tags-visitor-filtered-{size}")
                page.get_by_role("link", name="Planting").click()
                expect(page.locator(".tags a")).to_have_text(["#garlic", "#autumn", "#beds", "#mulch", "#frost"])
                keep_screenshot(page, f"tags-visitor-topic-{size}")
                page.context.close()
