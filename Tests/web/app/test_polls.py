"""Polls: created in rooms and topics, kept in drafts, voted on in two browsers and offline, closed, and shown to visitors."""

import re
from datetime import datetime, timedelta, timezone

from browsing import SIZES, keep_screenshot
from playwright.sync_api import expect
from test_offline import Cached


def after(**span):
    return (datetime.now(timezone.utc) + timedelta(**span)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Polls(Cached):
    def ask(self, question, who="grace", conversation=None, options=("Park", "Lake", "Hill"), **more):
        return self.say(question, who, conversation, poll={"options": list(options), **more})

    def vote(self, message, who, *options):
        self.call("PUT", f"/messages/{message['id']}/vote", {"options": list(options)}, self.tokens[who])

    def poll_of(self, message):
        return self.call("GET", f"/messages/{message['id']}", token=self.tokens["ada"])["poll"]

    def newest(self, conversation=None):
        path = f"/conversations/{conversation or self.garden['room_id']}/messages?limit=1"
        return self.call("GET", path, token=self.tokens["ada"])["data"][0]

    def poll(self, page, question):
        return page.locator("article").filter(has_text=question).last.get_by_role("group", name="Poll")

    def option(self, page, question, text):
        return self.poll(page, question).get_by_role("button", name=re.compile(f"^{text} "))

    def begin(self, page):
        page.get_by_role("button", name="Add files, a link or a poll").click()
        page.get_by_role("menuitem", name="Poll").click()
        return page.get_by_role("group", name="Poll", exact=True).filter(has=page.get_by_label("Option 1", exact=True))

    def fill(self, editor, *options):
        for number, text in enumerate(options, 1):
            if number > 2 and not editor.get_by_label(f"Option {number}", exact=True).count():
                editor.get_by_role("button", name="Add option").click()
            editor.get_by_label(f"Option {number}", exact=True).fill(text)


class Creating(Polls):
    def test_a_poll_is_written_kept_and_sent(self):
        for size in SIZES:
            with self.subTest(size=size):
                page = self.signed_in("ada", size)
                self.room(page)
                editor = self.begin(page)
                expect(editor.get_by_label("Option 1", exact=True)).to_be_focused()
                question = f"Where do we meet, {size}?"
                field = page.get_by_role("textbox", name="Write a message")
                field.fill(question)
                field.press("Enter")
                expect(editor.get_by_role("alert")).to_have_text("Enter at least 2 options.")
                # Enter goes on to the next option, and makes one.
                for text in ("Park", "Lake", "Lake"):
                    page.keyboard.type(text)
                    page.keyboard.press("Enter")
                field.focus()
                field.press("Enter")
                expect(editor.get_by_role("alert")).to_have_text("Two options are the same.")
                expect(editor.get_by_label("Option 3", exact=True)).to_be_focused()
                page.keyboard.press("Control+a")
                page.keyboard.type("Hill")
                expect(editor.get_by_role("alert")).to_have_count(0)
                editor.get_by_role("button", name="Remove option 4").click()
                editor.get_by_label("Close after").select_option("3 days")
                editor.get_by_label("Multiple answers").check()
                self.photograph(page, f"poll-editor-{size}")
                self.assert_accessible(page, "the editor of a poll")
                self.assert_fits(page, "the editor of a poll")

                # The poll of a draft, also after a reload.
                self.go(page, "/forums")
                self.room(page)
                expect(editor.get_by_label("Option 3", exact=True)).to_have_value("Hill")
                self.open(page, f"/f/{self.garden['id']}/room")
                expect(editor.get_by_label("Option 3", exact=True)).to_have_value("Hill")
                expect(editor.get_by_label("Multiple answers")).to_be_checked()
                expect(editor.get_by_label("Close after")).to_have_value("days")
                expect(field).to_have_value(question)
                page.get_by_role("button", name="Send").click()
                expect(editor).to_have_count(0)
                expect(field).to_have_value("")
                shown = self.poll(page, question)
                expect(shown.get_by_role("button", name="Park 0 votes")).to_be_enabled()
                expect(shown).to_contain_text("Choose one or more")
                expect(shown).to_contain_text("No votes yet · Closes in 3 days")
                poll = self.newest()["poll"]
                self.assertEqual([it["text"] for it in poll["options"]], ["Park", "Lake", "Hill"])
                self.assertEqual((poll["choices"], poll["anonymous"]), (3, False))
                left = datetime.fromisoformat(poll["closes_at"]) - datetime.now(timezone.utc)
                self.assertLess(abs(left - timedelta(days=3)), timedelta(minutes=5))

    def test_options_are_limited_and_the_poll_can_be_removed(self):
        page = self.signed_in("ada")
        self.room(page)
        editor = self.begin(page)
        expect(editor.get_by_role("button", name="Remove option 1")).to_be_disabled()
        self.fill(editor, *(f"Bed {it}" for it in range(1, 11)))
        expect(editor.get_by_role("button", name="Add option")).to_have_count(0)
        expect(editor.get_by_text("A poll has at most 10 options.")).to_be_visible()
        editor.get_by_role("button", name="Remove poll").click()
        expect(editor).to_have_count(0)
        expect(page.get_by_role("textbox", name="Write a message")).to_be_focused()
        self.write(page, "No poll after all")
        sent = page.locator(".message.is-mine").filter(has_text="No poll after all")
        expect(sent.locator(".state")).to_have_attribute("title", "Sent")
        self.assertNotIn("poll", self.newest())

    def test_a_topic_begins_with_a_poll(self):
        page = self.signed_in("grace")
        self.go(page, f"/f/{self.garden['id']}-garden/new")
        page.get_by_label("Title").fill("The summer party")
        editor = self.begin(page)
        self.fill(editor, "June", "July")
        editor.get_by_label("Anonymous").check()
        page.get_by_role("textbox", name="Write the first post").or_(page.locator(".composer-input")).first.fill("When shall it be?")
        self.photograph(page, "poll-new-topic")
        page.get_by_role("button", name="Post topic").click()
        shown = self.poll(page, "When shall it be?")
        expect(shown).to_contain_text("No votes yet · Anonymous")
        shown.get_by_role("button", name="July 0 votes").click()
        expect(shown.get_by_role("button", name="July 1 vote, 100%")).to_have_attribute("aria-pressed", "true")
        expect(shown).to_contain_text("1 person voted")
        expect(shown.get_by_role("button", name="Show votes")).to_have_count(0)
        self.photograph(page, "poll-topic")
        self.assert_accessible(page, "a poll in a topic")

    def test_an_unsent_poll_is_edited_and_sent(self):
        page = self.signed_in("ada")
        self.room(page)
        refusal = {"status": 400, "code": "invalid", "errors": [{"field": "poll.closes_at", "code": "invalid"}]}
        path = re.compile(r"/conversations/\d+/messages$")
        page.route(path, lambda route: route.fulfill(status=400, json=refusal, content_type="application/problem+json") if route.request.method == "POST" else route.continue_())
        editor = self.begin(page)
        self.fill(editor, "Yes", "No")
        editor.get_by_label("Close after").select_option("1 hour")
        self.write(page, "Shall we?")
        failed = page.locator(".message.is-failed")
        expect(failed).to_contain_text("The poll would close in the past. Choose another time.")
        # An unsent poll takes no votes.
        expect(self.poll(page, "Shall we?")).to_contain_text("Closes in")
        expect(self.poll(page, "Shall we?").locator("button")).to_have_count(0)
        failed.get_by_role("button", name="Edit").click()
        expect(editor.get_by_label("Option 2", exact=True)).to_have_value("No")
        expect(editor.get_by_label("Close after")).to_have_value("hour")
        page.unroute(path)
        page.get_by_role("button", name="Send").click()
        expect(self.option(page, "Shall we?", "Yes")).to_be_visible()
        self.assertEqual(len(self.newest()["poll"]["options"]), 2)


class Voting(Polls):
    def test_a_vote_is_given_changed_and_withdrawn_in_two_browsers(self):
        question = "Tea or coffee?"
        message = self.ask(question, options=("Tea", "Coffee"))
        page, other = self.signed_in("ada"), self.signed_in("lin", "phone")
        for it in (page, other):
            self.room(it)
        self.option(page, question, "Tea").click()
        expect(self.option(page, question, "Tea")).to_have_attribute("aria-pressed", "true")
        # The focus stays where it was, so that the keyboard goes on.
        expect(self.option(page, question, "Tea")).to_be_focused()
        expect(self.option(other, question, "Tea")).to_have_accessible_name("Tea 1 vote, 100%")
        expect(self.option(other, question, "Tea")).to_have_attribute("aria-pressed", "false")
        self.option(other, question, "Coffee").tap()
        expect(self.option(page, question, "Coffee")).to_have_accessible_name("Coffee 1 vote, 50%")
        self.photograph(page, "poll-room-desktop")
        self.photograph(other, "poll-room-phone")
        for it in (page, other):
            self.assert_accessible(it, "a poll")
            self.assert_fits(it, "a poll")
            it.emulate_media(color_scheme="dark")
            self.assert_accessible(it, "a poll in dark", ["color-contrast"])
        self.photograph(other, "poll-room-phone-dark")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(self.option(page, question, "Coffee")).to_have_accessible_name("Coffee 2 votes, 100%")
        self.eventually(page, [0, 2], lambda: [it["votes"] for it in self.poll_of(message)["options"]])
        self.option(page, question, "Coffee").click()
        expect(self.option(other, question, "Coffee")).to_have_accessible_name("Coffee 1 vote, 100%")
        self.eventually(page, (1, []), lambda: (self.poll_of(message)["voters"], self.poll_of(message)["mine"]))

    def test_the_users_other_device_shows_the_vote(self):
        question = "Which day?"
        self.ask(question, options=("Friday", "Sunday"))
        page, other = self.signed_in("ada"), self.signed_in("ada")
        for it in (page, other):
            self.room(it)
        self.option(page, question, "Sunday").click()
        expect(self.option(other, question, "Sunday")).to_have_attribute("aria-pressed", "true")

    def test_several_options_up_to_the_limit(self):
        question = "Two colours, please"
        message = self.ask(question, options=("Red", "Green", "Blue"), choices=2)
        page = self.signed_in("ada")
        self.room(page)
        expect(self.poll(page, question)).to_contain_text("Choose up to 2")
        # Quickly one after the other.
        self.option(page, question, "Red").click()
        self.option(page, question, "Blue").click()
        expect(self.option(page, question, "Green")).to_be_disabled()
        self.eventually(page, [0, 2], lambda: self.poll_of(message)["mine"])
        self.option(page, question, "Red").click()
        expect(self.option(page, question, "Green")).to_be_enabled()
        self.eventually(page, [2], lambda: self.poll_of(message)["mine"])

    def test_the_voters_are_listed(self):
        question = "Who comes?"
        message = self.ask(question, options=("I do", "Not me"))
        self.vote(message, "lin", 0)
        self.vote(message, "grace", 1)
        page = self.signed_in("ada")
        self.room(page)
        self.poll(page, question).get_by_role("button", name="Show votes").click()
        votes = page.get_by_role("dialog", name="Votes")
        sections = votes.locator("section")
        expect(sections.nth(0)).to_contain_text(re.compile("I do 1 vote.*Lin"))
        expect(sections.nth(1)).to_contain_text(re.compile("Not me 1 vote.*Grace"))
        expect(votes.get_by_role("button", name="Show more")).to_have_count(0)
        self.photograph(page, "poll-votes")
        self.assert_accessible(page, "votes")

    def test_an_author_closes_the_poll(self):
        question = "Is it over?"
        message = self.ask(question, options=("Yes", "No"))
        author, other = self.signed_in("grace"), self.signed_in("lin")
        for it in (author, other):
            self.room(it)
        expect(self.option(other, question, "Yes")).to_be_visible()
        expect(self.poll(other, question).get_by_role("button", name="Close poll")).to_have_count(0)
        self.poll(author, question).get_by_role("button", name="Close poll").click()
        author.get_by_role("dialog", name="Close this poll?").get_by_role("button", name="Close poll").click()
        for it in (author, other):
            expect(self.poll(it, question)).to_contain_text("Closed")
            expect(self.poll(it, question).locator("button.poll-option")).to_have_count(0)
        self.assertLessEqual(self.poll_of(message)["closes_at"], after(seconds=5))
        self.assertEqual(self.call("GET", f"/audit?subject={message['id']}", token=self.tokens["ada"])["data"], [])

    def test_a_moderator_closes_it_and_the_audit_log_says_so(self):
        question = "Must that be?"
        self.ask(question, options=("Yes", "No"))
        page = self.signed_in("ada")
        self.room(page)
        self.poll(page, question).get_by_role("button", name="Close poll").click()
        page.get_by_role("dialog", name="Close this poll?").get_by_role("button", name="Close poll").click()
        expect(self.poll(page, question)).to_contain_text("Closed")
        self.go(page, "/admin/audit")
        expect(page.get_by_role("main").get_by_text("Ada closed the poll in a message")).to_be_visible()

    def test_a_poll_that_closes_meanwhile_refuses_the_vote(self):
        question = "Quick, yes or no?"
        message = self.ask(question, options=("Yes", "No"))
        page = self.signed_in("lin")
        self.room(page)
        expect(self.option(page, question, "Yes")).to_be_visible()
        # The page does not learn of the closing before it votes.
        page.route(re.compile(r"/messages/\d+/vote$"), lambda route: route.fulfill(
            status=409, json={"status": 409, "code": "poll_closed"}, content_type="application/problem+json"))
        self.option(page, question, "Yes").click()
        expect(page.get_by_text("This poll is closed.")).to_be_visible()
        expect(self.option(page, question, "Yes")).to_have_attribute("aria-pressed", "false")
        self.assertEqual(self.poll_of(message)["voters"], 0)

    def test_it_closes_at_its_time(self):
        question = "Still open?"
        page = self.signed_in("lin")
        self.room(page)
        # The page is open already: a slow browser has to show the poll before it closes.
        self.ask(question, options=("Yes", "No"), closes_at=after(seconds=8))
        expect(self.option(page, question, "Yes")).to_be_visible()
        expect(self.poll(page, question)).to_contain_text("Closed")
        expect(self.poll(page, question).locator("button.poll-option")).to_have_count(0)

    def test_lists_name_a_poll(self):
        group = self.call("POST", "/conversations", {"kind": "group", "title": "Seeds", "participants": ["@lin"]}, self.tokens["ada"])
        self.ask("What shall we sow?", "ada", group["id"], options=("Radishes", "Chervil"))
        page = self.signed_in("lin")
        expect(page.get_by_role("main").get_by_text("Poll: What shall we sow?")).to_be_visible()
        self.go(page, "/search?q=chervil")
        hit = page.locator(".hit").filter(has_text="What shall we sow?")
        expect(hit).to_contain_text("· Poll")


class Offline(Polls):
    def test_votes_and_polls_wait_for_the_network(self):
        question = "Rain or shine?"
        message = self.ask(question, options=("Rain", "Shine"))
        page = self.cached("lin")
        self.room(page)
        expect(self.option(page, question, "Rain")).to_be_visible()
        context = page.context
        context.set_offline(True)
        page.close()

        # The part, its style and its texts come from the cache.
        page = self.page(context)
        self.open(page, f"/f/{self.garden['id']}/room")
        for text in ("Rain", "Shine"):
            self.option(page, question, text).click()
            expect(self.option(page, question, text)).to_have_attribute("aria-pressed", "true")
        expect(self.option(page, question, "Shine")).to_have_accessible_name("Shine 1 vote, 100%")
        expect(self.option(page, question, "Shine")).to_have_css("display", "flex")
        editor = self.begin(page)
        self.fill(editor, "Spade", "Fork")
        self.write(page, "Spade or fork?")
        expect(self.poll(page, "Spade or fork?")).to_contain_text("Fork")
        self.photograph(page, "poll-offline")
        self.assert_accessible(page, "an unsent poll")
        self.assertEqual(self.poll_of(message)["voters"], 0)
        context.set_offline(False)
        expect(self.option(page, "Spade or fork?", "Fork")).to_be_visible()
        self.eventually(page, [0, 1], lambda: [it["votes"] for it in self.poll_of(message)["options"]])
        self.assertEqual([it["text"] for it in self.newest()["poll"]["options"]], ["Spade", "Fork"])


class Visitors(Polls):
    def test_a_visitor_reads_the_poll_without_scripts(self):
        topic = self.call("POST", f"/forums/{self.garden['id']}/conversations", {
            "title": "The tool shed", "text": "Which colour?", "poll": {"options": ["Green", "Blue & white"]}}, self.tokens["grace"])
        first = self.newest(topic["id"])
        self.vote(first, "lin", 1)
        for size in SIZES:
            for scheme in ("light", "dark"):
                with self.subTest(size=size, scheme=scheme):
                    # axe is a script, so the page has them, too; it needs none.
                    page = self.page(self.context(size, scheme))
                    page.goto(f"{self.origin}/t/{topic['id']}")
                    poll = page.locator(".poll")
                    expect(poll.get_by_role("listitem")).to_have_text([re.compile("Green.*0 votes · 0%"), re.compile("Blue & white.*1 vote · 100%")])
                    expect(poll).to_contain_text("1 person voted · Open")
                    self.assert_accessible(page, "a poll for visitors")
                    self.assert_fits(page, "a poll for visitors")
                    keep_screenshot(page, f"visitor-poll-{size}-{scheme}")
        page = self.page(self.context(java_script_enabled=False))
        page.goto(f"{self.origin}/t/{topic['id']}")
        expect(page.locator(".poll")).to_contain_text("Blue & white")
        self.call("POST", f"/messages/{first['id']}/poll/close", {}, self.tokens["grace"])
        page.goto(f"{self.origin}/t/{topic['id']}?from=1")
        expect(page.locator(".poll")).to_contain_text("Closed")
