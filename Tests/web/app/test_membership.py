"""Membership: joining, leaving and managing members of a forum, and leaving the site."""

import re

from browsing import PASSWORD
from playwright.sync_api import expect
from test_flows import Village


class Membership(Village):
    def test_joining_a_forum_shows_its_room_until_leaving(self):
        page = self.signed_in("lin", "phone")
        self.go(page, f"/f/{self.garden['id']}/topics")
        page.get_by_role("button", name="Join").click()
        expect(page.get_by_text("You joined Garden")).to_be_visible()
        expect(page.get_by_role("button", name="Join")).to_have_count(0)
        self.photograph(page, "joined-phone")
        self.go(page, "/")
        self.say("The bees are awake")
        expect(page.get_by_role("main").get_by_text("The bees are awake")).to_be_visible()
        self.go(page, f"/f/{self.garden['id']}/about")
        expect(page.get_by_role("main").get_by_role("link").filter(has_text="@lin")).to_be_visible()
        page.get_by_role("button", name="Leave forum").click()
        expect(page.get_by_role("heading", name="Forums", level=1)).to_be_visible()
        # No question, but an undo.
        expect(page.locator(".toast").last).to_contain_text("You left Garden.")
        page.get_by_role("button", name="Undo").click()
        names = lambda: [it["user"]["name"] for it in self.call("GET", f"/forums/{self.garden['id']}/members", token=self.tokens["ada"])["data"]]
        self.eventually(page, True, lambda: "lin" in names())
        self.go(page, f"/f/{self.garden['id']}/about")
        page.get_by_role("button", name="Leave forum").click()
        expect(page.get_by_role("heading", name="Forums", level=1)).to_be_visible()
        self.go(page, f"/f/{self.garden['id']}/topics")
        expect(page.get_by_role("button", name="Join")).to_be_visible()
        members = self.call("GET", f"/forums/{self.garden['id']}/members", token=self.tokens["ada"])["data"]
        self.assertNotIn("lin", [it["user"]["name"] for it in members])

    def test_writing_offline_joins_the_forum_that_members_write_in(self):
        forum = self.call("POST", "/forums", {"title": "Kitchen", "visibility": "members", "write": "members"}, self.tokens["ada"])
        page = self.signed_in("lin")
        self.go(page, f"/f/{forum['id']}/room")
        field = page.get_by_placeholder("Write to join Kitchen")
        expect(field).to_be_visible()
        page.context.set_offline(True)
        field.fill("May I bring soup?")
        field.press("Enter")
        expect(page.locator(".bubble").filter(has_text="May I bring soup?")).to_be_visible()
        members = lambda: [it["user"]["name"] for it in self.call("GET", f"/forums/{forum['id']}/members", token=self.tokens["ada"])["data"]]
        self.assertNotIn("lin", members())
        page.context.set_offline(False)
        self.eventually(page, True, lambda: "lin" in members())
        expect(page.get_by_placeholder("Write a message")).to_be_visible()
        expect(page.get_by_role("textbox", name="Write a message")).to_be_visible()
        expect(page.get_by_role("button", name="Join")).to_have_count(0)
        texts = lambda: [it["text"] for it in self.call("GET", f"/conversations/{forum['room_id']}/messages", token=self.tokens["ada"])["data"] if it.get("text")]
        self.eventually(page, ["May I bring soup?"], texts)

    def test_the_password_is_shown_and_a_name_in_any_script_proposes_a_username(self):
        page = self.page(self.context("phone"))
        self.open(page, f"/i/{self.invite}")
        username = page.get_by_label("Username", exact=True)
        for display, proposed in (("Ada Lovelace", "^ada$"), ("Д-р Nina", "^nina$"), ("王小明", r"^member\d{4}$"), ("نورة", r"^member\d{4}$"), ("", "^$")):
            page.get_by_label("Display name").fill(display)
            expect(username).to_have_value(re.compile(proposed))
        username.fill("nina")
        page.get_by_label("Display name").fill("ニナ")
        expect(username).to_have_value("nina")
        password = page.get_by_label("Password")
        password.fill(PASSWORD)
        expect(password).to_have_attribute("type", "password")
        show = page.get_by_role("button", name="Show password")
        show.click()
        expect(password).to_have_attribute("type", "text")
        expect(show).to_have_attribute("aria-pressed", "true")
        self.photograph(page, "password-shown-phone")
        self.assert_accessible(page, "a shown password")
        show.click()
        expect(password).to_have_attribute("type", "password")
        expect(password).to_have_value(PASSWORD)

    def test_a_new_member_arrives_where_staff_has_chosen(self):
        ada = self.tokens["ada"]
        lively, quiet = (self.call("POST", "/forums", {"title": title, "visibility": "members", "is_default": True}, ada) for title in ("Lively", "Hello"))
        self.say("Much to tell", "ada", lively["room_id"])
        staff = self.signed_in("ada")
        self.go(staff, "/admin/settings")
        staff.get_by_label("Where new members arrive").select_option("Hello")
        staff.get_by_role("button", name="Save").click()
        expect(staff.locator(".toast")).to_be_visible()
        page = self.page(self.context())
        self.open(page, f"/i/{self.invite}")
        page.get_by_label("Display name").fill("Nina")
        page.get_by_label("Username").fill("nina")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Accept the rules and create account").click()
        expect(page).to_have_url(re.compile(rf"/f/{quiet['id']}\b.*/room$"))

    def test_a_late_response_does_not_navigate(self):
        page = self.signed_in("grace")
        self.go(page, f"/f/{self.garden['id']}/about")
        routes = []
        page.route("**/members/me", lambda route: routes.append(route))
        page.get_by_role("button", name="Join").click()
        self.eventually(page, 1, lambda: len(routes))
        self.go(page, "/forums/new")
        page.get_by_label("Title").fill("Half a title")
        routes[0].continue_()
        expect(page.get_by_text("You joined Garden")).to_be_visible()
        expect(page.get_by_label("Title")).to_have_value("Half a title")
        self.assertTrue(page.url.endswith("/forums/new"))

    def test_a_failed_page_of_a_list_can_be_retried(self):
        page = self.signed_in("ada")
        self.call("PATCH", "/settings", {"welcome": "Create account"}, self.tokens["ada"])
        is_away = True

        def answer(route):
            if "next=" not in route.request.url:
                entries = route.fetch().json()
                route.fulfill(json={**entries, "next": "further"})
            elif is_away:
                route.abort()
            else:
                route.fulfill(json={"data": [], "next": None, "previous": "back"})

        page.route("**/api/v1/audit*", answer)
        self.go(page, "/admin/audit")
        more = page.get_by_role("button", name="Show more")
        more.click()
        expect(page.locator(".toast")).to_be_visible()
        expect(more).to_be_enabled()
        is_away = False
        more.click()
        expect(more).to_have_count(0)
        expect(page.get_by_role("main").get_by_role("listitem").first).to_be_visible()

    def test_an_added_member_is_warned_before_leaving(self):
        invite = self.call("POST", "/invites", {"role": "guest", "forum_id": self.garden["id"]}, self.tokens["ada"])["code"]
        self.call("POST", "/users", {"name": "eve", "password": PASSWORD, "invite": invite, "accept_rules": True})
        page = self.signed_in("eve")
        self.go(page, f"/f/{self.garden['id']}/about")
        page.get_by_role("button", name="Leave forum").click()
        sheet = page.get_by_role("dialog")
        expect(sheet).to_contain_text("unless someone adds you again")
        sheet.get_by_role("button", name="Leave forum").click()
        expect(page.get_by_role("heading", name="Forums", level=1)).to_be_visible()

    def test_an_open_page_ends_with_its_forum_or_conversation(self):
        ada = self.tokens["ada"]
        group = self.call("POST", "/conversations", {"kind": "group", "title": "Bonfire", "participants": ["@lin"]}, ada)
        forums = [self.call("POST", "/forums", {"title": title, "visibility": "members"}, ada) for title in ("Cellar", "Attic")]
        for forum in forums:
            self.call("PUT", f"/forums/{forum['id']}/members/@lin", {}, ada)
        cellar, attic = (f"/forums/{forum['id']}" for forum in forums)
        topic = self.call("POST", f"{cellar}/conversations", {"title": "Wine", "text": "Which one?"}, ada)
        hide = lambda: (self.call("PATCH", cellar, {"visibility": "private"}, ada), self.call("DELETE", f"{cellar}/members/@lin", token=ada))
        leave = lambda: self.call("DELETE", f"/conversations/{group['id']}/participants/@lin", token=ada)
        delete = lambda: self.call("DELETE", attic, token=ada)
        attic_pages = [f"/f/{forums[1]['id']}/{tab}" for tab in ("room", "topics", "about", "new")]
        page = self.signed_in("lin")
        expect(page.locator(".page-bar .sign-online")).to_be_visible()
        for addresses, end in ((["/c/" + group["id"]], leave), (["/t/" + topic["id"]], hide), (attic_pages, delete)):
            with self.subTest(addresses=addresses):
                pages = [page, *(self.page(page.context) for _ in addresses[1:])]
                for one, address in zip(pages, addresses):
                    self.open(one, address)
                    expect(one.locator(".page-bar .sign-online")).to_be_visible()
                    # Its forum is subscribed, and fetched.
                    one.wait_for_load_state("networkidle")
                end()
                for one in pages:
                    expect(one.get_by_text("This page doesn't exist, or you don't have access to it.")).to_be_visible()
                    expect(one.locator(".composer")).to_have_count(0)
                for one in pages[1:]:
                    one.close()

    def test_members_are_managed(self):
        shed = self.call("POST", "/forums", {"title": "Shed", "visibility": "members"}, self.tokens["ada"])
        for name in ("grace", "lin"):
            self.call("PUT", f"/forums/{shed['id']}/members/@{name}", {}, self.tokens["ada"])
        page = self.signed_in("ada")
        self.go(page, f"/f/{shed['id']}/about")
        page.get_by_role("button", name="Actions for Grace").click()
        self.photograph(page, "member-menu")
        self.assert_accessible(page, "the menu of a member")
        # Her row rerenders while the menu is open: focus still returns to it.
        other = self.signed_in("grace")
        expect(page.locator(".user-line").filter(has_text="Grace")).to_contain_text("online")
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Actions for Grace")).to_be_focused()
        page.keyboard.press("Enter")
        page.get_by_role("menuitem", name="Make moderator").click()
        expect(page.locator(".user-line").filter(has_text="Grace")).to_contain_text("Moderator")
        # After the rerender, keyboard focus is where it was.
        expect(page.get_by_role("button", name="Actions for Grace")).to_be_focused()
        page.get_by_role("button", name="Actions for Lin").click()
        page.get_by_role("menuitem", name="Remove from forum").click()
        expect(page.locator(".user-line").filter(has_text="@lin")).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".user-line").filter(has_text="@lin")).to_have_count(1)
        page.get_by_role("button", name="Actions for Lin").click()
        page.get_by_role("menuitem", name="Remove from forum").click()
        expect(page.locator(".user-line").filter(has_text="@lin")).to_have_count(0)
        # No such menu in one's own row, and none at all for members.
        expect(page.get_by_role("button", name=re.compile("Actions for"))).to_have_count(1)
        self.go(other, f"/f/{shed['id']}/about")
        expect(other.get_by_role("link").filter(has_text="Ada").last).to_be_visible()
        expect(other.get_by_role("button", name=re.compile("Actions for"))).to_have_count(0)
        # The audit log has the action, its actor and its subject.
        self.go(page, "/admin/audit")
        row = page.get_by_role("main").get_by_role("listitem").filter(has_text="Ada removed Lin from Shed").first
        expect(row.get_by_role("link", name="Lin")).to_have_attribute("href", "/u/lin")
        expect(row.get_by_role("link", name="Shed")).to_be_visible()
        self.photograph(page, "audit-rows")
        self.assert_accessible(page, "the audit log")

    def test_participants_of_a_group_are_managed(self):
        group = self.call("POST", "/conversations", {"kind": "group", "title": "Harvest", "participants": ["@grace", "@lin"]}, self.tokens["ada"])
        page = self.signed_in("ada", "phone")
        self.go(page, f"/c/{group['id']}")
        page.get_by_role("button", name="Details").click()
        panel = page.locator(".panel")
        panel.get_by_role("button", name="Actions for Grace").click()
        page.get_by_role("menuitem", name="Make forum admin").click()
        expect(panel.locator(".user-line").filter(has_text="Grace")).to_contain_text("Administrator")
        panel.get_by_role("button", name="Actions for Lin").click()
        page.get_by_role("menuitem", name="Remove from forum").click()
        expect(panel.locator(".user-line").filter(has_text="@lin")).to_have_count(0)
        self.photograph(page, "group-people-phone")
        participants = self.call("GET", f"/conversations/{group['id']}/participants", token=self.tokens["ada"])["data"]
        self.assertEqual(sorted(it["role"] for it in participants), ["admin", "admin"])


    def test_an_open_group_follows_its_participants(self):
        group = self.call("POST", "/conversations", {"kind": "group", "participants": ["@lin"]}, self.tokens["ada"])
        page = self.signed_in("lin")
        expect(page.locator(".page-bar .sign-online")).to_be_visible()
        self.go(page, f"/c/{group['id']}")
        bar = page.locator(".page-bar")
        expect(bar).to_contain_text("2 people")
        page.get_by_role("button", name="Details").click()
        people = page.locator(".panel .user-row")
        expect(people).to_have_count(2)
        expect(bar.locator(".avatar")).to_have_count(1)
        grace = f"/conversations/{group['id']}/participants/@grace"
        self.call("PUT", grace, {}, self.tokens["ada"])
        expect(bar).to_contain_text("Ada, Grace")
        expect(bar).to_contain_text("3 people")
        expect(bar.locator(".avatar")).to_have_count(2)
        expect(people.filter(has_text="Grace")).to_be_visible()
        self.call("DELETE", grace, token=self.tokens["ada"])
        expect(bar).to_contain_text("2 people")
        expect(people).to_have_count(2)


