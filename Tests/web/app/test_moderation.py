"""The queue of reports, decisions from a message, the audit log, and what a banned user is told."""

import re

from browsing import PASSWORD
from playwright.sync_api import expect
from test_flows import Village


class Raiders(Village):
    """Members whose posts are reported."""

    def raider(self, name):
        invite = self.call("POST", "/invites", {}, self.tokens["ada"])["code"]
        body = {"name": name, "display_name": name.title(), "password": PASSWORD, "invite": invite, "accept_rules": True}
        token = self.call("POST", "/users", body)["token"]
        self.call("PUT", f"/forums/{self.garden['id']}/members/me", {}, token)
        return token


class Queue(Raiders):
    def test_new_reports_appear_in_the_open_queue_and_more_than_a_page_is_shown(self):
        people = [self.raider(f"peddler{number:02}") for number in range(22)]
        report = lambda number: self.call("POST", "/reports", {"user": f"@peddler{number:02}", "reason": "Spam"}, self.tokens["grace"])
        page = self.signed_in("ada")
        self.go(page, "/admin/reports")
        cards = page.get_by_role("article", name=re.compile("^Peddler"))
        expect(page.get_by_text("No open reports.")).to_be_visible()
        report(0)
        expect(cards).to_have_count(1)
        for number in range(1, len(people)):
            report(number)
        more = page.locator(".page-column > button")
        self.eventually(page, True, lambda: more.is_visible())
        before = cards.count()
        more.click()
        expect(cards).to_have_count(len(people))
        self.assertLess(before, len(people))
        expect(more).to_be_hidden()
        # A decision keeps all of them.
        cards.last.get_by_role("button", name="Dismiss").click()
        expect(cards).to_have_count(len(people) - 1)


    def test_a_report_that_another_moderator_has_resolved_leaves_the_open_queue(self):
        ada = self.tokens["ada"]
        self.call("PATCH", "/users/@lin", {"role": "moderator", "end_sessions": False}, ada)
        for name in ("hawker", "tout"):
            self.raider(name)
            self.call("POST", "/reports", {"user": f"@{name}", "reason": "Spam"}, self.tokens["grace"])
        page = self.signed_in("ada")
        self.go(page, "/admin/reports")
        cards = page.get_by_role("article", name=re.compile("^(Hawker|Tout)"))
        expect(cards).to_have_count(2)
        page.wait_for_load_state("networkidle")
        for left, name in ((1, "hawker"), (0, "tout")):
            self.call("PATCH", "/reports", {"user": f"@{name}", "state": "dismissed"}, self.tokens["lin"])
            expect(cards).to_have_count(left)


