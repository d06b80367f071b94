"""Sign-in at OpenID providers: `oidc-provider-mock` as it is for the main way, and providers of the tests for the wrong ones. A failure
shows a page with *Try again* and the id of the request; the reason is in the log alone."""

import base64
import json
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

import pyotp

from openid_issuer import CLIENT, LOGOUT, RSA, SECRET, Browser, Page, Providers, key, parameters, shared, signed, unsigned
from servers import PARLEY, VENV_PYTHON, Server, free_port
from serving import ServingTest, call, parley
from test_client_commands import Home

PASSWORD = "wool and needles"
FAST = ("--rate-login=100000", "--rate-login-burst=100000", "--rate-registration=100000", "--rate-registration-burst=100000",
        "--rate-oauth=100000", "--rate-oauth-burst=100000")


class OIDCTest(ServingTest):
    """One daemon for the tests of the class, with ada as owner and grace as member."""

    part = "doors"
    NAMES = ("work", "other")
    OPTIONS = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.providers = cls.enterClassContext(Providers(*cls.NAMES))
        cls.provider = cls.providers[cls.NAMES[0]]
        secret = Path(cls.folder) / "secret"
        secret.write_text(SECRET + "\n")
        secret.chmod(0o600)
        port = free_port()
        cls.origin = f"http://127.0.0.1:{port}"
        flags = [f"--public-url={cls.origin}", "--outgoing=off", *FAST, *cls.OPTIONS]
        for name in cls.NAMES:
            flags += [f"--oidc={name}={cls.providers[name].url}", f"--oidc-client={name}={CLIENT}",
                      f"--oidc-secret-file={name}={secret}"]
        flags.append(f"--oidc-name={cls.NAMES[0]}=Work & Co")
        cls.daemon = cls.enterClassContext(cls.start(*parley(cls.folder, *flags, listen=f"127.0.0.1:{port}")))
        for name, role in [("ada", "owner"), ("grace", "member")]:
            cls.say("user", "create", name, "--role", role, "--password-stdin", given=PASSWORD + "\n")
        cls.owner = cls.say("token", "ada", "--scope", "admin").strip()
        cls.settings(registration="open")

    @classmethod
    def say(cls, *arguments, given=None):
        done = subprocess.run(
            [PARLEY, *arguments, "--data", f"{cls.folder}/data"], input=given, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @classmethod
    def settings(cls, **change):
        call(cls.daemon, "PATCH", "/settings", change, cls.owner)

    def browser(self, name=None):
        """A browser; with a name signed in with the password, so the session is proved."""
        browser = Browser(self.origin)
        if name:
            status, answer = browser.call("POST", "/sessions", {"name": name, "password": PASSWORD, "cookie": True})
            self.assertEqual(status, 201, answer)
        return browser

    def new(self, name, sub=None, browser=None, provider=None, issuer=None, **claims):
        """A browser whose user has signed up at the provider."""
        browser = browser or self.browser()
        issuer = issuer or self.NAMES[0]
        status, location, text = browser.sign_in(
            provider or self.provider, issuer, sub=sub or name, preferred_username=name, **claims)
        self.assertEqual((status, location), (303, f"/oidc/{issuer}/sign-up"), text)
        status, location, text = browser.open(location, {"name": name})
        self.assertEqual((status, location), (303, "/"), text)
        return browser

    def link(self, browser, provider=None, issuer="work", **claims):
        status, answer = browser.call("POST", "/me/identities", {"issuer": issuer, "back": "/you/accounts"})
        self.assertEqual(status, 201, answer)
        return browser.finish(provider or self.provider, parameters(answer["url"]), issuer, **claims)

    def failed(self, answer, reason, status=400):
        """Checks the page of a failure, and its line in the log."""
        got, location, text = answer
        page = Page(text)
        self.assertEqual((got, location), (status, None), text)
        self.assertIn("Try again", page.text)
        self.assertIn("/sign-in", page.links[-1])
        self.assertTrue(page.request, page.text)
        line = self.line(page.request)
        self.assertIn(f"reason={reason} ", line)
        self.assertNotIn(reason, page.text)
        return line

    def line(self, request):
        for _ in range(200):
            for line in self.daemon.output().splitlines():
                if "event=issuer_failed " in line and f"request={request} " in line:
                    return line
            time.sleep(0.01)
        self.fail(f"The log has nothing about {request}.")

    def role(self, name):
        return call(self.daemon, "GET", f"/users/@{name}", token=self.owner)["role"]


class SignInTest(OIDCTest):
    def test_a_new_user_signs_up_signs_out_and_signs_in(self):
        browser = self.browser()
        status, location, _ = browser.sign_in(
            self.provider, query="?back=/forums", sub="s-1", preferred_username="Lin Wool!", name="Lin <b>Wool</b>",
            email="lin@example.org", email_verified=True)
        self.assertEqual((status, location), (303, "/oidc/work/sign-up"))
        self.assertIsNone(browser.name)
        _, _, text = browser.open(location)
        page = Page(text)
        self.assertEqual((page.fields["name"], page.fields["display_name"]), ("linwool", "Lin <b>Wool</b>"))
        self.assertIn("Work & Co", page.text)
        self.assertNotIn("<b>Wool", text)
        # A name that is taken, and one that is none.
        for name in ["ada", "", "..", "a" * 100]:
            status, _, text = browser.open(location, {"name": name, "display_name": "Lin"})
            self.assertEqual(status, 400)
            self.assertIn("Choose another username", Page(text).text)
        status, location, _ = browser.open(location, {"name": "lin", "display_name": "Lin"})
        self.assertEqual((status, location), (303, "/forums"))
        self.assertEqual(browser.name, "lin")
        self.assertNotIn("parley-issuer", browser.cookies)
        browser.call("DELETE", "/sessions/current")
        self.assertIsNone(browser.name)
        status, location, _ = browser.sign_in(self.provider, query="?back=/forums%3Fa=1%23b", sub="s-1", preferred_username="lin.w")
        self.assertEqual((status, location, browser.name), (303, "/forums?a=1#b", "lin"))
        _, accounts = browser.call("GET", "/me/identities")
        one = accounts["data"][0]
        self.assertEqual((one["issuer"], one["issuer_name"], one["name"]), ("work", "Work & Co", "lin.w"))
        _, entries = browser.call("GET", "/me/sign-ins")
        self.assertEqual([it["method"] for it in entries["data"]], ["issuer", "sign_up"])

    def test_the_page_to_return_to_is_of_this_site(self):
        self.new("home")
        for back in ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "", "/a%0d%0aX:%20y", "/é"]:
            _, location, _ = self.browser().sign_in(self.provider, query=f"?back={quote(back, safe='%')}", sub="home")
            self.assertEqual(location, "/", back)

    def test_the_request_is_that_of_openid_connect_with_pkce(self):
        one, other = self.browser().start(), self.browser().start()
        self.assertEqual(one["redirect_uri"], f"{self.origin}/oidc/work/callback")
        self.assertEqual((one["response_type"], one["code_challenge_method"], one["client_id"]), ("code", "S256", CLIENT))
        self.assertIn("openid", one["scope"].split())
        for name in ["state", "nonce", "code_challenge"]:
            self.assertNotEqual(one[name], other[name])
            self.assertGreaterEqual(len(one[name]), 43)

    def test_the_cookie_of_a_request_is_for_the_server_alone(self):
        with urlopen(Request(f"{self.origin}/api/v1/server"), timeout=30) as answer:
            self.assertEqual([it["id"] for it in json.load(answer)["issuers"]], ["work", "other"])
        browser = self.browser()
        request = browser.start()
        for text in [request["state"], request["nonce"]]:
            self.assertNotIn(text, browser.cookies["parley-issuer"])

    def test_an_address_links_nothing(self):
        self.new("mira", email="mira@example.org", email_verified=True)
        status, location, _ = self.browser().sign_in(self.provider, sub="thief", email="mira@example.org", email_verified=True)
        self.assertEqual((status, location), (303, "/oidc/work/sign-up"))
        # The same subject at another provider is another user.
        status, location, _ = self.browser().sign_in(self.providers["other"], "other", sub="mira")
        self.assertEqual((status, location), (303, "/oidc/other/sign-up"))

    def test_registration_decides_about_new_users(self):
        self.addCleanup(self.settings, registration="open")
        self.settings(registration="closed")
        status, _, text = self.browser().sign_in(self.provider, sub="n-1")
        self.assertEqual(status, 403)
        self.assertIn("can't be created", Page(text).text)
        self.settings(registration="invite")
        self.assertEqual(self.browser().sign_in(self.provider, sub="n-1")[0], 403)
        code = call(self.daemon, "POST", "/invites", {}, self.owner)["code"]
        browser = self.browser()
        _, location, _ = browser.sign_in(self.provider, query=f"?invite={code}", sub="n-1")
        self.assertEqual(browser.open(location, {"name": "nina"})[:2], (303, "/"))
        self.assertEqual(browser.name, "nina")
        self.settings(registration="approval")
        browser = self.browser()
        _, location, _ = browser.sign_in(self.provider, sub="n-2")
        status, _, text = browser.open(location, {"name": "otto"})
        self.assertEqual((status, browser.name), (200, None))
        status, _, text = browser.sign_in(self.provider, sub="n-2")
        self.assertEqual(status, 403)
        self.assertIn("approv", Page(text).text)
        call(self.daemon, "PUT", "/users/@otto/approval", token=self.owner)
        browser.sign_in(self.provider, sub="n-2")
        self.assertEqual(browser.name, "otto")

    def test_the_rules_are_accepted(self):
        self.addCleanup(self.settings, rules="")
        self.settings(rules="Be **kind**.")
        browser = self.browser()
        _, location, _ = browser.sign_in(self.provider, sub="r-1")
        self.assertIn("kind", browser.open(location)[2])
        status, _, text = browser.open(location, {"name": "rules"})
        self.assertEqual(status, 400)
        self.assertIn("Accept the rules", Page(text).text)
        self.assertEqual(browser.open(location, {"name": "rules", "accept_rules": "on"})[0], 303)

    def test_the_form_is_of_this_site_and_counts_once(self):
        browser = self.browser()
        _, location, _ = browser.sign_in(self.provider, sub="f-1")
        self.assertEqual(browser.open(location, {"name": "forma"}, origin="https://evil.example")[0], 403)
        again = self.browser()
        again.cookies = dict(browser.cookies)
        self.assertEqual(browser.open(location, {"name": "forma"})[0], 303)
        self.failed(again.open(location, {"name": "formb"}), "replayed")
        # The ticket is of its issuer.
        self.failed(again.open("/oidc/other/sign-up"), "no_request")
        self.failed(self.browser().open("/oidc/work/sign-up"), "no_request")

    def test_a_banned_user_does_not_sign_in(self):
        self.new("banned")
        call(self.daemon, "PUT", "/users/@banned/ban", {"reason": "spam"}, self.owner)
        browser = self.browser()
        status, _, text = browser.sign_in(self.provider, sub="banned")
        self.assertEqual((status, browser.name), (403, None))
        self.assertIn("may not sign in", Page(text).text)

    def test_an_unverified_address_creates_no_user(self):
        claims = {"sub": "u-1", "email": "u@example.org"}
        self.failed(self.browser().sign_in(self.provider, **claims, email_verified=False), "unverified_email")
        self.assertEqual(self.browser().sign_in(self.provider, **claims)[0], 303)

    def test_unknown_providers_are_not_found(self):
        for path in ["/oidc/none", "/oidc/none/callback", "/oidc/none/sign-up", "/oidc/WORK"]:
            self.assertEqual(self.browser().open(path)[0], 404, path)


