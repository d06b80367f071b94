"""Mail in the app, received by the SMTP server of another project and read by Python's `email`: an address and its confirmation, kinds of
notifications, a forgotten password, the test mail of staff."""

import email
import email.policy
import queue
import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from aiosmtpd.controller import Controller
from browsing import PASSWORD
from playwright.sync_api import expect
from servers import free_port
from test_flows import Village
from test_pages import Site

# The worker of the server looks every five seconds.
ARRIVAL = 60


class Receiver:
    """Takes mail for all but `refused@…`."""

    def __init__(self):
        self.messages = queue.Queue()

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("refused@"):
            return "550 5.1.1 there is no such user"
        envelope.rcpt_tos.append(address)
        return "250 ok"

    async def handle_DATA(self, server, session, envelope):
        self.messages.put((envelope.rcpt_tos[0], email.message_from_bytes(envelope.original_content, policy=email.policy.default)))
        return "250 taken"


class Mail(Site):
    @classmethod
    def prepare(cls):
        cls.receiver = Receiver()
        controller = Controller(cls.receiver, hostname="127.0.0.1", port=free_port())
        controller.start()
        cls.addClassCleanup(controller.stop)
        cls.listen = f"127.0.0.1:{free_port()}"
        cls.options = ("--smtp-url", f"smtp://127.0.0.1:{controller.port}", "--mail-from", "forum@example.org", "--public-url", f"http://{cls.listen}")

    def change_database(self, statement, *values):
        with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database, database:
            database.execute(statement, values)

    def age_proofs(self):
        """Moves the begin of all sessions back by an hour."""
        self.change_database("update session set proved_at = proved_at - 3600000")

    def mail_to(self, address, subject):
        """The next mail to the address with this subject; others are dropped."""
        deadline = time.monotonic() + ARRIVAL
        while True:
            recipient, message = self.receiver.messages.get(timeout=max(0, deadline - time.monotonic()))
            if recipient == address and re.search(subject, message["Subject"]):
                return message

    def path_in(self, message, start):
        """The link in the text of the mail."""
        return re.search(rf"{self.origin}({start}/\S+)", message.get_body("plain").get_content())[1]

    def at(self, name, path, size="desktop", **more):
        context = self.context(size, **more)
        self.sign_in(context, name)
        page = self.page(context)
        self.open(page, path)
        return page

    def confirm_email(self, name, address):
        """Confirms an address, as by the page and by the link."""
        context = self.context()
        self.sign_in(context, name, anew=True)
        headers = {"Origin": self.origin}
        answer = context.request.put(f"{self.origin}/api/v1/me/email", data={"address": address}, headers=headers)
        self.assertEqual(answer.status, 200, answer.text())
        code = self.path_in(self.mail_to(address, "Confirm"), "/email").split("/")[-1]
        answer = context.request.post(f"{self.origin}/api/v1/email-confirmations", data={"code": code}, headers=headers)
        self.assertEqual(answer.status, 200, answer.text())
        context.close()