class Raid(Raiders):
    def test_a_raid_is_removed_with_two_presses_a_user_and_undone(self):
        mallory = self.raider("mallory")
        posts = [self.call("POST", f"/conversations/{self.garden['room_id']}/messages", {"text": f"Cheap watches {number}"}, mallory)["id"]
                 for number in range(4)]
        for name in ("grace", "lin"):
            for post in posts:
                self.call("POST", "/reports", {"message_id": post, "reason": "Spam"}, self.tokens[name])
        page = self.signed_in("ada")
        expect(page.locator(".inbox-item").filter(has_text=re.compile("report"))).to_have_count(1)
        page.get_by_role("link", name=re.compile("8 new reports to review")).click()
        card = page.get_by_role("article", name="Mallory", exact=True)
        expect(card).to_have_count(1)
        expect(card).to_contain_text("8 reports from 2 people")
        expect(card).to_contain_text("1 more reported post")
        expect(card.get_by_role("link", name="Garden").first).to_have_attribute("href", re.compile("^/m/"))
        expect(card.get_by_role("button", name="Remove 4 messages and ban")).to_be_visible()
        self.photograph(page, "report-queue-desktop-light")
        self.assert_accessible(page, "report queue")
        self.assert_fits(page, "report queue")

        card.get_by_role("button", name="Remove 4 messages and ban").click()
        dialog = page.get_by_role("dialog", name="Ban Mallory?")
        expect(dialog.get_by_role("switch", name="Also remove messages")).to_be_checked()
        verb = dialog.get_by_role("button", name="Remove 4 messages and ban")
        expect(verb).to_be_visible()
        self.photograph(page, "ban-dialog-light")
        self.assert_accessible(page, "ban dialog")
        verb.click()
        expect(page.get_by_text("No open reports.")).to_be_visible()
        self.eventually(page, ["disabled", 0], lambda: self.state("mallory"))
        page.get_by_role("button", name="Undo").click()
        expect(card).to_contain_text("8 reports from 2 people")
        self.eventually(page, ["active", 4], lambda: self.state("mallory"))

        # One post is removed, all others are dismissed; both can be undone.
        card.get_by_role("button", name="Remove", exact=True).first.click()
        self.eventually(page, ["active", 3], lambda: self.state("mallory"))
        expect(card).to_contain_text("6 reports from 2 people")
        card.get_by_role("button", name="Dismiss").click()
        expect(page.get_by_text("No open reports.")).to_be_visible()
        page.get_by_role("button", name="Undo").last.click()
        expect(card).to_contain_text("6 reports from 2 people")

    def test_a_warning_stands_in_the_history(self):
        trudy = self.raider("trudy")
        self.say("A long line before it, which a phone has no room for, so that it is cut off")
        post = self.call("POST", f"/conversations/{self.garden['room_id']}/messages", {"text": "Rubbish"}, trudy)["id"]
        self.call("POST", "/reports", {"message_id": post, "reason": "Rude"}, self.tokens["grace"])
        page = self.signed_in("ada", "phone")
        self.go(page, "/admin/reports")
        card = page.get_by_role("article", name="Trudy", exact=True)
        self.photograph(page, "report-queue-phone-light")
        self.assert_fits(page, "report queue")
        card.get_by_role("button", name="Warn").click()
        dialog = page.get_by_role("dialog", name="Warn Trudy?")
        dialog.get_by_label("Reason").fill("Please stay kind")
        dialog.get_by_role("button", name="Warn").click()
        expect(card).to_have_count(0)
        self.call("POST", "/reports", {"user": "@trudy", "reason": "Again"}, self.tokens["grace"])
        self.go(page, "/admin")
        self.go(page, "/admin/reports")
        expect(card).to_contain_text("History: Warned")

    def test_long_cards_are_cut_until_they_are_opened(self):
        wendy = self.raider("wendy")
        posts = [self.call("POST", f"/conversations/{self.garden['room_id']}/messages", {"text": text}, wendy)["id"]
                 for text in ("Cheap watches. " * 200, "Cheap rings")]
        for post in posts:
            self.call("POST", "/reports", {"message_id": post, "reason": "Spam"}, self.tokens["grace"])
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                page = self.signed_in("ada", size)
                self.go(page, "/admin/reports")
                card = page.get_by_role("article", name="Wendy", exact=True)
                more = card.get_by_role("button", name="Show more")
                cut = card.locator(".report-cut")
                expect(more).to_be_visible()
                self.photograph(page, f"report-cut-{size}")
                self.assert_accessible(page, f"cut reports {size}")
                self.assertLess(self.box(cut)["height"], 400)
                expect(card.get_by_role("button", name="Dismiss")).to_be_visible()
                more.click()
                expect(more).to_be_hidden()
                self.assertGreater(self.box(cut)["height"], 400)
                # The text stays open when the queue is drawn anew.
                self.call("PATCH", "/users/me", {"display_name": f"Wendy {size}"}, wendy)
                card = page.get_by_role("article", name=f"Wendy {size}", exact=True)
                expect(card).to_be_visible()
                expect(card.get_by_role("button", name="Show more")).to_be_hidden()
                # The keyboard opens what it reaches.
                self.go(page, "/admin")
                self.go(page, "/admin/reports")
                expect(card.get_by_role("button", name="Show more")).to_be_visible()
                card.get_by_role("button", name="Remove", exact=True).last.focus()
                expect(card.get_by_role("button", name="Show more")).to_be_hidden()
                expect(card.get_by_role("button", name="Remove", exact=True).last).to_be_focused()
                self.call("PATCH", "/users/me", {"display_name": "Wendy"}, wendy)
                page.context.close()

    def test_a_rule_is_tried_and_holds_posts_that_are_approved_and_rejected(self):
        room = self.garden["room_id"]
        trent = self.raider("trent")
        self.call("POST", f"/conversations/{room}/messages", {"text": "Free spins for you"}, trent)
        page = self.signed_in("ada")
        self.go(page, "/admin/rules")
        page.get_by_role("button", name="New rule").click()
        dialog = page.get_by_role("dialog", name="New rule")
        dialog.get_by_label("Name").fill("Casinos")
        dialog.get_by_label("Words or phrases").fill("free spins")
        dialog.get_by_role("button", name="Try on the last 1,000 messages").click()
        expect(dialog).to_contain_text("Matches 1 of the last")
        expect(dialog.get_by_role("link", name="Trent")).to_contain_text("Free spins for you")
        self.assert_accessible(page, "rule form")
        dialog.get_by_role("switch", name="On").check()
        dialog.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Rule saved.")).to_be_visible()
        expect(page.get_by_text("Casinos")).to_be_visible()
        self.photograph(page, "moderation-rules-desktop-light")
        self.assert_accessible(page, "moderation rules")
        self.assert_fits(page, "moderation rules")

        for text in ("More FREE SPINS", "Free spins again"):
            with self.assertRaisesRegex(AssertionError, "held_for_review"):
                self.call("POST", f"/conversations/{room}/messages", {"text": text}, trent)
        self.go(page, "/admin/reports")
        card = page.get_by_role("article", name="Trent", exact=True)
        expect(card).to_contain_text("Held by a rule")
        self.photograph(page, "held-posts-desktop-light")
        self.assert_accessible(page, "held posts")
        self.assert_fits(page, "held posts")
        card.get_by_role("button", name="Approve", exact=True).first.click()
        expect(page.get_by_text("Post approved.")).to_be_visible()
        card.get_by_role("button", name="Reject", exact=True).click()
        expect(card).to_have_count(0)
        texts = [it["text"] for it in self.call("GET", f"/conversations/{room}/messages?limit=2", token=trent)["data"]]
        self.assertEqual(texts, ["Free spins again", "Free spins for you"])

    def state(self, name):
        user = self.call("GET", f"/users/@{name}", token=self.tokens["ada"])
        found = self.call("GET", f"/conversations/{self.garden['room_id']}/messages?limit=200", token=self.tokens["ada"])["data"]
        return [user["state"], sum(it["author_id"] == user["id"] and not it.get("deleted") for it in found)]