class TokenTest(OIDCTest):
    """Wrong ID tokens and wrong answers."""

    OTHER = key("RS256", "rsa")
    UNKNOWN = key("RS256", "unknown")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.provider.keys = [RSA, key("ES256", "ec"), key("EdDSA", "ed"), key("ES384", "large")]

    def test_each_algorithm_is_accepted(self):
        self.new("algo")
        for one in self.provider.keys[:3]:
            algorithm = {"rsa": "RS256", "ec": "ES256", "ed": "EdDSA"}[one.kid]
            browser = self.browser()
            browser.sign_in(self.provider, sub="algo", sign=lambda claims: signed(claims, one, algorithm))
            self.assertEqual(browser.name, "algo", algorithm)

    def test_wrong_signatures(self):
        public = RSA.as_pem(private=False)
        cases = {
            "none": ("algorithm", unsigned),
            "HS256 with the client secret": (
                "algorithm", lambda claims: shared(claims, SECRET.encode())),
            "HS256 with the public key": ("algorithm", lambda claims: shared(claims, public)),
            "RS512": ("algorithm", lambda claims: signed(claims, RSA, "RS512")),
            "PS256": ("algorithm", lambda claims: signed(claims, RSA, "PS256")),
            "ES384": ("algorithm", lambda claims: signed(claims, self.provider.keys[3], "ES384")),
            "another key with this kid": ("signature", lambda claims: signed(claims, self.OTHER)),
            "the kid of a key of another algorithm": ("unknown_key", lambda claims: signed(claims, RSA, kid="ec")),
            "no kid of several": ("unknown_key", lambda claims: signed(claims, self.OTHER, kid="gone")),
            "a key in the header": (
                "signature", lambda claims: signed(claims, self.OTHER, jwk=self.OTHER.as_dict(private=False))),
            "critical extensions": ("malformed", critical),
            "a logout token": ("type", lambda claims: signed(claims, typ="logout+jwt")),
            "an access token": ("type", lambda claims: signed(claims, typ="at+jwt")),
            "a changed payload": ("signature", lambda claims: changed(signed(claims))),
            "no signature": ("signature", lambda claims: signed(claims).rsplit(".", 1)[0] + "."),
            "two parts": ("malformed", lambda claims: signed(claims).rsplit(".", 1)[0]),
            "padding": ("malformed", lambda claims: signed(claims) + "="),
            "no JSON": ("malformed", lambda claims: "e30.e30.e30"),
            "a huge token": ("malformed", lambda claims: signed(claims | {"x": "y" * 40_000})),
            "an empty token": ("malformed", lambda claims: ""),
        }
        for name, (reason, sign) in cases.items():
            with self.subTest(name):
                browser = self.browser()
                self.failed(browser.sign_in(self.provider, sub="x", sign=sign), reason)
                self.assertIsNone(browser.name)

    def test_wrong_claims(self):
        now = int(time.time())
        cases = {
            "another issuer": ("issuer", {"iss": "https://evil.example"}),
            "the issuer with a slash": ("issuer", {"iss": self.provider.url + "/"}),
            "no issuer": ("malformed", {"iss": None}),
            "another audience": ("audience", {"aud": "another"}),
            "an audience in another case": ("audience", {"aud": CLIENT.upper()}),
            "no audience": ("malformed", {"aud": None}),
            "an empty audience": ("audience", {"aud": []}),
            "several audiences without azp": ("authorized_party", {"aud": [CLIENT, "another"]}),
            "another azp": ("authorized_party", {"aud": [CLIENT, "another"], "azp": "another"}),
            "another azp, one audience": ("authorized_party", {"azp": "another"}),
            "another nonce": ("nonce", {"nonce": "x"}),
            "no nonce": ("nonce", {"nonce": None}),
            "expired": ("expired", {"exp": now - 61}),
            "no exp": ("expired", {"exp": None}),
            "exp as a text": ("malformed", {"exp": str(now + 300)}),
            "issued in the future": ("issued_at", {"iat": now + 120}),
            "no iat": ("malformed", {"iat": None}),
            "not valid yet": ("issued_at", {"nbf": now + 120}),
            "no subject": ("subject", {"sub": None}),
            "an empty subject": ("subject", {"sub": ""}),
            "a long subject": ("subject", {"sub": "x" * 256}),
            "a subject of another type": ("malformed", {"sub": 7}),
            "events": ("type", {"events": {LOGOUT: {}}}),
            "groups of another type": ("malformed", {"groups": 7}),
        }
        for name, (reason, claims) in cases.items():
            with self.subTest(name):
                browser = self.browser()
                self.failed(browser.sign_in(self.provider, **{"sub": "x"} | claims), reason)
                self.assertIsNone(browser.name)

    def test_clocks_may_differ_by_a_minute(self):
        self.new("clock")
        now = int(time.time())
        for claims in [{"exp": now - 30}, {"iat": now + 30}, {"nbf": now + 30}, {"aud": [CLIENT, "x"], "azp": CLIENT}]:
            browser = self.browser()
            browser.sign_in(self.provider, sub="clock", **claims)
            self.assertEqual(browser.name, "clock", claims)

    def test_wrong_answers_of_the_token_endpoint(self):
        self.addCleanup(self.provider.answers.clear)
        token = signed(self.provider.claims("x", sub="x"))
        cases = {
            "an error": ("code", lambda it: it.json(400, {"error": "invalid_grant"})),
            "a fault": ("code", lambda it: it.send(500, b"<html>")),
            "a redirect": ("code", lambda it: it.send(307, b"", Location=f"{self.providers.url}/other/token")),
            "no JSON": ("token_response", lambda it: it.send(200, b"<html>")),
            "no token": ("token_response", lambda it: it.json(200, {"access_token": "x"})),
            "a number": ("token_response", lambda it: it.json(200, {"id_token": 7})),
            "the token twice": ("token_response", lambda it: it.send(200, b'{"id_token":"%b","id_token":"x"}' % token.encode())),
            "a huge answer": ("unreachable", lambda it: it.send(200, b" " * 200_000)),
            "a cut answer": ("unreachable", cut),
        }
        for name, (reason, answer) in cases.items():
            with self.subTest(name):
                self.provider.answers["token"] = answer
                self.failed(self.browser().sign_in(self.provider, sub="x"), reason, 503 if reason == "unreachable" else 400)

    def test_wrong_answers_in_the_browser(self):
        self.new("answer")
        browser = self.browser()

        def fresh():
            request = browser.start()
            return request, self.provider.code(request, signed(self.provider.claims(request["nonce"], sub="answer")))

        url, other = self.provider.url, self.providers["other"]
        swapped = self.browser().start()["state"]
        cases = {
            "the state of another browser": ("state", lambda r, c: dict(code=c, state=swapped, iss=url)),
            "no state": ("state", lambda r, c: dict(code=c, iss=url)),
            "the state cut": ("state", lambda r, c: dict(code=c, state=r["state"][:-1], iss=url)),
            "another issuer (mix-up)": ("issuer", lambda r, c: dict(code=c, state=r["state"], iss=other.url)),
            "no issuer, which the provider always tells": ("issuer", lambda r, c: dict(code=c, state=r["state"])),
            "an error": ("refused", lambda r, c: dict(error="access_denied", state=r["state"], iss=url)),
            "no code": ("code", lambda r, c: dict(state=r["state"], iss=url)),
            "an unknown code": ("code", lambda r, c: dict(code="x", state=r["state"], iss=url)),
        }
        for name, (reason, answer) in cases.items():
            with self.subTest(name):
                self.failed(browser.answer(**answer(*fresh())), reason)
                self.assertIsNone(browser.name)
        with self.subTest("a parameter twice"):
            request, code = fresh()
            self.failed(browser.open(f"/oidc/work/callback?code={code}&code=x&state={request['state']}"), "state")
        with self.subTest("another browser"):
            request, code = fresh()
            self.failed(self.browser().answer(code=code, state=request["state"], iss=url), "no_request")
        with self.subTest("a changed cookie"):
            request, code = fresh()
            text = browser.cookies["parley-issuer"]
            browser.cookies["parley-issuer"] = text[:40] + ("A" if text[40] != "A" else "B") + text[41:]
            self.failed(browser.answer(code=code, state=request["state"], iss=url), "no_request")
        with self.subTest("the address of another provider"):
            request, code = fresh()
            self.failed(browser.answer("other", code=code, state=request["state"], iss=other.url), "state")
        with self.subTest("the code of another request: the nonce and the challenge differ"):
            _, code = fresh()
            request, _ = fresh()
            self.failed(browser.answer(code=code, state=request["state"], iss=url), "code")
        with self.subTest("the same answer again"):
            request, code = fresh()
            cookies = dict(browser.cookies)
            self.assertEqual(browser.answer(code=code, state=request["state"], iss=url)[0], 303)
            self.assertEqual(browser.name, "answer")
            thief = self.browser()
            thief.cookies = cookies
            self.failed(thief.answer(code=code, state=request["state"], iss=url), "replayed")
            self.assertIsNone(thief.name)


