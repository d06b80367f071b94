"""The list of drafts: messages and topics that were begun on this device."""

import re

from playwright.sync_api import expect
from test_flows import ROWS, Village


class Drafts(Village):
    def begin(self, page):
        """Begins a message in the room, and a topic."""
        self.room(page)
        page.get_by_role("textbox", name="Write a message").fill("Half a thought about **pears**")
        self.go(page, f"/f/{self.garden['id']}/new")
        page.get_by_label("Title").fill("The south wall")
        page.get_by_role("textbox", name="Write your post").fill("It is dry")
        page.locator("input[type=file]").set_input_files({"name": "wall.txt", "mimeType": "text/plain", "buffer": b"dry"})
        self.go(page, "/you/drafts")

    def test_drafts_are_listed_opened_and_deleted(self):
        page = self.signed_in("lin")
        self.go(page, "/you/drafts")
        expect(page.get_by_text("No drafts on this device.")).to_be_visible()
        self.begin(page)
        rows = page.locator(".setting-row")
        expect(rows).to_have_count(2)
        topic, message = rows.filter(has_text="The south wall"), rows.filter(has_text="Half a thought about pears")
        expect(rows.first).to_contain_text("The south wall")
        for words in (f"New topic in {self.garden['title']}", "It is dry", "1 file"):
            expect(topic).to_contain_text(words)
        self.photograph(page, "drafts-desktop-light")
        self.assert_accessible(page, "drafts")
        page.reload()
        self.settle(page)
        expect(rows).to_have_count(2)
        topic.get_by_role("link").click()
        expect(page.get_by_label("Title")).to_have_value("The south wall")
        expect(page.locator(".composer-files")).to_contain_text("wall.txt")
        self.go(page, "/you/drafts")
        topic.get_by_role("button", name="Delete draft").click()
        expect(rows).to_have_count(1)
        message.get_by_role("link").click()
        field = page.get_by_role("textbox", name="Write a message")
        expect(field).to_have_value("Half a thought about **pears**")
        field.fill("")
        self.go(page, "/you/drafts")
        expect(page.get_by_text("No drafts on this device.")).to_be_visible()
        self.eventually(page, 0, lambda: page.evaluate(ROWS)["files"])

    def test_a_draft_follows_another_tab_but_replaces_no_text(self):
        first = self.signed_in("lin")
        second = self.page(first.context)
        fields = []
        for page in (first, second):
            self.open(page)
            self.room(page)
            fields.append(page.get_by_role("textbox", name="Write a message"))
        here, there = fields
        here.fill("Are the plums ripe?")
        expect(there).to_have_value("Are the plums ripe?")
        here.press("Enter")
        expect(there).to_have_value("")
        expect(second.locator(".message.is-mine").filter(has_text="Are the plums ripe?")).to_be_visible()
        there.fill("They are")
        expect(here).to_have_value("They are")
        first.evaluate("document.querySelector('.composer textarea').value = 'Own words'")
        there.fill("They are not")
        there.fill("")
        here.press("End")
        first.wait_for_timeout(300)
        expect(here).to_have_value("Own words")

    def test_a_new_topic_moves_to_another_forum(self):
        for title in ("Sheds", "Ponds"):
            self.call("POST", "/forums", {"title": title, "visibility": "members"}, self.tokens["ada"])
        locked = self.call("POST", "/forums", {"title": "Rules only", "visibility": "members"}, self.tokens["ada"])
        self.call("PATCH", f"/forums/{locked['id']}", {"start_topics": "moderators"}, self.tokens["ada"])
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                page = self.signed_in("lin", size)
                self.go(page, f"/f/{self.garden['id']}/new")
                title, text = page.get_by_label("Title"), page.get_by_role("textbox", name="Write your post")
                expect(title).to_be_focused()
                forum = page.get_by_label("Forum", exact=True)
                expect(forum.locator("option:checked")).to_have_text("Garden")
                self.assertNotIn("Rules only", forum.locator("option").all_text_contents())
                title.fill("Where does it stand?")
                text.fill("The frog")
                page.locator("input[type=file]").set_input_files({"name": "frog.txt", "mimeType": "text/plain", "buffer": b"green"})
                expect(page.get_by_text("Draft saved on this device")).to_be_visible()
                forum.select_option("Ponds")
                expect(page).to_have_url(re.compile(r"-ponds/new$"))
                expect(title).to_have_value("Where does it stand?")
                expect(text).to_have_value("The frog")
                expect(page.locator(".composer-files")).to_contain_text("frog.txt")
                self.photograph(page, f"topic-forum-{size}")
                self.assert_accessible(page, f"forum of a new topic {size}")
                self.assert_fits(page, f"forum of a new topic {size}")
                # Nothing is left behind; another draft is not replaced without a question.
                self.go(page, f"/f/{self.garden['id']}/new")
                expect(title).to_have_value("")
                title.fill("Another one")
                expect(page.get_by_text("Draft saved on this device")).to_be_visible()
                forum.select_option("Ponds")
                page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
                expect(forum.locator("option:checked")).to_have_text("Garden")
                expect(title).to_have_value("Another one")
                forum.select_option("Ponds")
                page.get_by_role("dialog").get_by_role("button", name="Replace draft").click()
                expect(page).to_have_url(re.compile(r"-ponds/new$"))
                expect(title).to_have_value("Another one")
                expect(text).to_have_value("")
                text.fill("Where?")
                page.get_by_role("button", name="Post topic").click()
                expect(page.get_by_role("heading", name="Another one").first).to_be_visible()
                expect(page.get_by_text("Ponds").filter(visible=True).first).to_be_visible()
                page.context.close()

    def test_an_update_waits_while_a_message_is_written(self):
        page = self.signed_in("lin")
        self.room(page)
        field = page.get_by_role("textbox", name="Write a message")
        is_writing = lambda: page.evaluate("document.querySelector('form.composer').isWriting")
        field.fill("")
        self.assertFalse(is_writing())
        field.fill("Half a thought")
        self.assertTrue(is_writing())
        field.fill("")
        self.assertFalse(is_writing())

    def test_a_draft_of_a_conversation_that_is_gone_shows_its_text(self):
        topic = self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": "Gone soon", "text": "Yes."}, self.tokens["ada"])
        page = self.signed_in("grace", "phone")
        self.go(page, f"/c/{topic['id']}")
        page.get_by_role("textbox").last.fill("My answer")
        self.go(page, "/you")
        self.call("DELETE", f"/conversations/{topic['id']}", token=self.tokens["ada"])
        page.reload()
        self.settle(page)
        self.go(page, "/you/drafts")
        row = page.locator(".setting-row")
        expect(row).to_contain_text("You can no longer read this conversation")
        expect(row).to_contain_text("My answer")
        expect(row.get_by_role("link")).to_have_count(0)
        self.assert_fits(page, "drafts")
        row.get_by_role("button", name="Delete draft").click()
        expect(page.get_by_text("No drafts on this device.")).to_be_visible()