class ForumModerators(Raiders):
    def test_a_moderator_of_a_forum_has_the_reports_of_that_forum(self):
        ada = self.tokens["ada"]
        cellar = self.call("POST", "/forums", {"title": "Cellar", "visibility": "members"}, ada)
        for forum, role in ((self.garden, "moderator"), (cellar, "member")):
            self.call("PUT", f"/forums/{forum['id']}/members/@lin", {"role": role}, ada)
        mallory = self.raider("mallory")
        self.call("PUT", f"/forums/{cellar['id']}/members/me", {}, mallory)
        for forum, text in ((self.garden, "Cheap watches"), (self.garden, "Cheap rings"), (cellar, "Cheap wine")):
            post = self.call("POST", f"/conversations/{forum['room_id']}/messages", {"text": text}, mallory)["id"]
            self.call("POST", "/reports", {"message_id": post, "reason": "Spam"}, self.tokens["grace"])
        page = self.signed_in("lin", anew=True)
        page.locator(".inbox-item").filter(has_text="to review").get_by_role("link").click()
        card = page.get_by_role("article", name="Mallory", exact=True)
        expect(card).to_contain_text("2 reports from 1 person")
        expect(card).to_contain_text("Cheap rings")
        expect(card).not_to_contain_text("Cheap wine")
        # Sanctions on the whole site, pauses and the other pages are for moderators of the site.
        expect(card.get_by_role("button", name=re.compile("Warn|[Bb]an"))).to_have_count(0)
        expect(page.get_by_role("switch")).to_have_count(0)
        self.photograph(page, "forum-report-queue-light")
        card.get_by_role("button", name="Show more").click()
        self.assert_accessible(page, "the reports of a forum")
        card.get_by_role("button", name="Remove", exact=True).first.click()
        expect(card).to_contain_text("1 report from 1 person")
        card.get_by_role("button", name="Dismiss").click()
        expect(page.get_by_text("No open reports.")).to_be_visible()
        page.get_by_role("button", name="Undo").last.click()
        expect(card).to_contain_text("1 report from 1 person")
        card.get_by_role("button", name="Silence").click()
        page.get_by_role("dialog", name="Silence Mallory?").get_by_role("button", name="Silence").click()
        expect(page.get_by_text("No open reports.")).to_be_visible()
        silences = [it["forum_id"] for it in self.call("GET", "/users/@mallory/sanctions", token=ada)["data"]]
        self.assertEqual(silences, [self.garden["id"]])
        # The report of the other forum waits for its moderators.
        self.assertEqual(len(self.call("GET", "/reports?state=open", token=ada)["data"]), 1)
        self.go(page, f"/f/{self.garden['id']}/about")
        page.get_by_role("button", name="Reports").click()
        expect(page.get_by_text("No open reports.")).to_be_visible()
        self.go(page, "/you/notifications")
        expect(page.get_by_role("switch", name="Reports")).to_be_visible()
        # Members have neither.
        self.go(page, "/admin/rules")
        expect(page.get_by_text("This page doesn't exist, or you don't have access to it.")).to_be_visible()
        self.call("PUT", f"/forums/{self.garden['id']}/members/@lin", {"role": "member"}, ada)
        member = self.signed_in("lin")
        self.go(member, "/admin/reports")
        expect(member.get_by_text("This page doesn't exist, or you don't have access to it.")).to_be_visible()
        expect(member.get_by_role("link", name="Sign in")).to_have_count(0)


