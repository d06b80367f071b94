"""What those who look after a forum set for it."""

from playwright.sync_api import expect
from test_flows import Village


class ForumSettings(Village):
    def test_who_writes_and_how_often(self):
        page = self.signed_in("ada")
        self.go(page, f"/f/{self.garden['id']}/edit")
        page.get_by_label("Who writes in it").select_option("Those who look after it")
        page.get_by_label("Who begins topics").select_option("Its members")
        page.get_by_label("Between two messages").select_option("60 seconds")
        self.photograph(page, "forum-edit-light")
        self.assert_accessible(page, "forum settings")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name="Garden").first).to_be_visible()
        self.eventually(page, ("moderators", "members", 60), lambda: tuple(
            self.call("GET", f"/forums/{self.garden['id']}", token=self.tokens["ada"])[it] for it in ("write", "start_topics", "slow_seconds")))
        reader = self.signed_in("lin", "phone")
        self.room(reader)
        expect(reader.get_by_text("Only those who look after this forum write here.")).to_be_visible()
        self.go(page, f"/f/{self.garden['id']}/edit")
        page.get_by_label("Closed").check()
        page.get_by_role("button", name="Save").click()
        expect(reader.get_by_role("textbox", name="Write a message")).to_have_count(0)
        self.eventually(page, True, lambda: self.call("GET", f"/forums/{self.garden['id']}", token=self.tokens["ada"])["archived"])