class KeyTest(OIDCTest):
    NAMES = ("work",)

    def test_keys_rotate_and_are_read_once_a_minute_for_unknown_ones(self):
        self.new("keys")
        self.assertEqual(self.provider.reads.count("jwks"), 1)
        self.assertEqual(self.provider.reads.count(".well-known/openid-configuration"), 1)
        # A minute has not passed since the first reading.
        new = key("RS256", "new")
        self.provider.keys = [new]
        for _ in range(3):
            self.failed(self.browser().sign_in(self.provider, sub="keys", sign=lambda it: signed(it, new)), "unknown_key")
        self.assertEqual(self.provider.reads.count("jwks"), 1)


class ProviderTest(OIDCTest):
    """Providers that answer wrongly, slowly or not at all."""

    DOCUMENT = ".well-known/openid-configuration"
    NAMES = ("work", "mismatch", "garbage", "huge", "redirect", "gone", "private", "plain", "missing", "list", "slow", "drip",
             "jwks-garbage", "jwks-huge", "jwks-redirect", "jwks-many", "jwks-none", "jwks-weak")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.elsewhere = cls.enterClassContext(Providers("x"))
        all = cls.providers
        all["mismatch"].metadata["issuer"] = all["mismatch"].url + "/"
        all["private"].metadata["jwks_uri"] = f"{cls.elsewhere.url}/x/jwks".replace("http:", "https:")
        all["plain"].metadata["token_endpoint"] = "http://id.example.org/token"
        all["missing"].metadata["jwks_uri"] = None
        weak = key("RS256", "rsa").as_dict(private=False) | {"n": "wRXfkLAZ", "kid": "weak"}
        answers = {
            "garbage": lambda it: it.send(200, b"<html>\xff"),
            "huge": lambda it: it.send(200, b" " * 300_000),
            "redirect": lambda it: it.send(302, b"", Location=f"{all.url}/work/{cls.DOCUMENT}"),
            "gone": lambda it: it.send(404, b"{}"),
            "list": lambda it: it.json(200, [1]),
            "slow": lambda it: time.sleep(30),
            "drip": drip,
        }
        for name, answer in answers.items():
            all[name].answers[cls.DOCUMENT] = answer
        keys = {
            "jwks-garbage": lambda it: it.send(200, b"{"),
            "jwks-huge": lambda it: it.send(200, b" " * 300_000),
            "jwks-redirect": lambda it: it.send(302, b"", Location=f"{all.url}/work/jwks"),
            "jwks-many": lambda it: it.json(200, {"keys": [RSA.as_dict(private=False)] * 101}),
            "jwks-none": lambda it: it.json(200, {"keys": []}),
            "jwks-weak": lambda it: it.json(200, {"keys": [weak, {"kty": "oct", "k": "AAAA"}, {"kty": "RSA"}, 7]}),
        }
        for name, answer in keys.items():
            all[name].answers["jwks"] = answer
        # The limit of a request is ten seconds, so these run beside the other cases.
        cls.slow = {}
        threads = []
        for name in ["slow", "drip"]:
            def start(name=name):
                began = time.monotonic()
                cls.slow[name] = (Browser(cls.origin).open(f"/oidc/{name}"), time.monotonic() - began)
            threads.append(threading.Thread(target=start))
            threads[-1].start()
        cls.threads = threads

    def test_wrong_metadata(self):
        cases = {
            "mismatch": "issuer", "garbage": "metadata", "huge": "unreachable", "redirect": "unreachable", "gone": "unreachable",
            "plain": "metadata", "missing": "metadata", "list": "metadata",
        }
        for name, reason in cases.items():
            with self.subTest(name):
                status = 503 if reason == "unreachable" else 400
                self.failed(self.browser().open(f"/oidc/{name}"), reason, status)

    def test_an_address_from_a_document_is_not_private(self):
        line = self.failed(self.browser().sign_in(self.providers["private"], "private", sub="x"), "unreachable", 503)
        self.assertIn("refused", line)
        self.assertEqual(self.elsewhere["x"].reads, [])

    def test_wrong_keys(self):
        cases = {
            "jwks-garbage": "keys", "jwks-huge": "unreachable", "jwks-redirect": "unreachable", "jwks-many": "keys",
            "jwks-none": "unknown_key", "jwks-weak": "unknown_key",
        }
        for name, reason in cases.items():
            with self.subTest(name):
                status = 503 if reason == "unreachable" else 400
                self.failed(self.browser().sign_in(self.providers[name], name, sub="x"), reason, status)

    def test_z_slow_answers_end(self):
        for thread in self.threads:
            thread.join()
        for name, (answer, _) in self.slow.items():
            with self.subTest(name):
                self.assertIn("timed out", self.failed(answer, "unreachable", 503))