class Deciding(Village):
    def test_an_author_is_silenced_from_the_menu_of_a_message(self):
        self.say("Buy now")
        page = self.signed_in("ada")
        self.room(page)
        message = page.locator(".message").filter(has_text="Buy now").last
        message.hover()
        message.get_by_role("button", name="More").click()
        expect(page.get_by_role("menuitem", name="Ban Grace")).to_be_visible()
        self.photograph(page, "moderator-menu-light")
        page.get_by_role("menuitem", name="Silence Grace").click()
        dialog = page.get_by_role("dialog", name="Silence Grace?")
        dialog.get_by_label("Duration").select_option("1 hour")
        dialog.get_by_label("Reason").fill("Cool down")
        dialog.get_by_role("button", name="Silence").click()
        expect(page.get_by_text("Grace is silenced.")).to_be_visible()
        silences = lambda: [(it["reason"], bool(it["lifted_at"])) for it in self.call("GET", "/users/@grace/sanctions", token=self.tokens["ada"])["data"]]
        self.assertEqual(silences(), [("Cool down", False)])
        page.get_by_role("button", name="Undo").click()
        self.eventually(page, [("Cool down", True)], silences)
        # Members have no such items.
        member = self.signed_in("lin")
        self.room(member)
        message = member.locator(".message").filter(has_text="Buy now").last
        message.hover()
        message.get_by_role("button", name="More").click()
        expect(member.get_by_role("menuitem", name="Report")).to_be_visible()
        expect(member.get_by_role("menuitem", name=re.compile("Silence|Ban"))).to_have_count(0)

    def test_a_user_and_a_message_are_reported_with_a_reason(self):
        said = self.say("Buy more")
        page = self.signed_in("lin")
        self.go(page, "/u/grace")
        page.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name="Report").click()
        dialog = page.get_by_role("dialog", name="Report Grace")
        # Moderators need a reason.
        dialog.get_by_role("button", name="Report").click()
        expect(dialog).to_be_visible()
        dialog.get_by_label("What's wrong with it?").fill("Rude")
        dialog.get_by_role("button", name="Report").click()
        expect(page.get_by_text("Reported. Thank you.")).to_be_visible()
        self.room(page)
        message = page.locator(f".message[data-id='{said['id']}']")
        message.hover()
        message.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name="Report").click()
        page.get_by_role("dialog").get_by_label("What's wrong with it?").fill("Spam")
        page.get_by_role("dialog").get_by_role("button", name="Report").click()
        self.eventually(page, ["Rude", "Spam"], lambda: sorted(it["reason"] for it in self.call("GET", "/reports", token=self.tokens["ada"])["data"]))

    def test_the_audit_log_shows_changes(self):
        shed = self.call("POST", "/forums", {"title": "Shed", "section": "Growing"}, self.tokens["ada"])
        change = {"section": "Living", "visibility": "private", "slow_seconds": 30, "description": "Tools"}
        self.call("PATCH", f"/forums/{shed['id']}", change, self.tokens["ada"])
        page = self.signed_in("ada")
        self.go(page, "/admin/audit")
        row = page.get_by_role("listitem").filter(has_text="Ada changed Shed").first
        for words in ("Section: Growing → Living", "Slow mode, in seconds: 0 → 30", "Description changed"):
            expect(row).to_contain_text(words)
        expect(row).to_contain_text(re.compile("Who can read it: .* → Forum members only|Who can read it: .* → "))
        self.photograph(page, "audit-changes-light")
        self.assert_accessible(page, "audit log")

    def test_the_audit_log_names_deleted_forums_and_authors_of_removed_messages(self):
        shed = self.call("POST", "/forums", {"title": "Old shed"}, self.tokens["ada"])
        self.call("DELETE", f"/forums/{shed['id']}", token=self.tokens["ada"])
        topic = self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": "Old beds"}, self.tokens["grace"])
        self.call("DELETE", f"/conversations/{topic['id']}", token=self.tokens["ada"])
        since = self.say("Cheap watches")["created_at"]
        self.say("Cheaper watches")
        self.call("POST", "/removals", {"author": "@grace", "since": since}, self.tokens["ada"])
        page = self.signed_in("ada")
        self.go(page, "/admin/audit")
        expect(page.get_by_role("listitem").filter(has_text="Ada deleted the topic Old beds")).to_have_count(1)
        expect(page.get_by_role("listitem").filter(has_text="Ada deleted Old shed")).to_have_count(1)
        expect(page.get_by_text("Reason: Old shed")).to_have_count(0)
        row = page.get_by_role("listitem").filter(has_text="Ada removed 2 messages of Grace")
        expect(row.get_by_role("link", name="Grace")).to_have_attribute("href", "/u/grace")

    def test_a_new_role_changes_the_menu(self):
        page = self.signed_in("lin")
        self.go(page, "/you")
        admin = page.locator("main").get_by_role("heading", name="Administration")
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        expect(admin).to_have_count(0)
        for role, count in (("moderator", 1), ("member", 0)):
            self.call("PATCH", "/users/@lin", {"role": role, "end_sessions": False}, self.tokens["ada"])
            expect(admin).to_have_count(count)

    def test_a_moderator_reads_the_settings(self):
        self.call("PATCH", "/users/@lin", {"role": "moderator", "end_sessions": False}, self.tokens["ada"])
        page = self.signed_in("lin", anew=True)
        self.go(page, "/admin/settings")
        main = page.get_by_role("main")
        expect(main).to_contain_text("Only administrators can change these settings.")
        expect(main).to_contain_text("People with an invite")
        expect(main.get_by_role("button", name="Save")).to_have_count(0)
        expect(main.get_by_role("textbox")).to_have_count(0)
        self.assert_accessible(page, "settings as text")
        self.call("PATCH", "/users/@lin", {"role": "member", "end_sessions": False}, self.tokens["ada"])


