"""The status of a user: set in the profile, shown at names and on cards, cleared."""

from playwright.sync_api import expect
from test_flows import Village


class Statuses(Village):
    def test_a_status_is_set_seen_by_others_and_cleared(self):
        self.say("Good morning")
        grace = self.signed_in("grace")
        ada = self.signed_in("ada")
        self.go(ada, f"/f/{self.garden['id']}-garden/room")
        self.go(grace, "/you/profile")
        form = grace.get_by_role("form", name="Status")
        self.assert_above(grace.get_by_label("Display name"), form)
        form.get_by_label("Status", exact=True).fill("On the train <b>")
        line = [self.box(it) for it in (form.get_by_role("button", name="Choose emoji"), form.get_by_label("Status", exact=True))]
        self.assertLessEqual(abs(line[0]["y"] + line[0]["height"] - line[1]["y"] - line[1]["height"]), 1)
        end, button = (self.box(form.get_by_label("Clear after")), self.box(form.get_by_role("button", name="Set status")))
        self.assertLessEqual(abs(end["x"] - button["x"]), 1)
        form.get_by_role("button", name="Choose emoji").click()
        grace.get_by_role("searchbox", name="Search emoji").fill("train")
        grace.locator(".emoji-grid").get_by_role("button", name="train", exact=True).click()
        form.get_by_label("Clear after").select_option(label="4 hours")
        form.get_by_role("button", name="Set status").click()
        expect(grace.get_by_text("Saved.")).to_be_visible()
        self.photograph(grace, "status-profile")
        self.assert_accessible(grace, "the status form")

        name = ada.locator(".message-name", has_text="grace")
        expect(name.locator(".status-mark")).to_have_text("🚆")
        name.click()
        card = ada.locator(".user-status")
        expect(card).to_contain_text("🚆 On the train <b> · until")
        self.photograph(ada, "status-card")

        form.get_by_role("button", name="Clear status").click()
        expect(ada.locator(".status-mark")).to_have_count(0)
        user = self.call("GET", "/users/@grace", token=self.tokens["ada"])
        self.assertIsNone(user["status_text"])
        self.assertIsNone(user["status_expires_at"])

    def test_a_status_past_its_end_is_hidden_without_an_event(self):
        page = self.signed_in("lin")
        lines = page.evaluate("""async () => {
            const { statusLine } = await import('/js/app/core/status.js');
            const end = Date.parse('2030-01-01T00:00:00Z');
            const user = { status_text: 'away', status_emoji: null, status_expires_at: '2030-01-01T00:00:00Z' };
            return [statusLine(user, end - 1), statusLine(user, end), statusLine(null)];
        }""")
        self.assertEqual(lines, ["away", "", ""])