class LinkTest(OIDCTest):
    def test_an_account_is_linked_and_unlinked(self):
        browser = self.browser("grace")
        self.assertEqual(self.link(browser, sub="g-1", preferred_username="grace.h")[:2], (303, "/you/accounts"))
        _, accounts = browser.call("GET", "/me/identities")
        self.assertEqual([it["name"] for it in accounts["data"]], ["grace.h"])
        other = self.browser()
        other.sign_in(self.provider, sub="g-1")
        self.assertEqual(other.name, "grace")
        # Once more is no fault, and no second account.
        self.assertEqual(self.link(browser, sub="g-1")[0], 303)
        _, accounts = browser.call("GET", "/me/identities")
        self.assertEqual(len(accounts["data"]), 1)
        _, inbox = browser.call("GET", "/inbox")
        self.assertEqual([it["kind"] for it in inbox["data"]].count("identity_linked"), 1)
        path = f"/me/identities/{accounts['data'][0]['id']}"
        self.assertEqual(browser.call("DELETE", path)[0], 204)
        self.assertEqual(browser.call("DELETE", path)[0], 204)
        self.assertEqual((other.name, browser.name), (None, "grace"))
        _, inbox = browser.call("GET", "/inbox")
        self.assertIn("identity_unlinked", [it["kind"] for it in inbox["data"]])
        self.assertEqual(self.browser().sign_in(self.provider, sub="g-1")[1], "/oidc/work/sign-up")

    def test_an_account_is_of_one_user(self):
        self.new("first", sub="one")
        browser = self.browser("grace")
        taken = self.failed(self.link(browser, sub="one"), "linked_elsewhere")
        self.assertIn("issuer=work", taken)
        _, accounts = browser.call("GET", "/me/identities")
        self.assertEqual(accounts["data"], [])

    def test_the_answer_is_for_the_session_that_asked(self):
        browser = self.browser("grace")
        _, answer = browser.call("POST", "/me/identities", {"issuer": "work"})
        request = parameters(answer["url"])
        victim = self.browser("ada")
        victim.cookies["parley-issuer"] = browser.cookies["parley-issuer"]
        self.failed(victim.finish(self.provider, request, sub="mine"), "other_user")
        visitor = self.browser()
        _, answer = browser.call("POST", "/me/identities", {"issuer": "work"})
        visitor.cookies["parley-issuer"] = browser.cookies["parley-issuer"]
        self.failed(visitor.finish(self.provider, parameters(answer["url"]), sub="mine"), "other_user")

    def test_linking_needs_a_session_with_a_proof(self):
        browser = self.new("unproved")
        with self.assertRaises(HTTPError) as refused:
            call(self.daemon, "POST", "/me/identities", {"issuer": "work"}, self.owner)
        refused.exception.close()
        self.assertEqual(refused.exception.code, 403)
        status, problem = browser.call("POST", "/me/identities", {"issuer": "none"})
        self.assertEqual((status, problem["errors"][0]["field"]), (400, "issuer"))
        status, problem = browser.call("POST", "/me/identities", {"issuer": "work", "back": "//evil.example"})
        self.assertEqual((status, problem["errors"][0]["field"]), (400, "back"))

    def test_the_last_way_to_sign_in_stays(self):
        browser = self.new("only")
        _, accounts = browser.call("GET", "/me/identities")
        status, problem = browser.call("DELETE", f"/me/identities/{accounts['data'][0]['id']}")
        self.assertEqual((status, problem["code"]), (409, "last_sign_in_method"))
        self.assertEqual(self.link(browser, self.providers["other"], "other", sub="only")[0], 303)
        self.assertEqual(browser.call("DELETE", f"/me/identities/{accounts['data'][0]['id']}")[0], 204)

    def test_a_user_has_ten_accounts(self):
        browser = self.new("many", sub="many-0")
        for number in range(1, 10):
            self.assertEqual(self.link(browser, sub=f"many-{number}")[0], 303)
        self.failed(self.link(browser, sub="many-10"), "too_many_accounts")

    def test_a_user_without_a_password_leaves(self):
        browser = self.new("leaver")
        self.assertEqual(browser.call("DELETE", "/users/me", {"how": "leave"})[0], 200)
        self.assertEqual(self.browser().sign_in(self.provider, sub="leaver")[1], "/oidc/work/sign-up")