class Addresses(Mail):
    def test_an_address_is_set_confirmed_changed_and_deleted(self):
        other = self.at("grace", "/you/email")
        page = self.at("grace", "/you", "phone")
        main = page.get_by_role("main")
        self.age_proofs()
        page.get_by_role("link", name="Email", exact=True).click()
        field = main.get_by_label("Email address")
        send = main.get_by_role("button", name="Send confirmation link")
        field.fill("grace at home")
        send.click()
        # The server checks the proof after the address.
        expect(field).to_have_accessible_description(re.compile("Enter an email address, such as"))
        expect(field).to_be_focused()
        self.assert_accessible(page, "a wrong address")
        field.fill("grace@example.org")
        send.click()
        proof = page.get_by_role("dialog", name="Confirm that it's you")
        proof.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        waiting = main.get_by_role("group", name="grace@example.org")
        expect(waiting).to_contain_text("Waiting for confirmation.")
        expect(page.get_by_text("Link sent to grace@example.org.")).to_be_visible()
        expect(send).to_be_focused()
        expect(field).to_have_value("")
        expect(other.get_by_role("group", name="grace@example.org")).to_contain_text("Waiting for confirmation.")
        self.look(page, "email-waits-phone")
        first = self.path_in(self.mail_to("grace@example.org", "Confirm your email address on The Allotment"), "/email")

        # A second link voids the first.
        waiting.get_by_role("button", name="Send again").click()
        second = self.path_in(self.mail_to("grace@example.org", "Confirm"), "/email")
        visitor = self.page(self.context("phone"))
        self.open(visitor, first)
        expect(visitor.get_by_text("Sign in to the account that the address is for.")).to_be_visible()
        self.look(visitor, "email-sign-in-phone")
        visitor.get_by_role("link", name="Sign in").click()
        visitor.get_by_label("Username").fill("grace")
        visitor.get_by_label("Password").fill(PASSWORD)
        visitor.keyboard.press("Enter")
        confirm = visitor.get_by_role("button", name="Confirm address")
        expect(confirm).to_be_focused()
        self.look(visitor, "email-confirm-phone")
        visitor.keyboard.press("Enter")
        expect(visitor.get_by_role("heading", name="This link is no longer valid")).to_be_focused()
        expect(visitor.get_by_role("link", name="Email settings")).to_have_attribute("href", "/you/email")
        self.look(visitor, "email-old-phone")

        # Opening the link does not confirm: scanners of mail open it, too.
        self.open(visitor, second)
        expect(confirm).to_be_visible()
        expect(waiting).to_contain_text("Waiting for confirmation.")
        confirm.click()
        expect(visitor.get_by_role("heading", name="Address confirmed")).to_be_focused()
        expect(visitor.get_by_text("Email to you goes to grace@example.org")).to_be_visible()
        zone = visitor.evaluate("new Intl.DateTimeFormat().resolvedOptions().timeZone")
        self.assertEqual(self.call("GET", "/me/notifications", token=self.tokens["grace"])["time_zone"], zone)
        self.look(visitor, "email-confirmed-phone")
        visitor.get_by_role("link", name="Notification settings").click()
        expect(visitor.get_by_role("heading", name="Notifications")).to_be_visible()
        for it in (page, other):
            expect(it.get_by_role("group", name="grace@example.org")).to_contain_text("Confirmed")
            expect(it.get_by_label("New email address")).to_be_visible()
        self.look(other, "email-desktop")

        # The earlier address stays until the new one is confirmed, and gets a notice.
        field = main.get_by_label("New email address")
        field.fill("Grace@Example.org")
        send.click()
        expect(field).to_have_accessible_description("This address is already confirmed.")
        field.fill("grace@example.net")
        send.click()
        expect(main.get_by_role("group")).to_have_count(2)
        expect(main.get_by_role("group", name="grace@example.org")).to_contain_text("Confirmed")
        expect(main.get_by_role("group", name="grace@example.net")).to_contain_text("Waiting for confirmation.")
        self.look(page, "email-changes-phone")
        self.open(visitor, self.path_in(self.mail_to("grace@example.net", "Confirm"), "/email"))
        keep = visitor.get_by_label("Stay signed in on other devices")
        expect(keep).not_to_be_checked()
        self.look(visitor, "email-change-phone")
        keep.check()
        confirm.click()
        expect(main.get_by_role("group")).to_have_count(1)
        expect(main.get_by_role("group", name="grace@example.net")).to_contain_text("Confirmed")
        self.mail_to("grace@example.org", "was changed")

        main.get_by_role("button", name="Delete").click()
        question = page.get_by_role("dialog", name="Delete email address?")
        self.assert_accessible(page, "the question")
        question.get_by_role("button", name="Cancel").click()
        expect(main.get_by_role("button", name="Delete")).to_be_focused()
        main.get_by_role("button", name="Delete").click()
        question.get_by_role("button", name="Delete").click()
        expect(main.get_by_role("group")).to_have_count(0)
        expect(main.get_by_label("Email address", exact=True)).to_be_focused()
        expect(other.get_by_role("group", name="grace@example.net")).to_have_count(0)
        held = page.evaluate("fetch('/api/v1/me/email').then((it) => it.json())")
        self.assertIsNone(held["address"])

    def test_an_address_that_was_refused_is_confirmed_again(self):
        self.confirm_email("lin", "lin@example.org")
        lin = self.call("GET", "/users/me", token=self.tokens["lin"])["id"]
        self.change_database("update email set stopped_at = ? where user_id = ?", int(time.time() * 1_000), int(lin))
        page = self.at("lin", "/you/notifications", "phone")
        mail = page.get_by_role("region", name="Send by email")
        expect(mail).to_contain_text("Mail to lin@example.org has stopped.")
        mail.get_by_role("link", name="Email settings").click()
        row = page.get_by_role("group", name="lin@example.org")
        expect(row.first).to_contain_text("because its mail server refused it")
        self.look(page, "email-stopped-phone")
        row.get_by_role("button", name="Confirm again").click()
        expect(row).to_have_count(2)
        other = self.at("lin", self.path_in(self.mail_to("lin@example.org", "Confirm"), "/email"))
        other.get_by_role("button", name="Confirm address").click()
        expect(row).to_have_count(1)
        expect(row).to_contain_text("Confirmed")

    def test_too_many_links_tell_when_to_try_again(self):
        page = self.at("ada", "/you/email")
        ada = int(self.call("GET", "/users/me", token=self.tokens["ada"])["id"])
        now = int(time.time() * 1_000)
        self.change_database("insert into email (user_id, requests, requested_since) values (?, 10, ?)", ada, now)
        page.get_by_label("Email address").fill("ada@example.org")
        page.get_by_role("button", name="Send confirmation link").click()
        expect(page.get_by_role("alert")).to_contain_text(re.compile(r"You have requested too many links\. Try again at .*\d\d:\d\d\."))
        self.change_database("delete from email where user_id = ?", ada)


