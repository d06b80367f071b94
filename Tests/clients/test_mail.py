"""Mail, received by the SMTP server of another project and read by Python's `email`."""

import json
import os
import re
import sqlite3
import subprocess
import tempfile
import time
import unittest
from contextlib import closing
from email.message import EmailMessage, Message
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import make_msgid
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from restarting import ENDLESS
from servers import PARLEY, VENV_PYTHON, Server, free_port
from serving import ServingTest, call, parley

HERE = Path(__file__).parent


class Mailing(ServingTest):
    part = "bells"
    waits = True
    mode = "plain"
    smtp_password = "right"

    def setUp(self):
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="parley-"))
        self.file = Path(self.folder) / "received"
        self.receiving = free_port()
        self.receiver = self.receive()
        self.daemon = self.serve()
        self.tokens, self.sessions = {}, {}
        for name, role in (("ada", "owner"), ("lin", "member")):
            self.say("user", "create", name, "--role", role, "--password-stdin", given="wool and needles\n")
            self.sessions[name] = call(
                self.daemon, "POST", "/sessions", {"name": name, "password": "wool and needles"})["token"]

    def receive(self):
        more = []
        if self.mode != "plain":
            self.make_certificate()
            more = [self.certificate, self.key]
        receiver = Server(
            f"mail-{self.id()}", VENV_PYTHON, HERE / "mail_server.py", self.receiving, self.file, self.mode, *more,
            port=self.receiving, env={"MAIL_PASSWORD": self.smtp_password})
        self.addCleanup(receiver.kill)
        return receiver

    def make_certificate(self, names="DNS:localhost,IP:127.0.0.1"):
        self.certificate, self.key = f"{self.folder}/mail.pem", f"{self.folder}/mail.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
             "-subj", "/CN=mail.test", "-addext", f"subjectAltName={names}", "-keyout", self.key, "-out", self.certificate],
            check=True, capture_output=True)

    def flags(self):
        return ["--smtp-url", f"smtp://127.0.0.1:{self.receiving}"]

    def serve(self):
        daemon = self.start(
            *parley(self.folder, *ENDLESS, "--public-url", "https://wool.example", *self.flags()))
        self.addCleanup(daemon.stop)
        return daemon

    def say(self, *arguments, given=None):
        done = subprocess.run(
            [PARLEY, *arguments, "--data", f"{self.folder}/data"], input=given, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def ask(self, name, method, path, body=None):
        return call(self.daemon, method, path, body, self.sessions.get(name))

    def lines(self):
        text = self.file.read_text() if self.file.exists() else ""
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def received(self, count):
        deadline = time.monotonic() + 90
        while len(self.lines()) < count:
            self.assertLess(time.monotonic(), deadline, (self.lines(), self.daemon.output()))
            time.sleep(0.05)
        return self.lines()

    def code(self, mail, path):
        return re.search(rf"https://wool\.example/{path}/([0-9a-f]+)", mail["parts"]["text/plain"]).group(1)

    def change_database(self, statement, *values):
        with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database, database:
            database.execute(statement, values)

    def value(self, statement):
        with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database:
            return database.execute(statement).fetchone()[0]

    def send_test(self, address="ops@example.org"):
        return self.ask("ada", "POST", "/settings/mail-test", {"address": address})


class Plain(Mailing):
    def test_an_address_is_confirmed_and_resets_the_password(self):
        self.assertTrue(call(self.daemon, "GET", "/server")["mail"])
        self.ask("lin", "PUT", "/me/email", {"address": "lin@example.org"})
        mail = self.received(1)[0]
        self.assertEqual((mail["from"], mail["to"], mail["defects"]), ("noreply@wool.example", ["lin@example.org"], []))
        headers = dict(map(tuple, mail["headers"]))
        self.assertEqual(headers["Auto-Submitted"], "auto-generated")
        self.assertEqual(headers["From"], "Parley <noreply@wool.example>")
        self.assertNotIn("List-Unsubscribe", headers)
        self.assertEqual(set(mail["parts"]), {"text/plain", "text/html"})
        code = self.code(mail, "email")
        # A code alone confirms nothing: a mistyped address belongs to a stranger.
        for name in (None, "ada"):
            with self.assertRaises(HTTPError) as refused:
                self.ask(name, "POST", "/email-confirmations", {"code": code})
            self.assertEqual(refused.exception.code, 404 if name else 401)
        self.assertEqual(self.ask("lin", "POST", "/email-confirmations", {"code": code})["address"], "lin@example.org")
        call(self.daemon, "POST", "/password-resets", {"login": "lin@example.org"})
        reset = self.received(2)[1]
        opened = call(self.daemon, "POST", f"/links/{self.code(reset, 'reset')}", {"password": "another password 7"})
        self.assertEqual(opened["user"]["name"], "lin")
        self.assertEqual(self.received(3)[2]["to"], ["lin@example.org"])
        # The codes are in no file of the data folder.
        for path in Path(self.folder, "data").iterdir():
            if path.is_file():
                content = path.read_bytes()
                self.assertNotIn(self.code(mail, "email").encode(), content, path)
                self.assertNotIn(self.code(reset, "reset").encode(), content, path)
        self.say("verify")

    def test_names_and_subjects_survive(self):
        name = "Masche & Wolle 🧶, Köln; äöü"
        self.ask("ada", "PATCH", "/settings", {"name": name})
        self.assertEqual(self.send_test()["outcome"], "accepted")
        headers = dict(map(tuple, self.received(1)[0]["headers"]))
        self.assertIn(name, headers["Subject"])
        self.assertEqual(headers["From"], f'"{name}" <noreply@wool.example>')

    def test_a_greylisted_mail_is_sent_later_and_a_cut_one_again(self):
        self.assertEqual(self.send_test("later@example.org")["outcome"], "refused")
        self.assertEqual(self.send_test("later@example.org")["outcome"], "accepted")
        cut = self.send_test("cut@example.org")
        self.assertEqual(cut["outcome"], "unavailable")
        self.assertEqual(self.send_test("cut@example.org")["outcome"], "accepted")

    def test_a_refused_recipient_is_told(self):
        answer = self.send_test("refused@example.org")
        self.assertEqual(answer["outcome"], "refused")
        self.assertIn("550 5.1.1 there is no such user", answer["detail"])

    def test_waiting_mail_survives_a_crash_and_a_silent_mail_server(self):
        self.receiver.kill()
        self.ask("lin", "PUT", "/me/email", {"address": "lin@example.org"})
        deadline = time.monotonic() + 60
        while "Mail waits" not in self.daemon.output():
            self.assertLess(time.monotonic(), deadline, self.daemon.output())
            time.sleep(0.1)
        self.daemon.kill()
        self.receive()
        self.daemon = self.serve()
        mails = self.received(1)
        self.assertEqual([it["to"] for it in mails], [["lin@example.org"]])
        self.assertEqual(self.ask("lin", "POST", "/email-confirmations", {"code": self.code(mails[0], "email")})["address"], "lin@example.org")

    def holds_a_notice(self):
        """A notice whose content the mail server has, and which it has not yet answered. Returns its Message-ID."""
        self.ask("lin", "PUT", "/me/email", {"address": "lin@example.org"})
        self.ask("lin", "POST", "/email-confirmations", {"code": self.code(self.received(1)[0], "email")})
        self.hold = Path(f"{self.file}.hold")
        self.hold.touch()
        self.ask("lin", "POST", "/me/tokens", {"name": "script", "scope": "write"})
        return self.message_id(self.received(2)[1])

    def message_id(self, mail):
        return dict(map(tuple, mail["headers"]))["Message-ID"]

    def is_sent_again(self, message_id):
        """The next start sends the mail, with the same id, and notes it."""
        self.daemon = self.serve()
        self.assertEqual(self.message_id(self.received(3)[2]), message_id)
        deadline = time.monotonic() + 60
        while self.value("select count(*) from mail_delivery where sent_at is null"):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        self.send_test()
        self.assertEqual([it["to"] for it in self.received(4)[3:]], [["ops@example.org"]])

    def test_a_mail_is_sent_again_after_a_crash_before_the_answer_to_its_content(self):
        notice = self.holds_a_notice()
        self.daemon.kill()
        self.hold.unlink()
        self.is_sent_again(notice)

    def test_a_mail_is_sent_again_after_a_crash_before_the_answer_is_stored(self):
        notice = self.holds_a_notice()
        path = Path(self.folder) / "data" / "parley.db"
        with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as database:
            # The server can't store a change.
            database.execute("begin immediate")
            self.hold.unlink()
            deadline = time.monotonic() + 60
            while not Path(f"{self.file}.answered").exists():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            self.daemon.kill()
            database.execute("rollback")
        self.is_sent_again(notice)

    def test_a_weekly_digest_is_sent_once_also_after_a_crash(self):
        self.ask("lin", "PUT", "/me/email", {"address": "lin@example.org"})
        code = self.code(self.received(1)[0], "email")
        self.ask("lin", "POST", "/email-confirmations", {"code": code})
        room = self.ask("ada", "POST", "/forums", {"title": "Garden", "visibility": "members"})["room_id"]
        self.ask("ada", "POST", f"/conversations/{room}/messages", {"text": "Wolle & Nadeln 🧶 < Garn @lin"})
        # The digest is planned. Its time comes, and the user was not there for two days.
        deadline = time.monotonic() + 60
        while self.value("select digest_due_at from email") == 0:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        self.daemon.kill()
        self.change_database("update account set last_seen_at = last_seen_at - 172800000")
        self.change_database("update email set digest_due_at = ?", int(time.time() * 1000))
        self.daemon = self.serve()
        mail = self.received(2)[1]
        headers = dict(map(tuple, mail["headers"]))
        self.assertEqual((mail["to"], mail["defects"], headers["Subject"]), (["lin@example.org"], [], "Your week on Parley"))
        self.assertEqual(headers["List-Id"], "<weekly-digest.wool.example>")
        self.assertEqual(headers["List-Unsubscribe-Post"], "List-Unsubscribe=One-Click")
        self.assertIn("> ada: Wolle & Nadeln 🧶 < Garn", mail["parts"]["text/plain"])
        self.assertIn("ada: Wolle &amp; Nadeln 🧶 &lt; Garn", mail["parts"]["text/html"])
        self.daemon.kill()
        self.daemon = self.serve()
        self.send_test()
        self.assertEqual(len(self.received(3)), 3)
        path = re.search(r"https://wool\.example(/unsubscribe/\S+?)>", headers["List-Unsubscribe"]).group(1)
        urlopen(Request(self.daemon.url + path, data=b"List-Unsubscribe=One-Click", method="POST")).close()
        self.assertFalse(self.ask("lin", "GET", "/me/notifications")["weekly_digest"])
        self.assertTrue(self.ask("lin", "GET", "/me/notifications")["mail"]["mention"])

    def test_staff_alone_sends_a_test(self):
        with self.assertRaises(HTTPError) as refused:
            self.ask("lin", "POST", "/settings/mail-test", {"address": "ops@example.org"})
        self.assertEqual(refused.exception.code, 403)
        refused.exception.close()


class Answering(Mailing):
    """Mails about mentions, which their recipient answers, and mails that come back."""

    def flags(self):
        return [*super().flags(), "--mail-reply-to", "reply@wool.example", "--mail-bounce-to", "bounces@wool.example"]

    def setUp(self):
        super().setUp()
        self.ask("lin", "PUT", "/me/email", {"address": "lin@example.org"})
        self.confirmation = self.received(1)[0]
        self.ask("lin", "POST", "/email-confirmations", {"code": self.code(self.confirmation, "email")})
        self.room = self.ask("ada", "POST", "/forums", {"title": "Garden", "visibility": "members"})["room_id"]

    def mention(self, text="When, @lin?"):
        """The mail about a message of ada, 15 minutes later."""
        count = len(self.lines())
        self.ask("ada", "POST", f"/conversations/{self.room}/messages", {"text": text})
        # The last mail of the conversation keeps the next one back until it is read.
        last = self.ask("ada", "GET", f"/conversations/{self.room}/messages")["data"][0]["id"]
        self.change_database("delete from mail_delivery")
        self.change_database("update notification set created_at = created_at - 1800000 where message_id = ?", int(last))
        return self.received(count + 1)[-1]

    def hand_over(self, message, *flags, status=0):
        done = subprocess.run(
            [PARLEY, "mail-in", "--data", f"{self.folder}/data", *flags], input=message if isinstance(message, bytes) else bytes(message),
            capture_output=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode().strip()

    def reply(self, mail, text, sender="Lin <lin@example.org>", **fields):
        message = EmailMessage()
        headers = dict(map(tuple, mail["headers"]))
        message["From"], message["To"], message["Subject"] = sender, headers["Reply-To"], "Re: " + headers["Subject"]
        message["Message-ID"] = fields.pop("id", make_msgid(domain="mail.example.org"))
        for name, value in fields.items():
            message[name.replace("_", "-")] = value
        message.set_content(text)
        return message

    def texts(self):
        return [it["text"] for it in self.ask("ada", "GET", f"/conversations/{self.room}/messages")["data"]]

    def metric(self, name):
        return float(re.search(rf"^{re.escape(name)} (.*)$", self.metrics(), re.MULTILINE).group(1))

    def metrics(self):
        token = self.ask("ada", "POST", "/me/tokens", {"name": f"metrics {time.monotonic()}", "scope": "admin"})["token"]
        return urlopen(Request(self.daemon.url + "/metrics", headers={"Authorization": f"Bearer {token}"})).read().decode()

    def test_a_reply_is_posted_once(self):
        mail = self.mention()
        self.assertEqual(mail["defects"], [])
        self.assertTrue(mail["from"].startswith("bounces+b-") and mail["from"].endswith("@wool.example"), mail["from"])
        self.assertIn("Reply to this mail to answer.", mail["parts"]["text/plain"])
        # The outcome is counted after the answer of the mail server.
        deadline = time.monotonic() + 60
        while 'parley_mail_sends_total{kind="notification",outcome="accepted"} 1' not in self.metrics().splitlines():
            self.assertLess(time.monotonic(), deadline, self.metrics())
            time.sleep(0.1)
        quote = "\n\nOn 29.11.26 17:05, Parley wrote:\n" + "".join(f"> {line}\n" for line in mail["parts"]["text/plain"].split("\n"))
        answer = self.reply(mail, "Donnerstag 🧶, um acht." + quote)
        self.assertEqual(self.hand_over(answer), "posted")
        self.assertEqual(self.hand_over(answer), "repeated")
        # Another daemon knows it, too.
        self.daemon.kill()
        self.assertEqual(self.hand_over(answer, status=75), "")
        self.daemon = self.serve()
        self.assertEqual(self.hand_over(answer), "repeated")
        self.assertEqual(sorted(self.texts()), ["Donnerstag 🧶, um acht.", "When, @lin?"])
        # The mail server may name the recipient.
        bare = self.reply(mail, "Or Friday.")
        recipient = bare["To"]
        bare.replace_header("To", "Parley <undisclosed@wool.example>")
        self.assertEqual(self.hand_over(bare), "ignored")
        self.assertEqual(self.hand_over(bare, "--recipient", recipient), "posted")
        self.assertEqual(self.hand_over(self.reply(mail, "I am away.", Auto_Submitted="auto-replied")), "ignored")
        self.assertEqual(self.hand_over(b"\x00\xff" * 5_000_000 + b"x"), "ignored")
        self.assertEqual(self.metric('parley_mail_received_total{receipt="repeated"}'), 1)
        self.say("verify")

    def test_a_stranger_posts_no_message_and_the_user_gets_a_mail(self):
        mail = self.mention()
        count = len(self.lines())
        for _ in range(3):
            self.assertEqual(self.hand_over(self.reply(mail, "Buy it", sender="eve@example.net")), "refused")
        notice = self.received(count + 1)[-1]
        self.assertEqual((notice["from"], notice["to"], notice["defects"]), ("<>", ["lin@example.org"], []))
        headers = dict(map(tuple, notice["headers"]))
        self.assertEqual((headers["Auto-Submitted"], headers["Subject"]), ("auto-generated", "Your reply to Parley was not posted"))
        self.assertNotIn("Reply-To", headers)
        self.assertEqual(self.texts(), ["When, @lin?"])
        self.assertEqual(len(self.lines()), count + 1)

    def report(self, mail, status):
        message = MIMEMultipart("report", report_type="delivery-status")
        message["From"], message["To"], message["Return-Path"] = "MAILER-DAEMON@mx.example", mail["from"], "<>"
        message.attach(MIMEText("Your message could not be delivered."))
        part = MIMEBase("message", "delivery-status")
        for fields in ({"Reporting-MTA": "dns; mx.example"}, {"Final-Recipient": "rfc822; lin@example.org", "Action": "failed", "Status": status}):
            group = Message()
            for name, value in fields.items():
                group[name] = value
            part.attach(group)
        message.attach(part)
        return message

    def test_three_bounces_stop_mail(self):
        mails = [self.mention(f"{number} @lin") for number in range(3)]
        self.assertEqual(self.hand_over(self.report(mails[0], "4.2.2")), "ignored")
        self.assertEqual(self.hand_over(self.report(mails[0], "5.7.1")), "ignored")
        for mail in (mails[0], mails[0], mails[1], mails[2]):
            self.assertIsNone(self.ask("lin", "GET", "/me/email")["stopped_at"])
            self.assertEqual(self.hand_over(self.report(mail, "5.1.1")), "bounced")
        self.assertIsNotNone(self.ask("lin", "GET", "/me/email")["stopped_at"])
        self.assertEqual(self.metric("parley_mail_stopped_addresses"), 1)
        self.assertEqual(self.metric('parley_mail_received_total{receipt="bounced"}'), 4)
        self.assertNotIn("@example.org", self.daemon.output())
        self.assertNotIn("@example.org", self.metrics())
        self.ask("lin", "PUT", "/me/email", {"address": "lin@example.org"})
        again = self.received(5)[-1]
        self.ask("lin", "POST", "/email-confirmations", {"code": self.code(again, "email")})
        self.assertIsNone(self.ask("lin", "GET", "/me/email")["stopped_at"])

    def test_hostile_texts_add_no_field(self):
        fields = {"From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Auto-Submitted", "X-Auto-Response-Suppress",
                  "Content-Language", "Content-Type", "Reply-To", "List-Id", "List-Unsubscribe", "List-Unsubscribe-Post"}
        ends = ["\r\n", "\n", "\r", "\r\n\r\n", "\n.\r\n", "\u2028", "\u0085", "\x0b", "\x0c", "%0d%0a", "=0D=0A", "=?utf-8?B?DQo=?=",
                "\r\n ", "\r\n\t", "\x00", "\u2029", "\ufeff", "\u202e", "\"", "<>", "--=_", "é\r\n"]
        for end in ends:
            hostile = f"Wool{end}Bcc: eve@example.net{end}X-Eve: yes"
            with self.subTest(hostile=hostile):
                for path, body in (("/settings", {"name": hostile}), ("/users/me", {"display_name": hostile[:60]}),
                                   (f"/forums/{self.forum()}", {"title": hostile})):
                    # The site refuses some of them.
                    try:
                        self.ask("ada", "PATCH", path, body)
                    except HTTPError as refused:
                        refused.close()
                # No message has a NUL.
                mail = self.mention(f"@lin {hostile}\r\n.\r\nMAIL FROM:<eve@example.net>".replace("\0", ""))
                self.assertEqual((mail["to"], mail["defects"]), (["lin@example.org"], []))
                self.assertEqual({name for name, _ in mail["headers"]} - fields, set())
                self.assertEqual(len(mail["headers"]), len({name for name, _ in mail["headers"]}))

    def forum(self):
        return self.ask("ada", "GET", "/forums")["data"][0]["id"]


class Silent(Mailing):
    def test_without_an_address_for_replies_there_are_none(self):
        self.assertEqual(self.send_test()["outcome"], "accepted")
        mail = self.received(1)[0]
        self.assertEqual(mail["from"], "noreply@wool.example")
        self.assertNotIn("Reply-To", dict(map(tuple, mail["headers"])))


class StartTLS(Mailing):
    mode = "starttls"
    user, password = "forum%40example.org", "right"

    def flags(self, roots=None):
        secret = Path(self.folder) / "password"
        secret.write_text(self.password + "\n")
        secret.chmod(0o600)
        scheme = "smtp" if self.mode == "starttls" else "smtps"
        return [
            "--smtp-url", f"{scheme}://{self.user}@localhost:{self.receiving}", "--smtp-password-file", str(secret),
            "--smtp-ca", roots or self.certificate, "--mail-from", "forum@example.org"]

    def test_it_signs_in_over_tls(self):
        self.assertEqual(self.send_test()["outcome"], "accepted")
        self.assertEqual(self.send_test()["outcome"], "accepted")
        for mail in self.received(2):
            self.assertEqual((mail["tls"], mail["user"], mail["from"]), (True, "forum@example.org", "forum@example.org"))

    def test_a_certificate_of_others_is_refused(self):
        old = self.receiver
        old.kill()
        self.make_certificate("DNS:other.example")
        self.receiver = Server(
            f"mail-other-{self.id()}", VENV_PYTHON, HERE / "mail_server.py", self.receiving, self.file, self.mode,
            self.certificate, self.key, port=self.receiving)
        self.addCleanup(self.receiver.kill)
        answer = self.send_test()
        self.assertEqual(answer["outcome"], "unavailable")
        self.assertIn("certificate", answer["detail"])
        self.assertEqual(self.lines(), [])


class ImplicitTLS(StartTLS):
    mode = "tls"


class WrongPassword(StartTLS):
    password = "wrong"

    def test_it_signs_in_over_tls(self):
        answer = self.send_test()
        self.assertEqual(answer["outcome"], "sign_in_refused", answer)
        self.assertIn("535", answer["detail"])

    # The other classes play it.
    test_a_certificate_of_others_is_refused = None


class NoTLS(Mailing):
    def flags(self):
        secret = Path(self.folder) / "password"
        secret.write_text("right\n")
        secret.chmod(0o600)
        return ["--smtp-url", f"smtp://forum@localhost:{self.receiving}", "--smtp-password-file", str(secret)]

    def test_no_password_is_sent_in_the_clear(self):
        answer = self.send_test()
        self.assertEqual(answer["outcome"], "unavailable")
        self.assertIn("STARTTLS", answer["detail"])
        self.assertEqual(self.lines(), [])


class Flags(unittest.TestCase):
    part = "bells"

    def refused(self, *flags):
        with tempfile.TemporaryDirectory(prefix="parley-") as folder:
            done = subprocess.run(
                [PARLEY, "serve", "--data", f"{folder}/data", "--listen", "127.0.0.1:0", *flags], capture_output=True, text=True,
                timeout=60)
            self.assertEqual((done.returncode, os.listdir(folder)), (2, []), done.stderr)
            return done.stderr

    def test_mistakes_are_named(self):
        url = ["--public-url", "https://wool.example"]
        self.assertIn("--public-url", self.refused("--smtp-url", "smtp://localhost"))
        self.assertIn("smtps://USER@HOST", self.refused("--smtp-url", "mail.example.org", *url))
        self.assertIn("write it to a file", self.refused("--smtp-url", "smtps://ada:secret@mail.example.org", *url))
        self.assertIn("--smtp-password-file", self.refused("--smtp-url", "smtps://ada@mail.example.org", *url))
        self.assertIn("--smtp-url", self.refused("--mail-from", "a@example.org", *url))
        self.assertIn("--mail-from", self.refused("--smtp-url", "smtp://localhost", "--mail-from", "forum", *url))
        for flag in ("--mail-reply-to", "--mail-bounce-to"):
            self.assertIn("--smtp-url", self.refused(flag, "a@example.org", *url))
            for wrong in ("reply", "a+b@example.org", "a-name-that-leaves-no-room@example.org"):
                self.assertIn(flag, self.refused("--smtp-url", "smtp://localhost", flag, wrong, *url))
        self.assertIn("no-such-file", self.refused(
            "--smtp-url", "smtps://ada@mail.example.org", "--smtp-password-file", "/no-such-file", *url))
