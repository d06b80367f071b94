"""Moderation of users, and muting and blocking between users."""

import re

from playwright.sync_api import expect
from test_flows import Village


class Deciding(Village):
    def more(self, page, name, verb):
        """Chooses an action on a user's page; returns the dialog that opens."""
        self.go(page, f"/u/{name}")
        page.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name=verb, exact=True).click()
        return page.get_by_role("dialog")

    def texts(self, author):
        found = self.call("GET", f"/conversations/{self.garden['room_id']}/messages?limit=200&order=asc", token=self.tokens["ada"])["data"]
        return [it.get("text") for it in found if it["author_id"] == author]


class Moderating(Deciding):
    def test_a_user_is_silenced_for_a_while_and_unsilenced(self):
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                page = self.signed_in("ada", size)
                dialog = self.more(page, "lin", "Silence")
                expect(dialog).to_contain_text("Silence Lin?")
                dialog.get_by_label("Duration").select_option("1 hour")
                dialog.get_by_label("Reason").fill(f"Cool down, {size}")
                self.photograph(page, f"silence-{size}-light")
                self.assert_accessible(page, "silence")
                dialog.get_by_role("button", name="Silence").click()
                row = page.get_by_role("listitem").filter(has_text="Silenced").filter(has_text=f"Cool down, {size}")
                expect(row).to_contain_text("until")
                self.assert_fits(page, "sanctions")
                self.photograph(page, f"decided-{size}-light")
                self.assert_accessible(page, "sanctions")
                row.get_by_role("button", name="End silence").click()
                expect(row).to_contain_text("ended")
                expect(row.get_by_role("button")).to_have_count(0)

    def test_a_silenced_user_reads_until_when_and_why_in_place_of_the_composer(self):
        page = self.signed_in("lin")
        self.go(page, f"/f/{self.garden['id']}-garden/room")
        field = page.get_by_role("textbox", name="Write a message")
        note = page.get_by_role("status").filter(has_text="You are silenced")
        expect(field).to_be_visible()
        silence = {"until": "2037-11-24T03:21:00.000Z", "reason": "Cool down", "forum": self.garden["id"]}
        self.call("PUT", "/users/@lin/silence", silence, self.tokens["ada"])
        expect(note).to_have_text(re.compile("^You are silenced until 24 Nov 2037, .*. Reason: Cool down$"))
        expect(field).to_have_count(0)
        self.photograph(page, "silenced-room-light")
        self.assert_accessible(page, "silenced room")
        page.reload()
        expect(note).to_be_visible()
        expect(field).to_have_count(0)
        self.go(page, f"/f/{self.garden['id']}-garden/topics")
        expect(page.get_by_role("button", name="New topic")).to_have_count(0)
        # Elsewhere they write.
        direct = self.call("POST", "/conversations", {"kind": "direct", "participants": ["@lin"]}, self.tokens["ada"])["id"]
        self.go(page, f"/c/{direct}")
        expect(field).to_be_visible()
        self.go(page, f"/f/{self.garden['id']}-garden/room")
        expect(note).to_be_visible()
        self.call("DELETE", f"/users/@lin/silence?forum={self.garden['id']}", token=self.tokens["ada"])
        expect(note).to_have_count(0)
        expect(field).to_be_visible()

    def test_a_user_is_warned_banned_and_unbanned(self):
        page = self.signed_in("ada")
        dialog = self.more(page, "lin", "Warn")
        dialog.get_by_label("Reason").fill("Please stay kind")
        dialog.get_by_role("button", name="Warn").click()
        decided = page.get_by_role("region", name="Moderation history")
        expect(decided.get_by_role("listitem").filter(has_text="Warned").filter(has_text="Please stay kind")).to_be_visible()
        dialog = self.more(page, "lin", "Ban")
        dialog.get_by_label("Duration").select_option("Permanently")
        dialog.get_by_role("button", name="Ban").click()
        expect(page.get_by_text("Lin is banned.")).to_be_visible()
        # Undo is offered for ten seconds, and as long as the pointer is on it.
        page.get_by_role("button", name="Undo").hover()
        expect(decided.get_by_text("Banned", exact=True)).to_be_visible()
        page.get_by_role("button", name="Undo").click()
        expect(decided.get_by_role("button", name="Unban")).to_have_count(0)
        expect(decided.get_by_role("listitem").first).to_contain_text("ended")

    def test_messages_of_a_user_are_removed_at_once_and_restored(self):
        grace = self.call("GET", "/users/me", token=self.tokens["grace"])["id"]
        for number in range(3):
            self.say(f"Cheap watches {number}")
        page = self.signed_in("ada")
        dialog = self.more(page, "grace", "Remove messages")
        dialog.get_by_label("Posted since").select_option("1 hour ago")
        verb = dialog.get_by_role("button", name="Remove 3 messages")
        expect(verb).to_be_enabled()
        self.photograph(page, "removal-light")
        self.assert_accessible(page, "removal")
        verb.click()
        page.get_by_role("button", name="Undo").hover()
        expect(page.get_by_text("Removing 3 messages by Grace.")).to_be_visible()
        self.eventually(page, [None] * 3, lambda: self.texts(grace))
        page.get_by_role("button", name="Undo").click()
        self.eventually(page, [f"Cheap watches {number}" for number in range(3)], lambda: self.texts(grace))

    def test_a_role_is_chosen_from_a_list(self):
        page = self.signed_in("ada")
        dialog = self.more(page, "lin", "Change role")
        dialog.get_by_label("Role").select_option("Moderator")
        dialog.get_by_role("button", name="Save").click()
        self.eventually(page, "moderator", lambda: self.call("GET", "/users/@lin", token=self.tokens["ada"])["role"])
        # Moderators sanction users and can't change roles; members can do neither.
        moderator = self.signed_in("lin", anew=True)
        self.go(moderator, "/u/grace")
        moderator.get_by_role("button", name="More").click()
        expect(moderator.get_by_role("menuitem", name="Silence")).to_be_visible()
        expect(moderator.get_by_role("menuitem", name="Change role")).to_have_count(0)
        self.call("PATCH", "/users/@lin", {"role": "member", "end_sessions": False}, self.tokens["ada"])
        member = self.signed_in("grace")
        self.go(member, "/u/lin")
        member.get_by_role("button", name="More").click()
        expect(member.get_by_role("menuitem", name="Mute")).to_be_visible()
        expect(member.get_by_role("menuitem", name="Silence")).to_have_count(0)
        expect(member.get_by_role("region", name="Moderation history")).to_have_count(0)


