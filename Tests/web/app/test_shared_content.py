"""Texts, links and files that other apps share with this one."""

import re

from playwright.sync_api import expect
from test_offline import Cached

# The service worker keeps what the system posts to it.
SHARE = """async () => {
  const form = new FormData();
  form.set("title", "Frost dates");
  form.set("text", "Frost dates this year");
  form.set("url", "https://example.org/frost");
  form.append("files", new File([new Uint8Array([137, 80, 78, 71])], "frost.png", { type: "image/png" }));
  await (await caches.open("state")).put("/shared", new Response(form, { headers: { Date: new Date().toUTCString() } }));
}"""


class SharedContent(Cached):
    def test_shared_content_opens_in_the_composer_of_the_chosen_conversation(self):
        for size in ("phone", "desktop"):
            page = self.cached("grace", size)
            page.evaluate(SHARE)
            self.go(page, "/share")
            expect(page.get_by_role("heading", name="Choose a conversation")).to_be_visible()
            expect(page.get_by_text("https://example.org/frost")).to_be_visible()
            self.photograph(page, f"share-target-{size}")
            self.assert_accessible(page, f"share target {size}")
            page.get_by_label("Search conversations").fill("gard")
            page.get_by_role("button", name=re.compile("Garden")).first.click()
            field = page.get_by_role("textbox", name="Write a message")
            expect(field).to_have_value("Frost dates this year\nhttps://example.org/frost")
            expect(page.locator(".composer .attachment")).to_contain_text("frost.png")
            self.go(page, "/share")
            expect(page.get_by_text("Nothing was shared.")).to_be_visible()
            self.room(page)
            field.fill("")
            page.get_by_role("button", name="Remove frost.png").click()
            page.context.close()

    def test_the_worker_takes_shared_content(self):
        page = self.cached("grace")
        page.evaluate("""() => {
            const form = document.createElement("form");
            Object.assign(form, { method: "post", action: "/share", enctype: "multipart/form-data" });
            const field = document.createElement("input");
            Object.assign(field, { name: "text", value: "A shared thought" });
            form.append(field);
            document.body.append(form);
            form.submit();
        }""")
        expect(page.get_by_text("A shared thought")).to_be_visible()
        expect(page).to_have_url(re.compile("/share$"))
