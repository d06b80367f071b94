"""Forum settings, set by admins and moderators."""

import re

from playwright.sync_api import expect
from test_flows import Village


class ForumSettings(Village):
    def test_posting_permission_and_slow_mode(self):
        page = self.signed_in("ada")
        self.go(page, f"/f/{self.garden['id']}/settings")
        page.get_by_label("Who can write in it").select_option("Moderators")
        page.get_by_label("Who can start topics").select_option("Forum members")
        page.get_by_label("Slow mode").select_option("60 seconds")
        self.photograph(page, "forum-edit-light")
        self.assert_accessible(page, "forum settings")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name="Garden").first).to_be_visible()
        self.eventually(page, ("moderators", "members", 60), lambda: tuple(
            self.call("GET", f"/forums/{self.garden['id']}", token=self.tokens["ada"])[it] for it in ("write", "start_topics", "slow_seconds")))
        reader = self.signed_in("lin", "phone")
        self.room(reader)
        expect(reader.get_by_text("Only this forum's moderators can write here.")).to_be_visible()
        self.go(page, f"/f/{self.garden['id']}/settings")
        page.get_by_label("Archived").check()
        page.get_by_role("button", name="Save").click()
        expect(reader.get_by_role("textbox", name="Write a message")).to_have_count(0)
        self.eventually(page, True, lambda: self.call("GET", f"/forums/{self.garden['id']}", token=self.tokens["ada"])["archived"])

    def test_changes_by_others_show_on_open_pages(self):
        forum = self.plot("Heath")
        address = f"/forums/{forum['id']}"
        self.call("PUT", f"{address}/members/@lin", {}, self.tokens["ada"])
        self.call("POST", f"{address}/conversations", {"title": "Apples", "text": "Which ones?"}, self.tokens["ada"])
        page = self.signed_in("lin")
        pages = {tab: self.page(page.context) for tab in ("topics", "room", "about")}
        for tab, one in pages.items():
            self.open(one, f"/f/{forum['id']}/{tab}")
            expect(one.locator(".page-bar .sign-online")).to_be_visible()
            one.wait_for_load_state("networkidle")
        topics, room, about = pages.values()
        start = topics.get_by_role("button", name="New topic")
        expect(start).to_be_visible()
        self.call("PATCH", address, {"title": "Old heath", "description": "Sheep of our grandparents"}, self.tokens["ada"])
        for one in pages.values():
            expect(one.get_by_role("heading", name="Old heath", level=1)).to_be_visible()
            expect(one).to_have_title(re.compile("Old heath"))
            expect(one.locator(".sidebar [aria-current]")).to_have_text(re.compile("Old heath"))
        expect(room.locator(".page-bar")).to_contain_text("2 people")
        for one in (topics, about):
            expect(one.locator("main")).to_contain_text("Sheep of our grandparents")
        self.call("PUT", "/users/@lin/silence", {"forum": forum["id"], "reason": "Too loud"}, self.tokens["ada"])
        expect(start).to_be_hidden()
        self.call("DELETE", f"/users/@lin/silence?forum={forum['id']}", token=self.tokens["ada"])
        expect(start).to_be_visible()
        self.call("PATCH", address, {"archived": True}, self.tokens["ada"])
        expect(start).to_be_hidden()

    def plot(self, title, visibility="members", **settings):
        ada = self.tokens["ada"]
        forum = self.call("POST", "/forums", {"title": title, "visibility": visibility}, ada)
        return self.call("PATCH", f"/forums/{forum['id']}", settings, ada) if settings else forum

    def test_an_error_is_shown_at_its_field(self):
        forum = self.plot("Orchard")
        page = self.signed_in("ada")
        self.go(page, f"/f/{forum['id']}/settings")
        address = page.get_by_label("Call link")
        address.fill("meet.example.org")
        page.get_by_label("Who can use @room").select_option("Moderators")
        page.get_by_label("Topics can be marked as solved").check()
        page.get_by_label("Show edit history").check()
        page.get_by_role("button", name="Save").click()
        expect(address).to_have_accessible_description(re.compile("Enter a link that starts with https"))
        expect(address).to_be_focused()
        address.fill("https://meet.example.org/orchard?key=1")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name="Orchard").first).to_be_visible()
        stored = self.call("GET", f"/forums/{forum['id']}", token=self.tokens["ada"])
        self.assertEqual([stored[it] for it in ("room_mention", "solvable", "shows_revisions", "locked")], ["moderators", True, True, False])
        self.go(page, f"/f/{forum['id']}/room")
        call = page.get_by_role("link", name="Call at meet.example.org")
        expect(call).to_have_attribute("href", "https://meet.example.org/orchard?key=1")
        expect(call).to_have_attribute("target", "_blank")
        # Users with permission to mention everybody get the completion.
        page.get_by_role("textbox", name="Write a message").press_sequentially("@roo")
        expect(page.get_by_role("option", name="Everyone in this forum")).to_be_visible()
        self.photograph(page, "room-call-light")
        reader = self.signed_in("lin", "phone")
        self.go(reader, f"/f/{forum['id']}/room")
        expect(reader.get_by_role("link", name="Call at meet.example.org")).to_be_visible()
        field = reader.get_by_role("textbox", name="Write a message")
        field.press_sequentially("@lin")
        expect(reader.get_by_role("option", name="@lin")).to_be_visible()
        field.fill("")
        field.press_sequentially("@")
        expect(reader.get_by_role("option").first).to_be_visible()
        expect(reader.get_by_role("option", name="Everyone in this forum")).to_have_count(0)
        self.photograph(reader, "room-call-phone-light")
        self.assert_fits(reader, "a room with a call")

    def test_settings_of_a_private_forum_are_sent_to_its_members(self):
        ada = self.tokens["ada"]
        forum = self.plot("Cellar", "private")
        self.call("PUT", f"/forums/{forum['id']}/members/@lin", {}, ada)
        topic = self.call("POST", f"/forums/{forum['id']}/conversations", {"title": "What stands here", "text": "Jars."}, ada)
        answer = self.say("Bottles.", "lin", topic["id"])
        page = self.signed_in("lin")
        self.go(page, f"/f/{forum['id']}/room")
        field = page.get_by_role("textbox", name="Write a message")
        field.fill("Half a thought")
        self.call("PATCH", f"/forums/{forum['id']}", {"locked": True, "call_url": "https://meet.example.org/cellar"}, ada)
        expect(page.get_by_role("status").filter(has_text="Only this forum's moderators can write here.")).to_be_visible()
        expect(field).to_be_hidden()
        expect(page.get_by_role("link", name="Call at meet.example.org")).to_be_visible()
        # Settings changed while the user was on another page are shown on return.
        self.go(page, "/you")
        self.call("PATCH", f"/forums/{forum['id']}", {"locked": False, "call_url": None, "room_mention": "moderators"}, ada)
        self.go(page, f"/f/{forum['id']}/room")
        expect(field).to_have_value("Half a thought")
        expect(page.get_by_role("link", name="Call at meet.example.org")).to_have_count(0)
        # The same beside a topic and in the topic list.
        self.go(page, f"/f/{forum['id']}/topics")
        expect(page.get_by_role("link", name="What stands here")).to_be_visible()
        self.call("PATCH", f"/forums/{forum['id']}", {"solvable": True}, ada)
        self.call("PATCH", f"/conversations/{topic['id']}", {"solved_by": answer["id"]}, ada)
        expect(page.get_by_role("link", name="Solved What stands here")).to_be_visible()
        # A topic whose answer is deleted is not solved any more.
        self.go(page, f"/t/{topic['id']}")
        way = page.get_by_role("link", name="Solved. Go to the answer")
        expect(way).to_be_visible()
        expect(page.get_by_role("article", name="Answer")).to_contain_text("Bottles.")
        expect(page.get_by_role("region", name="Answer by Lin")).to_contain_text("Bottles.")
        self.call("DELETE", f"/messages/{answer['id']}", token=self.tokens["lin"])
        expect(way).to_have_count(0)
        expect(page.get_by_role("region", name="Answer by Lin")).to_have_count(0)
        expect(page.locator(".stream-head").get_by_text("Solved", exact=True)).to_have_count(0)

    def test_a_conflicting_change_is_not_overwritten_silently(self):
        forum = self.plot("Kitchen")
        page = self.signed_in("ada")
        self.go(page, f"/f/{forum['id']}/settings")
        page.get_by_label("Call link").fill("https://meet.example.org/Küche")
        self.call("PATCH", f"/forums/{forum['id']}", {"description": "Pots"}, self.tokens["ada"])
        page.get_by_role("button", name="Save").click()
        fault = page.get_by_role("alert").filter(has_text="Someone else changed this.")
        expect(fault).to_be_focused()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name="Kitchen").first).to_be_visible()
        stored = self.call("GET", f"/forums/{forum['id']}", token=self.tokens["ada"])
        self.assertEqual(stored["call_url"], "https://meet.example.org/K%C3%BCche")
        # Members have no settings page.
        reader = self.signed_in("lin")
        self.go(reader, f"/f/{forum['id']}/settings")
        expect(reader.get_by_text("This page doesn't exist, or you don't have access to it.")).to_be_visible()
        expect(reader.get_by_label("Locked")).to_have_count(0)

    def test_a_failed_message_stays_in_a_locked_forum(self):
        forum = self.plot("Gate")
        page = self.signed_in("lin")
        self.go(page, f"/f/{forum['id']}/room")
        page.route(re.compile("/messages$"), lambda route: route.fulfill(
            status=403, content_type="application/problem+json", body='{"status": 403, "code": "forbidden"}'))
        page.get_by_role("textbox", name="Write a message").fill("All that I thought")
        page.get_by_role("button", name="Send").click()
        message = page.locator(".message", has_text="All that I thought")
        # Screen readers speak it at once.
        edit = message.get_by_role("alert").filter(has_text="Not sent").get_by_role("button", name="Edit")
        expect(edit).to_be_visible()
        self.call("PATCH", f"/forums/{forum['id']}", {"locked": True}, self.tokens["ada"])
        expect(page.get_by_text("Only this forum's moderators can write here.")).to_be_visible()
        edit.click()
        expect(page.locator(".toast").filter(has_text="Only this forum's moderators")).to_be_visible()
        expect(message).to_be_visible()
        # Sent after the forum is unlocked.
        self.call("PATCH", f"/forums/{forum['id']}", {"locked": False}, self.tokens["ada"])
        field = page.get_by_role("textbox", name="Write a message")
        expect(field).to_be_visible()
        edit.click()
        expect(field).to_have_value("All that I thought")
        expect(message).to_have_count(0)

    def test_a_moderator_can_lock_and_change_no_other_setting(self):
        forum = self.plot("Shed")
        self.call("PUT", f"/forums/{forum['id']}/members/@grace", {"role": "moderator"}, self.tokens["ada"])
        reader = self.signed_in("lin")
        self.go(reader, f"/f/{forum['id']}/room")
        field = reader.get_by_role("textbox", name="Write a message")
        field.fill("Half a thought")
        page = self.signed_in("grace")
        self.go(page, f"/f/{forum['id']}/settings")
        expect(page.get_by_label("Title")).to_have_count(0)
        page.get_by_label("Locked").check()
        page.get_by_role("button", name="Save").click()
        # A user on the page sees it at once, and keeps the draft and the focus.
        expect(reader.get_by_text("Only this forum's moderators can write here.")).to_be_visible()
        expect(field).to_be_hidden()
        expect(reader.get_by_role("group", name="Messages")).to_be_focused()
        expect(page.get_by_role("heading", name="Shed").first).to_be_visible()
        self.go(page, f"/f/{forum['id']}/settings")
        page.get_by_label("Locked").uncheck()
        page.get_by_role("button", name="Save").click()
        expect(field).to_have_value("Half a thought")

    def test_an_answer_solves_a_topic(self):
        forum = self.plot("Questions", solvable=True)
        topic = self.call("POST", f"/forums/{forum['id']}/conversations", {"title": "The pump is silent", "text": "What is it?"}, self.tokens["grace"])
        answer = self.say("Is it the oil?", "lin", topic["id"])
        self.call("PATCH", f"/messages/{answer['id']}", {"text": "It was out of oil."}, self.tokens["lin"])
        address = f"/t/{topic['id']}"
        asker, other = self.signed_in("grace"), self.signed_in("lin", "phone")
        for page in (asker, other):
            self.go(page, address)
        verbs = self.verbs(asker, "It was out of oil.")
        self.assertNotIn("Edit history", verbs)
        asker.get_by_role("menuitem", name="Mark as answer").click()
        label = "Answer"
        for page in (asker, other):
            expect(page.locator(".post", has_text="It was out of oil.").get_by_text(label, exact=True)).to_be_visible()
            expect(page.get_by_role("link", name="Solved. Go to the answer")).to_have_attribute("href", f"/m/{answer['id']}")
            # Under the question, with the way to it.
            repeated = page.locator(".post").filter(has_text="What is it?").get_by_role("region", name="Answer by Lin")
            expect(repeated).to_contain_text("It was out of oil.")
            expect(repeated.get_by_role("link", name="Answer by Lin")).to_have_attribute("href", f"/m/{answer['id']}")
        # Beside the topic and in the topic list.
        expect(asker.get_by_role("link", name="Solved The pump is silent")).to_be_visible()
        self.assert_accessible(asker, "a solved topic")
        self.photograph(asker, "topic-solved-light")
        self.photograph(other, "topic-solved-phone-light")
        # Not offered for the question, nor to other users.
        self.assertNotIn("Mark as answer", self.verbs(asker, "What is it?"))
        asker.keyboard.press("Escape")
        self.assertNotIn("the answer", self.verbs(other, "It was out of oil.", "button"))
        other.keyboard.press("Escape")
        self.call("PATCH", f"/conversations/{topic['id']}", {"locked": True}, self.tokens["ada"])
        expect(other.get_by_text("This topic is locked. You can read it.")).to_be_visible()
        expect(other.locator(".stream-head").get_by_text("Locked")).to_be_visible()
        expect(other.get_by_role("textbox")).to_have_count(0)
        self.go(other, f"/f/{forum['id']}/topics")
        expect(other.get_by_role("link", name="Locked Solved The pump is silent")).to_be_visible()

        # Moderators can unmark it; with `shows_revisions`, all users see earlier texts.
        self.call("PATCH", f"/forums/{forum['id']}", {"shows_revisions": True}, self.tokens["ada"])
        owner = self.signed_in("ada")
        self.go(owner, address)
        self.verbs(owner, "It was out of oil.")
        owner.get_by_role("menuitem", name="Unmark as answer").click()
        expect(asker.get_by_text(label, exact=True)).to_have_count(0)
        self.eventually(asker, True, lambda: self.offers(asker, "It was out of oil.", "Edit history"))
        self.verbs(asker, "It was out of oil.")
        asker.get_by_role("menuitem", name="Edit history").click()
        expect(asker.get_by_role("dialog")).to_contain_text("Is it the oil?")
        expect(asker.get_by_role("button", name="Delete this version")).to_have_count(0)
        # The author can remove an earlier text.
        self.go(other, address)
        self.assertIn("Edit history", self.verbs(other, "It was out of oil.", "button"))
        other.get_by_role("button", name="Edit history").click()
        other.get_by_role("button", name="Delete this version").click()
        other.get_by_role("dialog", name="Delete this version?").get_by_role("button", name="Delete this version").click()
        expect(other.get_by_role("dialog")).to_have_count(0)
        self.assertEqual(self.call("GET", f"/messages/{answer['id']}/revisions", token=self.tokens["lin"])["data"], [])

    def offers(self, page, text, verb):
        found = verb in self.verbs(page, text)
        page.keyboard.press("Escape")
        return found

    def verbs(self, page, text, role="menuitem"):
        """Actions of a post: a menu with a pointer, a sheet on a phone."""
        page.locator(".post", has_text=text).last.get_by_role("button", name="More").click()
        page.get_by_role(role, name="Copy link").wait_for()
        return " ".join(page.get_by_role(role).all_inner_texts())

    def test_the_server_finds_no_picture_at_an_address(self):
        page = self.signed_in("ada")
        self.go(page, "/forums/new")
        page.get_by_label("Title").fill("Orchard")
        address = page.get_by_label("Picture URL")
        # Addresses of the server's own network are not opened.
        address.fill("http://127.0.0.1:9/rose.png")
        expect(address).to_have_accessible_description(re.compile("No picture found at this address."))
        expect(page.get_by_role("button", name="Create forum")).to_be_disabled()