class OneAnother(Deciding):
    def test_muted_and_blocked_users_are_listed(self):
        page = self.signed_in("lin")
        self.go(page, "/u/grace")
        page.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name="Mute").click()
        self.eventually(page, (1, 0), self.left)
        self.more(page, "ada", "Block")
        self.eventually(page, (1, 1), self.left)
        page.get_by_role("button", name="Undo").click()
        self.eventually(page, (1, 0), self.left)
        self.more(page, "ada", "Block")
        self.eventually(page, (1, 1), self.left)
        for size in ("desktop", "phone"):
            view = page if size == "desktop" else self.signed_in("lin", size)
            self.go(view, "/you/privacy")
            expect(view.get_by_role("heading", name="Muted")).to_be_visible()
            expect(view.get_by_role("heading", name="Blocked")).to_be_visible()
            self.photograph(view, f"muted-{size}-light")
            self.assert_accessible(view, "muted and blocked")
            self.assert_fits(view, "muted and blocked")
        page.get_by_role("button", name="Unmute").click()
        expect(page.get_by_role("button", name="Unmute")).to_have_count(0)
        self.go(page, "/u/ada")
        page.get_by_role("button", name="More").click()
        expect(page.get_by_role("menuitem", name="Block", exact=True)).to_have_count(0)
        page.get_by_role("menuitem", name="Unblock").click()
        self.eventually(page, (0, 0), self.left)

    def left(self):
        return tuple(len(self.call("GET", f"/me/{it}", token=self.tokens["lin"])["data"]) for it in ("muted", "blocked"))