class SigningUp(Village):
    def test_new_users_appear_in_the_open_list(self):
        ada = self.signed_in("ada")
        self.go(ada, "/admin/users")
        join = lambda name, **more: self.call("POST", "/users", {"name": name, "password": PASSWORD, "accept_rules": True, **more})
        join("odile", invite=self.invite)
        expect(ada.get_by_role("link", name="odile")).to_be_visible()
        self.call("PATCH", "/settings", {"registration": "approval"}, self.tokens["ada"])
        join("pending")
        # No event announces a request. The list reloads when the page becomes visible.
        ada.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(ada.get_by_role("button", name="Approve")).to_be_visible()
        self.call("PATCH", "/settings", {"registration": "invite"}, self.tokens["ada"])


class Banned(Village):
    def test_a_ban_is_told_at_once_and_staff_finds_the_user(self):
        page = self.signed_in("lin", anew=True, timezone_id="UTC")
        self.call("PUT", "/users/@lin/ban", {"until": "2037-11-24T03:21:00.000Z", "reason": "Rude."}, self.tokens["ada"])
        expect(page.get_by_role("alert")).to_contain_text("You are banned until 24 Nov 2037, 03:21. Reason: Rude.")
        expect(page).to_have_url(f"{self.origin}/sign-in")
        self.faults[:] = [it for it in self.faults if "unauthenticated" not in it and "session_ended" not in it]
        ada = self.signed_in("ada")
        self.go(ada, "/admin/users")
        expect(ada.get_by_role("heading", name="Banned and disabled")).to_be_visible()
        find = ada.get_by_label("Find members")
        find.fill("lin")
        expect(ada.get_by_role("link", name="Lin")).to_have_attribute("href", "/u/lin")
        expect(ada.get_by_role("heading", name="Members", exact=True, level=2)).to_have_count(0)
        find.fill("nobody at all")
        expect(ada.get_by_text("No people found for “nobody at all”.")).to_be_visible()
        self.call("DELETE", "/users/@lin/ban", token=self.tokens["ada"])

    def test_a_banned_user_reads_the_end_the_reason_and_a_contact(self):
        page = self.signed_in("ada")
        self.go(page, "/admin/settings")
        page.get_by_label("Contact link").fill("ada@garden.example")
        page.get_by_label("Privacy link").fill("https://garden.example/privacy")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Saved")).to_be_visible()
        for size in ("desktop", "phone"):
            member = self.signed_in("lin", size)
            self.go(member, "/you")
            expect(member.get_by_role("link", name="Privacy policy")).to_have_attribute("href", "https://garden.example/privacy")
            expect(member.get_by_role("link", name="Contact")).to_have_attribute("href", "mailto:ada@garden.example")
        self.call("PUT", "/users/@grace/ban", {"until": "2037-11-24T03:21:00.000Z", "reason": "Spam, twice."}, self.tokens["ada"])
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                visitor = self.page(self.context(size, timezone_id="UTC"))
                self.open(visitor, "/sign-in")
                visitor.get_by_label("Username").fill("grace")
                visitor.get_by_label("Password").fill(PASSWORD)
                visitor.get_by_role("button", name="Sign in").click()
                fault = visitor.get_by_role("alert")
                expect(fault).to_contain_text("You are banned until 24 Nov 2037, 03:21. Reason: Spam, twice.")
                expect(fault.get_by_role("link", name="Contact the administrators")).to_have_attribute("href", "mailto:ada@garden.example")
                expect(visitor.get_by_role("link", name="Privacy")).to_have_attribute("href", "https://garden.example/privacy")
                self.photograph(visitor, f"banned-{size}-light")
                self.assert_accessible(visitor, "banned")
        self.call("DELETE", "/users/@grace/ban", token=self.tokens["ada"])