class WithoutOutgoingRequests(Village):
    """A server that opens no addresses of others does not say that there is no picture."""

    options = ("--outgoing", "off")

    def test_the_form_of_a_new_forum_has_no_field_for_an_address(self):
        page = self.signed_in("ada")
        self.go(page, "/forums/new")
        page.get_by_label("Title").fill("Orchard")
        expect(page.locator("input[type=file]")).to_have_count(1)
        expect(page.get_by_label("Picture URL")).to_have_count(0)
        page.get_by_role("button", name="Create forum").click()
        expect(page.get_by_role("heading", name="Orchard").first).to_be_visible()

    def test_the_address_of_a_forum_can_be_changed(self):
        ada = self.tokens["ada"]
        forum = self.call("POST", "/forums", {"title": "Kitchen", "icon_url": "https://example.org/old.png"}, ada)
        page = self.signed_in("ada")
        self.go(page, f"/f/{forum['id']}/settings")
        address = page.get_by_label("Picture URL")
        expect(address).to_have_value("https://example.org/old.png")
        with page.expect_response(lambda it: it.url.endswith("/previews")) as answer:
            address.fill("https://example.org/new.png")
        self.assertEqual((answer.value.status, answer.value.json()["code"]), (403, "previews_off"))
        save = page.get_by_role("button", name="Save")
        expect(save).to_be_enabled()
        expect(page.get_by_text("No picture found at this address.")).to_have_count(0)
        save.click()
        expect(page.get_by_role("heading", name="Kitchen").first).to_be_visible()
        self.eventually(page, "https://example.org/new.png",
                        lambda: self.call("GET", f"/forums/{forum['id']}", token=ada)["icon_url"])