class IdentityCommandTest(Home, OIDCTest):
    """The commands of linked accounts: those of the user, and those of the operator."""

    def user(self, name):
        self.say("user", "create", name, "--password-stdin", given=PASSWORD + "\n")
        return self.browser(name)

    def link_both(self, browser, name):
        self.link(browser, sub=f"{name}-1", preferred_username=f"{name}.h")
        self.link(browser, self.providers["other"], "other", sub=f"{name}-2", preferred_username=f"{name}\x1b[31m")

    def linked(self):
        return [json.loads(line) for line in self.tell("identities", "--json").splitlines()]

    def forget_proofs(self):
        with sqlite3.connect(f"{self.folder}/data/parley.db", timeout=30) as database:
            database.execute("update session set proved_at = 0 where kind = 'session'")

    def test_a_user_lists_and_unlinks_accounts(self):
        self.check_refused(2, "Not signed in", "identities")
        browser = self.user("lister")
        self.tell("login", self.origin, "lister", given=PASSWORD + "\n")
        self.assertEqual(self.tell("identities"), "")
        self.link_both(browser, "lister")
        first, second = self.linked()
        self.assertEqual([first[key] for key in ("issuer", "issuer_name", "name")], ["work", "Work & Co", "lister.h"])
        lines = self.tell("identities").splitlines()
        self.assertEqual(lines[0], f"{first['id']}  Work & Co  lister.h  never used")
        self.assertTrue(lines[1].startswith(f"{second['id']}  other  lister"), lines)
        self.assertNotIn("\x1b", "".join(lines))
        self.assertEqual(self.tell("identities", "--limit", "1").splitlines(), lines[:1])
        # With the proof of the sign-in; once more is no fault.
        for _ in range(2):
            self.assertEqual(self.tell("unlink-identity", second["id"]), "The account is not linked.\n")
        self.assertEqual([it["id"] for it in self.linked()], [first["id"]])
        self.check_refused(2, "is not the number", "unlink-identity", "first")
        # Later with the password.
        other = self.browser()
        other.sign_in(self.provider, sub="lister-1")
        self.assertEqual(other.name, "lister")
        self.forget_proofs()
        self.check_refused(2, "no password", "unlink-identity", first["id"])
        wrong = self.parley("unlink-identity", first["id"], given="guess\n")
        self.assertEqual((wrong.returncode, wrong.stdout), (1, ""))
        self.assertEqual(len(self.linked()), 1)
        self.assertEqual(json.loads(self.tell("unlink-identity", first["id"], "--json", given=PASSWORD + "\n")), {})
        self.assertEqual(self.linked(), [])
        self.assertEqual((other.name, browser.name), (None, "lister"))

    def test_a_user_with_two_step_sign_in_proves_both(self):
        browser = self.user("careful")
        self.link_both(browser, "careful")
        _, setup = browser.call("POST", "/me/second-factor")
        status, made = browser.call("PUT", "/me/second-factor", {"code": pyotp.parse_uri(setup["url"]).now()})
        self.assertEqual(status, 200, made)
        codes = made["recovery_codes"]
        self.tell("login", self.origin, "careful", given=f"{PASSWORD}\n{codes[0]}\n")
        self.forget_proofs()
        account = self.linked()[0]["id"]
        self.check_refused(2, "no code", "unlink-identity", account, given=PASSWORD + "\n")
        wrong = self.parley("unlink-identity", account, given=f"{PASSWORD}\n{codes[0]}\n")
        self.assertEqual((wrong.returncode, wrong.stdout), (1, ""))
        self.tell("unlink-identity", account, given=f"{PASSWORD}\n{codes[1]}\n")
        self.assertEqual(len(self.linked()), 1)

    def test_the_operator_lists_accounts_and_keeps_one_in_a_recovery(self):
        browser = self.user("stolen")
        self.link_both(browser, "stolen")
        head, first, second = self.say("user", "identities", "stolen").splitlines()
        self.assertEqual(head.split(), ["ID", "SERVICE", "NAME", "SINCE", "LAST", "USED"])
        kept = first.split()[0]
        self.assertIn("stolen.h", first)
        self.assertNotIn("\x1b", second)
        unknown = subprocess.run(
            [PARLEY, "user", "recover", "stolen", "--keep-identity", "1", "--data", f"{self.folder}/data"],
            capture_output=True, text=True, timeout=60)
        self.assertNotEqual(unknown.returncode, 0)
        self.assertEqual(browser.name, "stolen")
        link = self.say("user", "recover", "stolen", "--keep-identity", kept)
        self.assertRegex(link, r"/reset/[0-9a-f]{64}\n\Z")
        self.assertEqual(browser.name, None)
        rows = self.say("user", "identities", "stolen").splitlines()[1:]
        self.assertEqual([row.split()[0] for row in rows], [kept])
        again = self.browser()
        again.sign_in(self.provider, sub="stolen-1")
        self.assertEqual(again.name, "stolen")