class Pauses(Village):
    def test_a_moderator_pauses_sign_ups_and_lets_new_members_only_read(self):
        self.call("PATCH", "/users/@lin", {"role": "moderator", "end_sessions": False}, self.tokens["ada"])
        invite = self.call("POST", "/invites", {}, self.tokens["ada"])["code"]
        page = self.signed_in("lin", anew=True)
        self.go(page, "/admin/reports")
        sign_ups = page.get_by_role("switch", name="Pause sign-ups")
        readers = page.get_by_role("switch", name="New members read only")
        expect(page.get_by_text("For one hour")).to_have_count(2)
        sign_ups.press("Space")
        expect(page.get_by_text(re.compile("^Until "))).to_have_count(1)
        expect(sign_ups).to_be_checked()
        expect(sign_ups).to_be_focused()
        readers.press("Space")
        expect(page.get_by_text(re.compile("^Until "))).to_have_count(2)
        self.assert_accessible(page, "pauses")
        self.photograph(page, "pauses-1440")

        # Every moderator is told while a pause lasts, and can end it.
        ada = self.signed_in("ada")
        self.room(ada)
        lines = ada.locator(".banner").filter(has_text=re.compile("until .*:"))
        expect(lines).to_have_count(2)
        expect(lines.first).to_contain_text(re.compile(r"^New members can only read until .*\d\d"))
        self.assert_accessible(ada, "banners of pauses")
        self.photograph(ada, "pause-banners-1440")
        member = self.signed_in("grace")
        self.room(member)
        expect(member.get_by_role("textbox", name="Write a message")).to_be_visible()
        expect(member.locator(".banner")).to_have_count(0)

        newcomer = self.page(self.context("phone"))
        self.open(newcomer, f"/i/{invite}")
        newcomer.get_by_label("Display name").fill("Eve")
        newcomer.get_by_label("Password").fill(PASSWORD)
        create = newcomer.get_by_role("button", name=re.compile("create account", re.I))
        create.click()
        expect(newcomer.get_by_role("alert")).to_contain_text(re.compile(r"Sign-ups are paused until .*\d\d"))
        self.photograph(newcomer, "sign-ups-paused-390")

        # Another moderator ends a pause.
        lines.filter(has_text="Sign-ups are paused").get_by_role("button", name="End").click()
        expect(lines).to_have_count(1)
        expect(sign_ups).not_to_be_checked()
        readers.press("Space")
        expect(page.get_by_text("For one hour")).to_have_count(2)
        self.go(page, "/admin/audit")
        expect(page.get_by_role("main")).to_contain_text(re.compile("New members read only until: .*none"))
        create.click()
        expect(newcomer.get_by_role("heading", name="Inbox")).to_be_visible()
        self.call("PATCH", "/users/@lin", {"role": "member", "end_sessions": False}, self.tokens["ada"])