class Notifications(Mail):
    def stored(self, name):
        return self.call("GET", "/me/notifications", token=self.tokens[name])["mail"]

    def test_kinds_by_mail_need_an_address_and_end_with_one_press(self):
        page = self.at("lin", "/you/notifications", "phone")
        other = self.at("lin", "/you/notifications")
        mail = page.get_by_role("region", name="Send by email")
        expect(mail.get_by_role("switch")).to_have_count(0)
        expect(mail.get_by_role("link", name="Add an email address")).to_have_attribute("href", "/you/email")
        self.look(page, "mail-kinds-none-phone")
        self.confirm_email("lin", "lin@example.org")
        expect(mail).to_contain_text("to lin@example.org. Pausing or snoozing also stops email. Quiet hours don't.")
        expect(page.get_by_text("Security notices, such as a sign-in from a new device, are always sent.")).to_be_visible()
        expect(mail.get_by_role("switch")).to_have_count(6)
        digest, zone = mail.get_by_role("switch", name="Weekly digest"), mail.get_by_label("Time zone")
        expect(digest).to_be_checked()
        expect(zone).to_have_value("UTC")
        zone.select_option("Asia/Tokyo")
        expect(other.get_by_role("region", name="Send by email").get_by_label("Time zone")).to_have_value("Asia/Tokyo")
        digest.uncheck()
        expect(zone).to_be_hidden()
        expect(digest).to_have_accessible_description("No email")
        self.eventually(page, False, lambda: self.call("GET", "/me/notifications", token=self.tokens["lin"])["weekly_digest"])
        self.look(page, "mail-kinds-phone")
        self.look(other, "mail-kinds-desktop")
        expect(mail.get_by_role("switch", name="Replies to you")).to_have_accessible_description("By email after 15 minutes unread")
        mail.get_by_role("switch", name="Replies to you").uncheck()
        self.eventually(page, False, lambda: self.stored("lin")["reply"])
        expect(other.get_by_role("region", name="Send by email").get_by_role("switch", name="Replies to you")).not_to_be_checked()
        expect(page.get_by_role("region", name="Send to my devices").get_by_role("switch", name="Replies to you")).to_be_checked()

        # A mail about a mention, and its link.
        self.say("@lin Did you lock the shed?", "ada")
        self.eventually(page, 1, lambda: len([it for it in self.call("GET", "/inbox", token=self.tokens["lin"])["data"] if it["kind"] == "mention"]))
        self.change_database("update notification set created_at = created_at - 1800000")
        message = self.mail_to("lin@example.org", "mentioned you")
        self.assertIn("Did you lock the shed?", message.get_body("html").get_content())
        self.assertEqual(message["List-Unsubscribe-Post"], "List-Unsubscribe=One-Click")
        visitor = self.page(self.context("phone", java_script_enabled=False))
        visitor.goto(re.search("<(.*)>", message["List-Unsubscribe"])[1])
        self.assertTrue(self.stored("lin")["mention"])
        visitor.get_by_role("button", name="Unsubscribe").click()
        expect(visitor.get_by_text("You get no more email about messages and mentions.")).to_be_visible()
        expect(mail.get_by_role("switch", checked=True)).to_have_count(0)
        self.assertFalse(any(self.stored("lin").values()))

    def test_right_to_left_and_in_other_languages(self):
        self.confirm_email("grace", "grace@example.org")
        page = self.at("grace", "/", "phone")
        for language in ("ar", "de", "en-XA"):
            page.evaluate("code => localStorage.setItem('language', code)", language)
            for name, path in (("email", "/you/email"), ("mail-kinds", "/you/notifications"), ("forgot", "/forgot"), ("email-confirm", "/email/abc")):
                with self.subTest(language=language, page=name):
                    self.open(page, path)
                    self.photograph(page, f"{name}-{language}")
                    self.assert_fits(page, name)
                    self.assertEqual(page.get_by_text(re.compile(r"\b(email|forgot|notify|you)\.\w+")).count(), 0)


