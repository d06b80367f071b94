"""Slash commands in the app: completed, run by another program, with replies for the user alone; and their administration."""

import json
import re
from pathlib import Path

from browsing import SIZES
from playwright.sync_api import expect
from servers import LOOPBACK, VENV_PYTHON, Server, free_port
from test_flows import Village

CLIENTS = Path(__file__).resolve().parents[2] / "clients"


class SlashCommands(Village):
    """The daemon may send requests to one port of this machine, on which a program runs the command `knit`."""

    @classmethod
    def start(cls, *command, **more):
        cls.receiving = free_port()
        return super().start(LOOPBACK, cls.receiving, *command[1:], **more)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        ada = cls.tokens["ada"]
        cls.bot = self.call("POST", "/bots", {"name": "needles", "display_name": "Needles", "scope": "write", "forums": [cls.garden["id"]]}, ada)["user"]["id"]
        cls.hook = f"http://127.0.0.1:{cls.receiving}/run"
        body = {"name": "knit", "description": "Count stitches", "usage": "<stitch>", "bot_id": cls.bot, "url": cls.hook}
        made = self.call("POST", "/commands", body, ada)
        cls.command = made["id"]
        cls.file = Path(cls.folder) / "received"
        cls.program = Server("slash-commands", VENV_PYTHON, CLIENTS / "command_receiver.py", cls.receiving, cls.file, made["secret"], port=cls.receiving)
        cls.addClassCleanup(cls.program.kill)

    def uses(self):
        lines = self.file.read_text().split("\n")[:-1] if self.file.exists() else []
        return [it["text"] for it in map(json.loads, lines) if "command" in it]

    def field(self, page):
        return page.get_by_role("textbox", name="Write a message")

    def replies(self, page):
        return page.get_by_role("region", name="Replies to your commands")

    def texts(self):
        path = f"/conversations/{self.garden['room_id']}/messages"
        return [it["text"] for it in self.call("GET", path, token=self.tokens["ada"])["data"]]

    def test_completed_sent_and_answered_to_the_user_alone(self):
        for size in SIZES:
            with self.subTest(size=size):
                page = self.signed_in("grace", size)
                self.room(page)
                field = self.field(page)
                field.press_sequentially("/k")
                option = page.get_by_role("option", name="/knit <stitch>")
                expect(option).to_contain_text("Count stitches")
                self.photograph(page, f"slash-completion-{size}")
                self.assert_accessible(page, "slash-completion")
                field.press("Enter")
                expect(field).to_have_value("/knit ")
                field.press_sequentially(f"now **18** on the {size}")
                field.press("Enter")
                expect(field).to_have_value("")
                reply = self.replies(page).locator(".command-reply", has_text=f"18 on the {size}")
                expect(reply).to_contain_text("Needles")
                expect(reply).to_contain_text("Only you see this")
                expect(reply.locator("strong", has_text="18")).to_be_visible()
                self.photograph(page, f"slash-reply-{size}")
                self.assert_accessible(page, "slash-reply")
                self.assert_fits(page, "slash-reply")
                # The answer to the request and the event are one reply.
                expect(self.replies(page).locator(".command-reply")).to_have_count(1)
                reply.get_by_role("button", name="Dismiss reply").click()
                expect(reply).to_have_count(0)
                expect(field).to_be_focused()
                self.assertIn(f"now **18** on the {size}", self.uses())
                self.assertEqual([it for it in self.texts() if "18" in it], [])

    def test_replies_to_all_and_later_ones(self):
        page = self.signed_in("grace")
        self.room(page)
        field = self.field(page)
        field.fill("/knit all a sock for everyone")
        field.press("Enter")
        expect(page.locator("article").filter(has_text="a sock for everyone").last).to_contain_text("Needles")
        field.fill("/knit later one scarf")
        field.press("Enter")
        expect(self.replies(page)).to_contain_text("one scarf")
        field.fill("/knit later two scarves")
        field.press("Enter")
        self.eventually(page, True, lambda: "later two scarves" in self.uses())
        # Another device of the user has the reply, too.
        other = self.signed_in("grace", "phone")
        self.room(other)
        field.fill("/knit later three scarves")
        field.press("Enter")
        for it in (page, other):
            expect(self.replies(it)).to_contain_text("three scarves")

    def test_other_texts_are_messages(self):
        page = self.signed_in("grace")
        self.room(page)
        before = len(self.uses())
        for typed, posted in [("/weave now 1", "/weave now 1"), ("//knit now 1", "/knit now 1"), ("//weave", "//weave"), ("/etc/passwd is a file", "/etc/passwd is a file")]:
            field = self.field(page)
            field.fill(typed)
            field.press("Enter")
            self.eventually(page, True, lambda: posted in self.texts())
        self.assertEqual(len(self.uses()), before)

    def test_a_failure_is_told_and_the_text_comes_back(self):
        page = self.signed_in("grace")
        self.room(page)
        field = self.field(page)
        field.fill("/knit bad 1")
        field.press("Enter")
        expect_notice = lambda words: expect(page.get_by_role("status").or_(page.get_by_role("alert")).filter(has_text=words).first).to_be_visible()
        expect_notice("The answer of this command can't be shown.")
        expect(field).to_have_value("")
        page.route(re.compile(r"/conversations/\d+/commands$"), lambda route: route.continue_() if route.request.method == "GET" else route.fulfill(
            status=424, json={"status": 424, "code": "command_unreachable", "title": "Unreachable."}, content_type="application/problem+json"))
        field.fill("/knit now 2")
        field.press("Enter")
        expect_notice("The program of this command can't be reached.")
        expect(field).to_have_value("/knit now 2")

    def test_a_conversation_without_commands_asks_for_none_until_a_slash(self):
        page = self.signed_in("lin")
        asked = []
        page.on("request", lambda request: "/commands" in request.url and asked.append(request.url))
        self.room(page)
        self.write(page, "purl")
        self.eventually(page, True, lambda: "purl" in self.texts())
        self.assertEqual(asked, [])

    def test_administration(self):
        ada = self.signed_in("ada")
        self.go(ada, "/admin/commands")
        row = ada.locator(".setting-row", has_text="/knit")
        expect(row).to_contain_text("Count stitches")
        expect(row).to_contain_text("Needles")
        ada.get_by_role("button", name="New slash command").click()
        dialog = ada.get_by_role("dialog", name="New slash command")
        dialog.get_by_role("textbox", name="Name", exact=True).fill("Purl")
        dialog.get_by_role("textbox", name="Description").fill("Count rows")
        dialog.get_by_role("textbox", name="URL").fill("https://hooks.example.org/purl?key=wool")
        dialog.get_by_role("combobox", name="Available in").select_option(self.garden["id"])
        create = dialog.get_by_role("button", name="Create slash command")
        create.click()
        expect(dialog.get_by_role("alert")).to_have_text("Use lowercase letters, numbers, dashes and underscores.")
        dialog.get_by_role("textbox", name="Name", exact=True).fill("purl")
        self.assert_accessible(ada, "slash-form")
        create.click()
        made = ada.get_by_role("dialog", name="/purl created")
        secret = made.get_by_role("textbox", name="Secret").input_value()
        self.assertRegex(secret, r"\Awhsec_[A-Za-z0-9+/=]{44}\Z")
        ada.keyboard.press("Escape")
        row = ada.locator(".setting-row", has_text="/purl")
        expect(row).to_contain_text("https://hooks.example.org/purl?key=wool")
        self.assert_accessible(ada, "slash-commands")
        self.assert_fits(ada, "slash-commands")

        row.get_by_role("button", name="Edit").click()
        edit = ada.get_by_role("dialog", name="/purl")
        edit.get_by_role("textbox", name="Text after the name").fill("<rows>")
        edit.get_by_text("Can be used").click()
        edit.get_by_role("button", name="Save").click()
        expect(row).to_contain_text("turned off")
        listed = {it["name"]: it for it in self.call("GET", "/commands", token=self.tokens["ada"])["data"]}
        self.assertEqual((listed["purl"]["usage"], listed["purl"]["forums"]), ("<rows>", [self.garden["id"]]))

        row.get_by_role("button", name="Edit").click()
        edit.get_by_role("button", name="New secret").click()
        ada.get_by_role("dialog", name="New secret").get_by_role("button", name="New secret").click()
        renewed = ada.get_by_role("textbox", name="Secret")
        expect(renewed).to_have_value(re.compile("whsec_"))
        self.assertNotEqual(renewed.input_value(), secret)
        ada.keyboard.press("Escape")

        row.get_by_role("button", name="Edit").click()
        edit.get_by_role("button", name="Delete").click()
        ada.get_by_role("dialog", name="Delete /purl?").get_by_role("button", name="Delete").click()
        expect(row).to_have_count(0)
        grace = self.signed_in("grace")
        self.go(grace, "/admin/commands")
        expect(grace.get_by_text("This page doesn't exist")).to_be_visible()

    def test_in_german_on_a_phone(self):
        ada = self.signed_in("ada", size="phone", locale="de-DE")
        self.go(ada, "/admin/commands")
        expect(ada.get_by_role("button", name="Neuer Slash-Befehl")).to_be_visible()
        self.assert_fits(ada, "slash-commands-de")
        self.assert_accessible(ada, "slash-commands-de")