class Inviting(Village):
    def test_an_invite_has_a_maximum_of_uses_and_a_lifetime(self):
        for who, roles in (("ada", ["Member", "Guest", "Moderator", "Administrator"]), ("lin", ["Member", "Guest"])):
            with self.subTest(who=who):
                page = self.signed_in(who, "phone")
                self.go(page, "/you")
                # Staff create invites on the administration pages.
                if who == "lin":
                    page.get_by_role("link", name="Invite people").click()
                else:
                    self.go(page, "/admin/invites")
                page.get_by_role("button", name="New invite").click()
                sheet = page.get_by_role("dialog", name="New invite")
                expect(sheet.get_by_label("Role").locator("option")).to_have_text(roles)
                sheet.get_by_label("Maximum uses").select_option("5 people")
                sheet.get_by_label("Expires").select_option("1 week")
                self.photograph(page, f"new-invite-{who}")
                self.assert_accessible(page, "a new invite")
                sheet.get_by_role("button", name="Create link").click()
                made = page.get_by_role("dialog", name="Invite created")
                expect(made.get_by_role("textbox", name="Invite link")).to_have_value(re.compile("/i/[0-9a-f]{32}$"))
                self.photograph(page, f"invite-made-{who}")
                self.assert_accessible(page, "the link of a new invite")
                made.get_by_role("button", name="Close").click()
                expect(page.get_by_role("main")).to_contain_text("Used 0 times of 5 · until")
        made = self.call("GET", "/invites", token=self.tokens["ada"])["data"]
        self.assertEqual(sum(it["max_uses"] == 5 and it["role"] == "member" for it in made), 2)

    def test_members_without_permission_cannot_invite(self):
        self.call("PATCH", "/settings", {"may_invite": "staff", "may_create_forums": "moderators"}, self.tokens["ada"])
        page = self.signed_in("lin")
        self.go(page, "/you")
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        expect(page.get_by_role("link", name="Invite people")).to_have_count(0)
        self.go(page, "/forums")
        expect(page.get_by_role("button", name="New forum")).to_have_count(0)
        # Moderators see invites and can't create any.
        self.call("PATCH", "/users/@lin", {"role": "moderator", "end_sessions": False}, self.tokens["ada"])
        page = self.signed_in("lin")
        self.go(page, "/admin/invites")
        expect(page.get_by_role("main").get_by_text("Used 0 times").first).to_be_visible()
        expect(page.get_by_role("button", name="New invite")).to_have_count(0)