class Passwords(Mail):
    def ask(self, page, login):
        """With the keyboard alone."""
        self.open(page, "/forgot")
        expect(page.get_by_label("Username or email address")).to_be_focused()
        page.keyboard.type(login)
        page.keyboard.press("Enter")

    def test_a_forgotten_password_is_reset_by_mail(self):
        self.confirm_email("lin", "lin@example.org")
        for size in ("phone", "desktop"):
            with self.subTest(size=size):
                page = self.page(self.context(size))
                self.open(page, "/sign-in")
                self.look(page, f"sign-in-mail-{size}")
                page.get_by_role("link", name="Forgot password?").click()
                expect(page.get_by_label("Username or email address")).to_be_focused()
                self.look(page, f"forgot-{size}")
                page.get_by_role("button", name="Send link").click()
                expect(page.get_by_role("alert")).to_have_text("Enter a username or an email address.")
                sentences = []
                for login in ("nina", "grace", "@Lin", "nina@example.org"):
                    self.ask(page, login)
                    heading = page.get_by_role("heading", name="Check your email")
                    expect(heading).to_be_focused()
                    sentences.append(page.get_by_role("main").inner_text())
                    self.look(page, f"forgot-sent-{size}")
                self.assertEqual(len(set(sentences)), 1, sentences)
                self.assertIn("If there is an account with a confirmed address, a link is on its way. It works for one hour.", sentences[0])
                page.keyboard.press("Tab")
                expect(page.get_by_role("link", name="Sign in")).to_be_focused()

                path = self.path_in(self.mail_to("lin@example.org", "Reset your password"), "/reset")
                self.open(page, path)
                page.get_by_label("Password").fill(f"{PASSWORD} {size}")
                page.get_by_role("button", name="Save and sign in").click()
                expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
                self.mail_to("lin@example.org", "Your password on The Allotment was changed")
                other = self.page(self.context(size))
                self.open(other, "/sign-in")
                other.get_by_label("Username").fill("lin")
                other.get_by_label("Password").fill(f"{PASSWORD} {size}")
                other.get_by_role("button", name="Sign in").click()
                expect(other.get_by_role("heading", name="Inbox")).to_be_visible()

                # The link works once.
                late = self.page(self.context(size))
                self.open(late, path)
                expect(late.get_by_role("heading", name="This link is no longer valid")).to_be_visible()
                self.look(late, f"reset-old-{size}")
                late.get_by_role("link", name="Send a new link").click()
                expect(late.get_by_label("Username or email address")).to_be_focused()
                # Moves the last mail back by more than five minutes.
                self.change_database("update mail_delivery set due_at = due_at - 600000")


class TestMail(Mail):
    def test_staff_send_a_test_mail(self):
        self.confirm_email("ada", "ada@example.org")
        for size in ("phone", "desktop"):
            with self.subTest(size=size):
                page = self.at("ada", "/admin/settings", size)
                part = page.get_by_role("region", name="Outgoing email")
                field = part.get_by_label("Address for the test email")
                send = part.get_by_role("button", name="Send a test email")
                expect(field).to_have_value("ada@example.org")
                send.click()
                expect(part.get_by_text("The mail server accepted the email. It should arrive at ada@example.org soon.")).to_be_visible()
                self.mail_to("ada@example.org", "Test email from The Allotment")
                send.scroll_into_view_if_needed()
                self.look(page, f"mail-test-{size}")
                field.fill("refused@example.org")
                field.press("Enter")
                expect(part.get_by_text("The mail server refused the email to refused@example.org.")).to_be_visible()
                expect(part.get_by_role("code")).to_contain_text("550 5.1.1 there is no such user")
                send.scroll_into_view_if_needed()
                self.look(page, f"mail-test-refused-{size}")
                field.fill("ada")
                send.click()
                expect(field).to_have_accessible_description(re.compile("Enter an email address"))
                expect(part.get_by_role("code")).to_have_count(0)
        self.assertEqual(self.at("grace", "/admin/settings").get_by_role("region", name="Outgoing email").count(), 0)


class WithoutMail(Village):
    def test_no_page_mentions_mail(self):
        page = self.signed_in("ada")
        for path, sign in (("/you/email", "Profile"), ("/you/notifications", "Quiet hours"), ("/admin/settings", "Community name")):
            with self.subTest(path=path):
                self.go(page, path)
                expect(page.get_by_role("main").get_by_text(sign).first).to_be_visible()
                self.assertEqual(page.get_by_role("main").get_by_text(re.compile(r"\bmail|e-?mail\b(?! address or a web page| or phone)", re.IGNORECASE)).all_inner_texts(), [])
        visitor = self.page(self.context())
        self.open(visitor, "/sign-in")
        self.assertEqual(visitor.get_by_role("link", name="Forgot password?").count(), 0)
        self.open(visitor, "/forgot")
        expect(visitor.get_by_text("An administrator can send you a reset link.")).to_be_visible()
        self.assertEqual(visitor.get_by_role("textbox").count(), 0)
