"""Buttons under a bot's message: pressed in the browser, told to the bot, and changed by it."""

import re

from browsing import SIZES
from playwright.sync_api import expect
from test_flows import Village

TWO = [{"id": "yes", "label": "Approve", "style": "primary"}, {"id": "no", "label": "Reject", "style": "danger"}]


class Buttons(Village):
    def bot(self, name):
        made = self.call("POST", "/bots", {"name": name, "scope": "write", "forums": [self.garden["id"]]}, self.tokens["ada"])
        return made["user"]["id"], made["token"]

    def offer(self, token, text="Deploy?", conversation=None, buttons=TWO):
        path = f"/conversations/{conversation or self.garden['room_id']}/messages"
        return self.call("POST", path, {"text": text, "buttons": buttons}, token)["id"]

    def presses(self, token):
        page = self.call("GET", "/sync?topics=me&after=" + self.cursor, token=token)
        return [(it["data"]["button_id"], it["data"]["user_id"]) for it in page["data"] if it["event"] == "button.pressed"]

    def buttons(self, page, text):
        return page.locator("article").filter(has_text=text).last.get_by_role("group", name="Buttons")

    def test_a_press_reaches_the_bot_and_shows_its_answer(self):
        for size in SIZES:
            with self.subTest(size=size):
                bot, token = self.bot(f"deployer-{size}")
                self.cursor = self.call("GET", "/sync?topics=me", token=token)["cursor"]
                text = f"Deploy from the {size}?"
                message = self.offer(token, text)
                page = self.signed_in("grace", size)
                self.room(page)
                shown = self.buttons(page, text)
                expect(shown.get_by_role("button", name="Reject")).to_be_enabled()
                self.photograph(page, f"buttons-{size}")
                self.assert_accessible(page, "buttons")
                self.assert_fits(page, "buttons")
                shown.get_by_role("button", name="Approve").click()
                me = self.call("GET", "/me", token=self.tokens["grace"])["id"]
                self.eventually(page, [("yes", me)], lambda: self.presses(token))
                done = [{"id": "yes", "label": "Approved", "pressed": True, "disabled": True}]
                self.call("PATCH", f"/messages/{message}", {"buttons": done}, token)
                pressed = shown.get_by_role("button", name="Approved")
                expect(pressed).to_be_disabled()
                expect(pressed).to_have_attribute("aria-pressed", "true")
                expect(shown.get_by_role("button")).to_have_count(1)
                # A change of buttons is no edit of the text.
                article = page.locator("article").filter(has_text=text).last
                expect(article).not_to_contain_text(re.compile("edited"))
                self.call("PATCH", f"/messages/{message}", {"buttons": []}, token)
                expect(shown).to_have_count(0)

    def test_a_press_with_the_keyboard_keeps_the_focus_and_a_refused_one_is_told(self):
        _, token = self.bot("keyboard")
        self.cursor = self.call("GET", "/sync?topics=me", token=token)["cursor"]
        message = self.offer(token, "Shall I?")
        page = self.signed_in("grace")
        self.room(page)
        button = self.buttons(page, "Shall I?").get_by_role("button", name="Reject")
        button.focus()
        page.keyboard.press("Enter")
        self.eventually(page, ["no"], lambda: [it for it, _ in self.presses(token)])
        expect(button).to_be_focused()
        page.route(re.compile(r"/presses$"), lambda route: route.fulfill(
            status=409, json={"status": 409, "code": "conflict", "title": "Conflict."}, content_type="application/problem+json"))
        button.click()
        expect(page.get_by_role("status").or_(page.get_by_role("alert")).filter(has_text=re.compile("changed|conflict", re.I)).first).to_be_visible()
        expect(button).to_be_enabled()
        self.call("DELETE", f"/messages/{message}", token=token)
        expect(button).to_have_count(0)