class Farewell(Village):
    def test_unsent_messages_are_not_lost_without_confirmation(self):
        page = self.signed_in("grace")
        page.route("**/messages", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
        self.room(page)
        expect(self.write(page, "Not yet")).to_be_visible()
        self.go(page, "/you/privacy")
        page.get_by_role("button", name="Leave community").click()
        sheet = page.get_by_role("dialog", name="Leave The Allotment")
        sheet.get_by_label("Password").fill(PASSWORD)
        sheet.get_by_role("button", name="Leave community").click()
        expect(page.get_by_role("dialog")).to_contain_text("1 message hasn't been sent yet.")
        page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.unroute("**/messages")
        self.room(page)
        expect(page.locator(".message.is-mine .state")).to_have_attribute("title", "Sent")

    def test_leaving_the_site_needs_the_password(self):
        page = self.signed_in("lin", anew=True)
        self.go(page, "/you/privacy")
        page.get_by_role("button", name="Leave community").click()
        sheet = page.get_by_role("dialog", name="Leave The Allotment")
        expect(sheet.get_by_role("status")).to_contain_text("Signing in again reactivates it")
        sheet.get_by_label("What should happen?").select_option("leave")
        expect(sheet.get_by_role("status")).to_contain_text("Your messages stay without your name")
        self.photograph(page, "farewell")
        self.assert_accessible(page, "farewell")
        sheet.get_by_label("Password").fill("not it at all")
        sheet.get_by_role("button", name="Leave community").click()
        expect(page.get_by_text("The current password is wrong.")).to_be_visible()
        page.get_by_role("button", name="Leave community").click()
        sheet.get_by_label("What should happen?").select_option("leave")
        sheet.get_by_label("Password").fill(PASSWORD)
        sheet.get_by_role("button", name="Leave community").click()
        expect(page.get_by_role("link", name="Sign in")).to_be_visible()
        self.eventually(page, 0, lambda: page.evaluate("indexedDB.databases().then((all) => all.length + localStorage.length)"))
        found = self.call("GET", "/users?query=lin", token=self.tokens["ada"])["data"]
        self.assertEqual(found, [])
