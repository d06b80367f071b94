"""Tombstones of deleted messages, and the setting that hides them."""

from playwright.sync_api import expect
from test_flows import Village


class WithoutTombstones(Village):
    def test_tombstones_can_be_hidden(self):
        first, gone, last = (self.say(text)["id"] for text in ("Before it", "It", "After it"))
        self.call("DELETE", f"/messages/{gone}", token=self.tokens["grace"])
        page = self.signed_in("ada")
        self.room(page)
        expect(page.get_by_text("Deleted by its author")).to_be_visible()
        self.go(page, "/you/appearance")
        with page.expect_response(lambda it: it.request.method == "PATCH" and it.ok):
            page.get_by_role("switch", name="Show deleted messages").uncheck()
        self.eventually(page, False, lambda: self.call("GET", "/users/me", token=self.tokens["ada"])["preferences"].get("tombstones"))
        self.room(page)
        for id in (first, last):
            expect(page.locator(f".message[data-id='{id}']")).to_be_visible()
        expect(page.get_by_text("Deleted by its author")).to_have_count(0)

    def test_older_messages_fill_a_view_without_a_scroll_bar(self):
        forum = self.call("POST", "/forums", {"title": "Raided", "visibility": "members"}, self.tokens["ada"])
        for name in ("grace", "lin"):
            self.call("PUT", f"/forums/{forum['id']}/members/@{name}", {}, self.tokens["ada"])
        room = forum["room_id"]
        before = self.say("Before the raid", "ada", room)
        raid = [self.say(f"Raid {number}", "grace", room)["id"] for number in range(60)]
        lin = self.tokens["lin"]
        self.call("PUT", f"/conversations/{room}/read", {"message_id": raid[-1]}, lin)
        first = f".message[data-id='{before['id']}']"
        with self.subTest("deleted messages are hidden"):
            for id in raid:
                self.call("DELETE", f"/messages/{id}", token=self.tokens["grace"])
            self.call("PATCH", "/users/me", {"preferences": {"tombstones": False}}, lin)
            page = self.signed_in("lin")
            self.go(page, f"/f/{forum['id']}/room")
            expect(page.locator(first)).to_be_visible()
            self.call("PATCH", "/users/me", {"preferences": {}}, lin)
        with self.subTest("the author is muted"):
            last = [self.say(f"Flood {number}", "grace", room)["id"] for number in range(160)][-1]
            self.call("PUT", f"/conversations/{room}/read", {"message_id": last}, lin)
            self.call("PUT", "/users/@grace/mute", {}, lin)
            page = self.signed_in("lin")
            self.go(page, f"/f/{forum['id']}/room")
            expect(page.locator(first)).to_be_visible()
            self.say("After the flood", "ada", room)
            expect(page.locator(".message").last).to_contain_text("After the flood")
            expect(page.locator(first)).to_be_visible()
            self.call("DELETE", "/users/@grace/mute", token=lin)
            expect(page.locator(".message").filter(has_text="Flood 159")).to_be_attached()
        with self.subTest("the screen is high"):
            page = self.signed_in("ada")
            page.set_viewport_size({"width": 1440, "height": 2600})
            self.go(page, f"/f/{forum['id']}/room")
            stream = page.locator(".stream")
            self.eventually(page, True, lambda: stream.evaluate("it => it.scrollHeight > it.clientHeight"))

    def test_a_quote_follows_its_message_outside_the_window(self):
        forum = self.call("POST", "/forums", {"title": "Quotes", "visibility": "members"}, self.tokens["ada"])
        for name in ("grace", "lin"):
            self.call("PUT", f"/forums/{forum['id']}/members/@{name}", {}, self.tokens["ada"])
        room = forum["room_id"]
        first = self.say("The key is under the pot", "grace", room)
        for number in range(60):
            self.say(f"Between {number}", "ada", room)
        last = self.say("Not any more", "ada", room, reply_to=first["id"])
        self.call("PUT", f"/conversations/{room}/read", {"message_id": last["id"]}, self.tokens["lin"])
        page = self.signed_in("lin")
        expect(page.locator(".page-bar .sign-online")).to_be_visible()
        self.go(page, f"/f/{forum['id']}/room")
        answer = page.locator(f".message[data-id='{last['id']}']")
        expect(answer).to_contain_text("The key is under the pot")
        self.call("PATCH", f"/messages/{first['id']}", {"text": "The key is at home"}, self.tokens["grace"])
        expect(answer).to_contain_text("The key is at home")
        self.call("POST", f"/messages/{first['id']}/remove", {}, self.tokens["ada"])
        expect(answer).not_to_contain_text("The key is")
        expect(answer).to_contain_text("Not any more")
