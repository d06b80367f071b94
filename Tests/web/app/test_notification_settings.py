"""Settings of notifications: kinds, a snooze, quiet hours, and the user's other device."""

import re

from playwright.sync_api import expect
from test_flows import Village


NOW = "Notifications appear while the app is open. This site sends no push messages."


class NotificationSettings(Village):
    def stored(self, name="ada"):
        return self.call("GET", "/me/notifications", token=self.tokens[name])

    def change(self, body, name="ada"):
        return self.call("PATCH", "/me/notifications", body, self.tokens[name])

    def settings(self, size="desktop"):
        context = self.context(size, timezone_id="Europe/London")
        self.sign_in(context, "ada")
        page = self.page(context)
        self.open(page, "/you/notifications")
        expect(page.get_by_role("switch", name="Quiet hours")).to_be_visible()
        return page

    def setUp(self):
        super().setUp()
        self.change({"paused": False, "snoozed_until": None, "quiet_hours": None, "push": {}, "push_shows": "text"})

    def test_changes_are_stored_and_shown_on_the_other_device(self):
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                self.setUp()
                page, other = self.settings(size), self.settings()
                state = page.get_by_role("status").filter(has_text="otifications")
                # A site without an https address sends no push messages, and says so.
                expect(state).to_have_text(NOW)
                expect(page.get_by_text("this site has no https address for push messages")).to_be_visible()
                room, mentions, pause = (page.get_by_role("switch", name=re.compile(f"^{it}")) for it in ("@room", "Mentions", "Pause all"))
                expect(room).to_have_accessible_description("Shown while the app is open")
                room.uncheck()
                expect(room).to_have_accessible_description("In your inbox only")
                self.eventually(page, False, lambda: self.stored()["push"]["room"])
                expect(other.get_by_role("switch", name="@room")).not_to_be_checked()
                self.assertTrue(self.stored()["push"]["mention"])
                page.get_by_label("Snooze").select_option(label="For 1 hour")
                expect(state).to_have_text(re.compile("^Snoozed until "))
                expect(mentions).to_have_accessible_description("In your inbox only, for now")
                expect(other.get_by_label("Snooze")).to_have_value("until")
                self.photograph(page, f"notification-settings-{size}")
                self.assert_accessible(page, "the settings of notifications")
                page.get_by_label("Snooze").select_option(label="Off")
                expect(state).to_have_text(NOW)
                expect(mentions).to_have_accessible_description("Shown while the app is open")
                self.assertIsNone(self.stored()["snoozed_until"])
                pause.check()
                expect(state).to_have_text(re.compile("^Notifications are paused"))
                expect(pause).to_have_accessible_description("Nothing is sent until you turn this off.")
                self.eventually(page, True, lambda: self.stored()["paused"])
                for it in (page, other):
                    it.context.close()

    def test_a_phone_without_notifications_is_told_how_to_get_them(self):
        context = self.context("phone", user_agent="Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15")
        context.add_init_script("delete window.Notification")
        self.sign_in(context, "ada")
        page = self.page(context)
        self.open(page, "/you/notifications")
        expect(page.get_by_text("add the site to your Home Screen")).to_be_visible()
        expect(page.get_by_role("switch", name="Notifications on this device")).to_have_count(0)
        self.assert_fits(page, "notifications on a phone without them")
        other = self.settings()
        expect(other.get_by_role("switch", name="Notifications on this device")).to_be_visible()
        expect(other.get_by_text("add the site to your Home Screen")).to_have_count(0)

    def test_quick_changes_keep_one_another(self):
        page = self.settings()
        names = ("Mentions", "Replies to you", "Direct messages", "Message requests")
        page.evaluate("""names => {
            for (const it of document.querySelectorAll("main label.switch")) if (names.includes(it.querySelector(".switch-words > :first-child").textContent)) it.querySelector("input").click();
        }""", names)
        kinds = ("mention", "reply", "direct", "request")
        self.eventually(page, [False] * 4, lambda: [self.stored()["push"][it] for it in kinds])
        page.wait_for_load_state("networkidle")
        for name in names:
            expect(page.get_by_role("switch", name=re.compile(f"^{name}"))).not_to_be_checked()
        self.assertTrue(self.stored()["push"]["room"])

    def test_a_refused_change_shows_the_old_value(self):
        page = self.settings()
        page.route("**/api/v1/me/notifications", lambda route: route.abort() if route.request.method == "PATCH" else route.continue_())
        mentions = page.get_by_role("switch", name=re.compile("^Mentions"))
        mentions.click()
        expect(page.locator(".toast")).to_be_visible()
        expect(mentions).to_be_checked()

    def test_quiet_hours(self):
        page = self.settings("phone")
        expect(page.get_by_label("From")).to_be_hidden()
        quiet = page.get_by_role("switch", name="Quiet hours")
        quiet.check()
        expect(quiet).to_have_accessible_description(re.compile("^(Quiet now, until|Not quiet now)"))
        expect(page.get_by_label("From")).to_have_value("22:00")
        expect(page.get_by_label("Time zone")).to_have_value("Europe/London")
        page.get_by_label("From").fill("23:30")
        page.get_by_label("From").blur()
        self.eventually(page, "23:30", lambda: self.stored()["quiet_hours"]["from"])
        page.get_by_role("button", name="Sunday").click()
        expect(page.get_by_role("button", name="Sunday")).to_have_attribute("aria-pressed", "false")
        self.assertEqual(len(self.stored()["quiet_hours"]["days"]), 6)
        page.get_by_label("Time zone").select_option("Asia/Tokyo")
        self.eventually(page, "Asia/Tokyo", lambda: self.stored()["quiet_hours"]["time_zone"])
        self.photograph(page, "quiet-hours-phone")
        self.assert_accessible(page, "quiet hours")
        # The server refuses hours without a length; the page shows the stored ones again.
        page.get_by_label("To", exact=True).fill("23:30")
        page.get_by_label("To", exact=True).blur()
        expect(page.locator(".toast")).to_be_visible()
        expect(page.get_by_label("To", exact=True)).to_have_value("07:00")
        page.get_by_role("switch", name="Quiet hours").uncheck()
        expect(page.get_by_label("From")).to_be_hidden()
        self.eventually(page, None, lambda: self.stored()["quiet_hours"])

    def test_the_site_bounds_the_content_of_notifications(self):
        context = self.context()
        self.sign_in(context, "ada")
        page = self.page(context)
        self.open(page, "/admin/settings")
        page.get_by_label("Notifications on devices show at most").select_option(label="Sender only")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Saved.")).to_be_visible()
        self.assertEqual(self.call("GET", "/settings", token=self.tokens["ada"])["push_shows"], "sender")
        self.call("PATCH", "/settings", {"push_shows": "text"}, self.tokens["ada"])