class ProofTest(OIDCTest):
    """Step-up at the provider, with a session whose proof has ended."""

    def unproved(self, browser):
        """Ends the proof of all sessions, as ten minutes do."""
        with sqlite3.connect(f"{self.folder}/data/parley.db", timeout=30) as database:
            database.execute("update session set proved_at = 0 where kind = 'session'")
        status, problem = browser.call("POST", "/me/identities", {"issuer": "work"})
        self.assertEqual((status, problem["code"]), (403, "step_up_required"))
        return problem

    def test_a_proof_is_a_new_sign_in_at_the_provider(self):
        browser = self.new("prover", sub="p-1")
        self.new("stranger", sub="p-2")
        problem = self.unproved(browser)
        self.assertEqual((problem["params"]["methods"], problem["params"]["issuers"]), (["issuer"], [self.provider.url]))
        now = int(time.time())
        cases = {
            "no auth_time": ("auth_time", {"sub": "p-1"}),
            "an old sign-in": ("auth_time", {"sub": "p-1", "auth_time": now - 90}),
            "another user": ("other_user", {"sub": "p-2", "auth_time": now}),
            "a user without an account": ("not_linked", {"sub": "p-3", "auth_time": now}),
        }
        for name, (reason, claims) in cases.items():
            with self.subTest(name):
                request = browser.start(query="?prove&back=/you")
                self.assertEqual(request["max_age"], "0")
                self.failed(browser.finish(self.provider, request, **claims), reason)
                self.assertEqual(browser.call("POST", "/me/identities", {"issuer": "work"})[0], 403)
        request = browser.start(query="?prove&back=/oidc/work/proved")
        self.assertEqual(browser.finish(self.provider, request, sub="p-1", auth_time=now)[:2], (303, "/oidc/work/proved"))
        self.assertIn("Confirmed", browser.open("/oidc/work/proved")[2])
        self.assertEqual(browser.call("POST", "/me/identities", {"issuer": "work"})[0], 201)
        self.assertEqual(browser.name, "prover")

    def test_a_sign_in_that_the_provider_answers_by_itself_is_no_proof(self):
        self.new("silent", sub="s-1")
        now = int(time.time())
        for claims, status in (({}, 403), ({"auth_time": now - 700}, 403), ({"auth_time": now}, 201)):
            with self.subTest(claims):
                browser = self.browser()
                browser.sign_in(self.provider, sub="s-1", **claims)
                self.assertEqual(browser.name, "silent")
                self.assertEqual(browser.call("POST", "/me/identities", {"issuer": "work"})[0], status)

    def test_a_proof_needs_a_session(self):
        status, location, _ = self.browser().open("/oidc/work?prove&back=/you")
        self.assertEqual((status, location), (303, "/sign-in?back=/you"))

    def test_methods_of_a_user_with_a_password(self):
        browser = self.browser("grace")
        self.link(browser, sub="p-9")
        problem = self.unproved(browser)
        self.assertEqual(problem["params"]["methods"], ["password", "issuer"])
        self.assertEqual(browser.call("POST", "/sessions/current/proof", {"password": PASSWORD})[0], 204)


class SecondFactorTest(OIDCTest):
    OPTIONS = ("--oidc-acr=other=urn:high",)

    def test_a_code_is_asked_unless_the_provider_has_checked_one(self):
        browser = self.browser("grace")
        self.link(browser, sub="two")
        _, setup = browser.call("POST", "/me/second-factor")
        app = pyotp.TOTP(setup["secret"])
        self.assertEqual(browser.call("PUT", "/me/second-factor", {"code": app.now()})[0], 200)
        # A proof needs it, too.
        for methods, failure in ((None, "acr"), (["pwd", "mfa"], None)):
            request = browser.start(query="?prove&back=/you")
            answer = browser.finish(self.provider, request, sub="two", auth_time=int(time.time()), amr=methods)
            self.failed(answer, failure) if failure else self.assertEqual(answer[0], 303)
        visitor = self.browser()
        status, location, _ = visitor.sign_in(self.provider, query="?back=/forums", sub="two", sid="sid-2")
        self.assertEqual((status, location.split("#")[0], visitor.name), (303, "/sign-in?back=/forums", None))
        challenge = location.split("#challenge=")[1]
        # The next step has a code of its own.
        code = app.at(time.time() + 30)
        for changed in [challenge.replace(".", ".9", 1), challenge[:-1], challenge + ".x"]:
            self.assertEqual(visitor.call("POST", "/sessions/second-factor", {"challenge": changed, "code": code})[0], 400)
        status, answer = visitor.call("POST", "/sessions/second-factor", {"challenge": challenge, "code": code, "cookie": True})
        self.assertEqual((status, visitor.name), (201, "grace"), answer)
        other = self.browser()
        other.sign_in(self.provider, sub="two", amr=["pwd", "mfa"])
        self.assertEqual(other.name, "grace")
        # The logout of the provider ends the session of both steps, too.
        now = int(time.time())
        token = signed({"iss": self.provider.url, "aud": CLIENT, "iat": now, "jti": "2", "sid": "sid-2", "events": {LOGOUT: {}}})
        self.assertEqual(self.browser().open("/oidc/work/logout", {"logout_token": token})[0], 200)
        self.assertEqual((visitor.name, other.name), (None, "grace"))

    def test_a_required_context_is_asked_and_checked(self):
        provider = self.providers["other"]
        self.assertEqual(self.browser().start("other")["acr_values"], "urn:high")
        for claims in [{}, {"acr": "urn:low"}]:
            self.failed(self.browser().sign_in(provider, "other", sub="x", **claims), "acr")
        self.assertEqual(self.browser().sign_in(provider, "other", sub="x", acr="urn:high")[0], 303)

    def test_a_required_second_factor_is_that_of_the_provider_for_users_without_a_password(self):
        self.addCleanup(self.settings, require_second_factor="none")
        browser = self.new("sofa")
        self.settings(require_second_factor="all")
        _, factor = browser.call("GET", "/me/second-factor")
        self.assertFalse(factor["required"])
        self.assertTrue(self.browser("ada").call("GET", "/me/second-factor")[1]["required"])


