"""Alerts of the server in the inbox of staff."""

import signal

from browsing import RATES
from playwright.sync_api import expect
from servers import Server
from serving import parley
from test_flows import Village


class StaffAlerts(Village):
    def kill(self):
        self.server.signal(signal.SIGKILL)
        self.server.wait()
        type(self).server = self.enterClassContext(Server(
            "clients-StaffAlerts", *parley(self.folder, *RATES, listen=f"127.0.0.1:{self.server.port}")))

    def test_the_owner_reads_that_the_server_was_not_stopped_cleanly(self):
        page, member = self.signed_in("ada"), self.signed_in("lin")
        self.kill()
        row = page.locator(".inbox-item").filter(has_text="The server didn't shut down cleanly.")
        expect(row).to_be_visible()
        self.photograph(page, "inbox-alert")
        self.assert_accessible(page, "alert")
        row.get_by_role("link").click()
        expect(page.get_by_role("heading", name="Administration", level=1)).to_be_visible()
        self.say("Is all well?")
        self.room(member)
        expect(member.get_by_text("Is all well?")).to_be_visible()
        self.go(member, "/")
        expect(member.locator(".inbox-item").filter(has_text="The server")).to_have_count(0)
