"""Lists that are redrawn: the nodes of unchanged rows stay, with their focus and presses, while other rows change."""

from playwright.sync_api import expect
from test_flows import Village

# Rows of a list before and after a redraw, and those of the latter that are old nodes.
KEPT = """async ([before, after]) => {
    const { el, redraw } = await import("/js/app/core/dom.js");
    const rows = (names) => names.map((it) => el("p", null, it));
    const node = el("div", null, rows(before));
    document.body.append(node);
    const old = new Set(node.childNodes);
    redraw(node, rows(after));
    const found = [...node.childNodes];
    node.remove();
    return [found.map((it) => it.textContent), found.filter((it) => old.has(it)).map((it) => it.textContent)];
}"""


class Redraws(Village):
    def hold(self, locator):
        """Remembers the node of a row."""
        expect(locator).to_be_visible()
        locator.evaluate("it => { window.held = it; }")

    def assert_held(self, page):
        self.assertTrue(page.evaluate("held.isConnected"))

    def test_equal_rows_stay_while_others_come_and_go(self):
        page = self.signed_in("grace")
        for before, after, kept in (
                ("abc", "abc", "abc"), ("abc", "xabc", "abc"), ("abc", "bc", "bc"), ("abc", "axc", "ac"), ("abcd", "xyd", "d"),
                ("abc", "cxa", "ca"), ("aabb", "abb", "abb"), ("", "ab", ""), ("ab", "", "")):
            with self.subTest(before=before, after=after):
                found, old = page.evaluate(KEPT, [list(before), list(after)])
                self.assertEqual("".join(found), after)
                self.assertEqual("".join(old), kept)

    def test_a_part_stays_and_its_rows_are_redrawn(self):
        page = self.signed_in("grace")
        same = page.evaluate("""async () => {
            const { el, redraw } = await import("/js/app/core/dom.js");
            const list = (label, ...names) => el("ul", { data: { part: "list" }, aria: { label } }, names.map((it) => el("li", { tabindex: "0" }, it)));
            const node = el("div", null, list("One", "a", "b"));
            document.body.append(node);
            const [part, row] = [node.firstChild, node.firstChild.lastChild];
            row.focus();
            redraw(node, el("p", null, "New"), list("Two", "x", "b"));
            const found = [part.isConnected, row.isConnected, document.activeElement === row, part.ariaLabel, part.textContent];
            node.remove();
            return found;
        }""")
        self.assertEqual(same, [True, True, True, "Two", "xb"])

    def test_a_tab_stays_while_the_count_of_another_one_changes(self):
        self.call("PUT", f"/forums/{self.garden['id']}/members/me", {}, self.tokens["lin"])
        page = self.signed_in("lin")
        self.go(page, f"/f/{self.garden['id']}-garden/topics")
        tabs = page.locator(".tabs .tab")
        self.hold(tabs.first)
        self.say("The kettle is on")
        expect(tabs.nth(1).locator(".badge")).to_be_visible()
        self.assert_held(page)

    def test_a_tab_of_the_inbox_stays_while_a_count_changes(self):
        page = self.signed_in("lin")
        tabs = page.locator(".tabs .tab")
        self.hold(tabs.first)
        self.say("@lin, the kettle is on")
        expect(tabs.nth(3).locator(".badge")).to_be_visible()
        self.assert_held(page)

    def test_an_entry_of_the_audit_log_stays_while_a_name_changes(self):
        ada = self.tokens["ada"]
        forums = [self.call("POST", "/forums", {"title": title, "visibility": "members"}, ada) for title in ("Sheds", "Ponds")]
        for it in forums:
            self.call("PATCH", f"/forums/{it['id']}", {"section": "Outside"}, ada)
        page = self.signed_in("ada")
        self.go(page, "/admin/audit")
        entries = page.locator(".entry")
        self.hold(entries.filter(has_text="Ponds"))
        self.call("PATCH", f"/forums/{forums[0]['id']}", {"title": "Old sheds"}, ada)
        expect(entries.filter(has_text="Old sheds").first).to_be_visible()
        self.assert_held(page)

    def test_a_hit_of_a_search_stays_while_the_name_of_an_author_changes(self):
        self.say("A marrow for the fair", "grace")
        self.say("My marrow is longer", "lin")
        page = self.signed_in("ada")
        self.go(page, "/search?q=marrow")
        self.hold(page.locator(".hit").filter(has_text="for the fair"))
        self.call("PATCH", "/users/me", {"display_name": "Lin Chen"}, self.tokens["lin"])
        expect(page.locator(".hit").filter(has_text="Lin Chen")).to_be_visible()
        self.assert_held(page)
        self.call("PATCH", "/users/me", {"display_name": "Lin"}, self.tokens["lin"])

    def test_a_member_stays_while_another_one_comes_online(self):
        page = self.signed_in("ada")
        self.go(page, "/members")
        rows = page.locator(".page-body .user-row")
        self.hold(rows.filter(has_text="@grace"))
        other = self.signed_in("lin")
        expect(rows.filter(has_text="@lin")).to_contain_text("online")
        self.assert_held(page)
        other.context.close()

    def test_a_topic_stays_while_a_newer_one_goes_above_it(self):
        path = f"/forums/{self.garden['id']}/conversations"
        self.call("POST", path, {"title": "Slugs", "text": "They are back."}, self.tokens["grace"])
        page = self.signed_in("ada")
        self.go(page, f"/f/{self.garden['id']}-garden/topics")
        self.hold(page.locator(".topic-row").filter(has_text="Slugs"))
        self.call("POST", path, {"title": "Snails", "text": "They came along."}, self.tokens["lin"])
        expect(page.locator(".topic-row").first).to_contain_text("Snails")
        self.assert_held(page)

    def test_the_buttons_of_a_report_stay_while_another_one_comes(self):
        spam = [self.say(f"Cheap seeds {n}", who)["id"] for n, who in enumerate(("grace", "lin"))]
        self.call("POST", "/reports", {"message_id": spam[0], "reason": "Spam"}, self.tokens["lin"])
        page = self.signed_in("ada")
        self.go(page, "/admin/reports")
        cards = page.locator(".report")
        expect(cards).to_have_count(1)
        self.hold(cards.get_by_role("button", name="Dismiss"))
        self.call("POST", "/reports", {"message_id": spam[1], "reason": "Spam"}, self.tokens["grace"])
        expect(cards).to_have_count(2)
        self.assert_held(page)