class RoleTest(OIDCTest):
    NAMES = ("work",)
    OPTIONS = ("--oidc-roles=/staff=admin", "--oidc-roles=dc=x,cn=mods=moderator", "--oidc-roles=work:people=member",
               "--oidc-roles=guests=guest")

    def test_groups_decide_the_role_at_each_sign_in(self):
        browser = self.new("roly", groups=["people", "unknown"])
        self.assertEqual(self.role("roly"), "member")
        steps = [(["/staff", "guests"], "admin"), (["people", "dc=x,cn=mods"], "moderator"), ("guests", "guest"), (["people"], "member")]
        for groups, role in steps:
            # A new role ends the sessions of the earlier one, and the same role none.
            earlier, browser = browser, self.browser()
            browser.sign_in(self.provider, sub="roly", groups=groups)
            self.assertEqual((browser.name, self.role("roly")), ("roly", role), groups)
            self.assertIsNone(earlier.name)
            self.browser().sign_in(self.provider, sub="roly", groups=groups)
            self.assertEqual(browser.name, "roly")
        audit = call(self.daemon, "GET", "/audit?kind=user.role", token=self.owner)["data"]
        self.assertEqual(audit[0]["reason"], "Groups at Work & Co")

    def test_a_user_without_a_group_is_refused(self):
        self.failed(self.browser().sign_in(self.provider, sub="r-9"), "no_role")
        self.failed(self.browser().sign_in(self.provider, sub="r-9", groups=["STAFF", "staff", "*"]), "no_role")

    def test_lost_groups_end_the_role_and_the_sessions(self):
        browser = self.new("lost", groups=["/staff"])
        self.assertEqual(self.role("lost"), "admin")
        self.failed(self.browser().sign_in(self.provider, sub="lost", groups=[]), "no_role")
        self.assertEqual((self.role("lost"), browser.name), ("member", None))

    def test_the_last_owner_keeps_the_role(self):
        browser = self.browser("ada")
        self.link(browser, sub="ada", groups=["people"])
        browser.sign_in(self.provider, sub="ada", groups=["people"])
        self.assertEqual(self.role("ada"), "owner")
        self.failed(browser.sign_in(self.provider, sub="ada", groups=[]), "no_role")
        self.assertEqual(self.role("ada"), "owner")
        self.say("user", "create", "eve", "--role", "owner", "--password-stdin", given=PASSWORD + "\n")
        eve = self.browser("eve")
        self.link(eve, sub="eve", groups=["/staff"])
        eve.sign_in(self.provider, sub="eve", groups=["/staff"])
        self.assertEqual(self.role("eve"), "admin")


class LogoutTest(OIDCTest):
    def token(self, **changes):
        now = int(time.time())
        self.count = getattr(self, "count", 0) + 1
        claims = {
            "iss": self.provider.url, "aud": CLIENT, "iat": now, "exp": now + 120, "jti": f"{self.id()} {self.count}",
            "events": {LOGOUT: {}},
        } | changes
        return {name: value for name, value in claims.items() if value is not None}

    def logout(self, claims, issuer="work", sign=None):
        sign = sign or (lambda it: signed(it, typ="logout+jwt"))
        return self.browser().open(f"/oidc/{issuer}/logout", {"logout_token": sign(claims)}, origin="https://id.example.org")

    def test_the_provider_ends_sessions(self):
        one = self.new("out", sid="A")
        other, by_token = self.browser(), self.browser()
        other.sign_in(self.provider, sub="out", sid="B")
        self.assertEqual((one.name, other.name), ("out", "out"))
        status, _, text = self.logout(self.token(sub="out", sid="A"))
        self.assertEqual((status, text), (200, ""))
        self.assertEqual((one.name, other.name), (None, "out"))
        one.sign_in(self.provider, sub="out", sid="C")
        self.assertEqual(self.logout(self.token(sid="C"))[0], 200)
        self.assertEqual((one.name, other.name), (None, "out"))
        one.sign_in(self.provider, sub="out")
        self.assertEqual(self.logout(self.token(sub="out"))[0], 200)
        self.assertEqual((one.name, other.name), (None, None))
        # A logout without a session is no fault.
        self.assertEqual(self.logout(self.token(sub="out"))[0], 200)
        self.assertEqual(self.logout(self.token(sub="nobody"))[0], 200)

    def test_sessions_of_a_password_and_of_others_go_on(self):
        grace = self.browser("grace")
        self.link(grace, sub="l-1")
        other = self.new("stays", sid="S")
        self.assertEqual(self.logout(self.token(sub="l-1"))[0], 200)
        self.assertEqual((grace.name, other.name), ("grace", "stays"))

    def test_wrong_logout_tokens(self):
        browser = self.new("kept", sid="K")
        now = int(time.time())
        used = self.token(sub="nobody")
        self.assertEqual(self.logout(used)[0], 200)
        cases = {
            "replayed": ("replayed", used | {"sub": "kept"}),
            "no events": ("malformed", self.token(sub="kept", events=None)),
            "other events": ("events", self.token(sub="kept", events={"x": {}})),
            "an event that is no object": ("events", self.token(sub="kept", events={LOGOUT: True})),
            "a nonce": ("nonce", self.token(sub="kept", nonce="x")),
            "no subject and no session": ("subject", self.token()),
            "no jti": ("malformed", self.token(sub="kept", jti=None)),
            "an empty jti": ("malformed", self.token(sub="kept", jti="")),
            "another issuer": ("issuer", self.token(sub="kept", iss=self.providers["other"].url)),
            "another audience": ("audience", self.token(sub="kept", aud="another")),
            "expired": ("expired", self.token(sub="kept", exp=now - 90)),
            "old, without an end": ("expired", self.token(sub="kept", exp=None, iat=now - 700)),
            "of the future": ("issued_at", self.token(sub="kept", iat=now + 90)),
        }
        for name, (reason, claims) in cases.items():
            with self.subTest(name):
                self.refused(self.logout(claims), reason)
        signatures = {
            "none": ("algorithm", unsigned),
            "HS256": ("algorithm", lambda it: shared(it, SECRET.encode())),
            "another key": ("signature", lambda it: signed(it, TokenTest.OTHER)),
            "an unknown key": ("unknown_key", lambda it: signed(it, TokenTest.UNKNOWN)),
            "an access token": ("type", lambda it: signed(it, typ="at+jwt")),
            "garbage": ("malformed", lambda it: "x"),
        }
        for name, (reason, sign) in signatures.items():
            with self.subTest(name):
                self.refused(self.logout(self.token(sub="kept"), sign=sign), reason)
        with self.subTest("an ID token"):
            self.refused(self.logout(self.provider.claims("x", sub="kept", jti="1"), sign=signed), "malformed")
        with self.subTest("at another provider"):
            self.refused(self.logout(self.token(sub="kept"), "other"), "issuer")
        with self.subTest("no token"):
            self.assertEqual(self.browser().open("/oidc/work/logout", {"x": "y"})[0], 400)
        self.assertEqual(browser.name, "kept")

    def refused(self, answer, reason):
        status, _, text = answer
        self.assertEqual((status, json.loads(text)), (400, {"error": "invalid_request"}))
        lines = [it for it in self.daemon.output().splitlines() if "event=issuer_failed " in it]
        self.assertIn(f"reason={reason} ", lines[-1])


class PasswordsOffTest(OIDCTest):
    OPTIONS = ("--password-sign-in=off",)

    def test_passwords_open_nothing(self):
        visitor = self.browser()
        bodies = [
            ("/sessions", {"name": "ada", "password": PASSWORD}), ("/sessions", {"name": "nobody", "password": "x"}),
            ("/users", {"name": "new", "password": PASSWORD}),
        ]
        answers = [visitor.call("POST", path, body) for path, body in bodies]
        self.assertEqual({(status, problem["code"]) for status, problem in answers}, {(403, "password_sign_in_off")})
        self.assertFalse(visitor.call("GET", "/server")[1]["password_sign_in"])
        with self.assertRaises(HTTPError) as refused:
            call(self.daemon, "POST", "/users/@grace/reset", token=self.owner)
        refused.exception.close()
        self.assertEqual(refused.exception.code, 403)


class OwnerRecoveryTest(OIDCTest):
    """A class of its own, because a recovery ends the sessions and tokens of the owner."""

    OPTIONS = PasswordsOffTest.OPTIONS

    def test_an_owner_recovered_by_the_operator_links_an_account(self):
        url = self.say("setup").strip()
        self.assertTrue(url.startswith(f"{self.origin}/reset/"), url)
        browser = self.browser()
        body = {"password": PASSWORD, "cookie": True}
        self.assertEqual(browser.call("POST", f"/links/{urlsplit(url).path.split('/')[-1]}", body)[0], 201)
        self.assertEqual(browser.name, "ada")
        self.assertEqual(self.link(browser, sub="ada")[0], 303)
        other = self.browser()
        other.sign_in(self.provider, sub="ada")
        self.assertEqual(other.name, "ada")
        # The password is no other way, so the account stays.
        _, accounts = browser.call("GET", "/me/identities")
        self.assertEqual(browser.call("DELETE", f"/me/identities/{accounts['data'][0]['id']}")[0], 409)


class MockTest(ServingTest):
    """The whole way with a provider that others wrote."""

    part = "doors"

    def test_sign_up_and_sign_in(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="parley-"))
        port, mock = free_port(), free_port()
        user = json.dumps({"sub": "lin", "preferred_username": "lin", "name": "Lin", "email": "lin@example.org"})
        provider = self.enterContext(Server(
            "clients-oidc-mock", VENV_PYTHON, "-m", "oidc_provider_mock", "--port", mock, "--user-claims", user, port=mock))
        origin = f"http://127.0.0.1:{port}"
        secret = Path(folder) / "secret"
        secret.write_text("any")
        secret.chmod(0o600)
        self.enterContext(self.start(*parley(
            folder, f"--public-url={origin}", f"--oidc=mock={provider.url}", "--oidc-client=mock=any",
            f"--oidc-secret-file=mock={secret}", listen=f"127.0.0.1:{port}")))
        link = subprocess.run([PARLEY, "setup", "--data", f"{folder}/data"], capture_output=True, text=True, check=True).stdout
        owner = Browser(origin)
        owner.call("POST", f"/links/{link.strip().split('/')[-1]}", {"name": "ada", "password": PASSWORD, "cookie": True})
        owner.call("PATCH", "/settings", {"registration": "open"})

        def sign_in(browser):
            _, address, _ = browser.open("/oidc/mock?back=/forums")
            at_provider = Browser(provider.url)
            status, location, text = at_provider.open(address, {"sub": "lin"})
            self.assertEqual(status, 302, text)
            return browser.open(location)

        browser = Browser(origin)
        self.assertEqual(sign_in(browser)[:2], (303, "/oidc/mock/sign-up"))
        self.assertEqual(Page(browser.open("/oidc/mock/sign-up")[2]).fields["name"], "lin")
        self.assertEqual(browser.open("/oidc/mock/sign-up", {"name": "lin"})[:2], (303, "/forums"))
        other = Browser(origin)
        self.assertEqual(sign_in(other)[:2], (303, "/forums"))
        self.assertEqual((browser.name, other.name), ("lin", "lin"))


class SettingTest(unittest.TestCase):
    part = "doors"
    URL, SITE = "--oidc=work=https://id.example.org", "--public-url=https://wool.example"
    CLIENT = "--oidc-client=work=parley"

    def refused(self, *flags):
        with tempfile.TemporaryDirectory(prefix="parley-") as folder:
            done = subprocess.run([*parley(folder, *flags)], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertFalse((Path(folder) / "data").exists())
            return done.stderr

    def test_mistakes(self):
        cases = [
            ([self.URL, self.CLIENT], "--public-url"),
            ([self.SITE, self.URL], "--oidc-client"),
            ([self.SITE, self.CLIENT], "--oidc"),
            ([self.SITE, "--oidc=https://id.example.org"], "ID=ISSUER"),
            ([self.SITE, "--oidc=Work=https://id.example.org"], "small letters"),
            ([self.SITE, "--oidc=work=http://id.example.org", self.CLIENT], "https"),
            ([self.SITE, "--oidc=work=https://id.example.org?x", self.CLIENT], "https"),
            ([self.SITE, self.URL, self.URL, self.CLIENT], "twice"),
            ([self.SITE, self.URL, "--oidc=w2=https://id.example.org", self.CLIENT, "--oidc-client=w2=x"], "twice"),
            ([self.SITE, self.URL, self.CLIENT, "--oidc-client=other=x"], "names other"),
            ([self.SITE, self.URL, self.CLIENT, "--oidc-claim-imports=other"], "names other"),
            (["--oidc-claim-imports=work"], "--oidc"),
            ([self.SITE, self.URL, self.CLIENT, "--oidc-roles=staff=owner"], "admin, moderator"),
            ([self.SITE, self.URL, self.CLIENT, "--oidc-roles=staff"], "GROUP=ROLE"),
            ([self.SITE, self.URL, self.CLIENT, "--oidc=b=https://b.example", "--oidc-client=b=x", "--oidc-roles=s=admin"], "ID:GROUP"),
            ([self.SITE, self.URL, self.CLIENT, "--oidc-secret-file=work=/none"], "/none"),
            (["--password-sign-in=off"], "--oidc"),
            (["--password-sign-in=maybe"], "on or off"),
        ]
        for flags, words in cases:
            with self.subTest(flags):
                self.assertIn(words, self.refused(*flags))


def critical(claims):
    header = base64.urlsafe_b64encode(b'{"alg":"RS256","kid":"rsa","crit":["b64"],"b64":true}').decode().rstrip("=")
    return ".".join([header, *signed(claims).split(".")[1:]])


def changed(token):
    head, payload, signature = token.split(".")
    return f"{head}.{payload[:20]}{'A' if payload[20] != 'A' else 'B'}{payload[21:]}.{signature}"


def cut(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(b"{")
    handler.close_connection = True


def drip(handler):
    """A byte now and then, so that no read waits for long."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    try:
        for _ in range(40):
            handler.wfile.write(b" ")
            time.sleep(0.5)
    except OSError:
        pass


if __name__ == "__main__":
    unittest.main()
