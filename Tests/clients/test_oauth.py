"""OAuth 2.1, with the clients of Authlib and Requests-OAuthlib as they are, and a browser that is a cookie and a form: the whole
flow, races, stolen codes and tokens, hostile redirect URIs, ends of access, rates."""

import html.parser
import json
import os
import subprocess
import tempfile
import threading
import unittest
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener, urlopen

from authlib.common.security import generate_token
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.requests_client import OAuth2Session as Authlib
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from oauthlib.oauth2 import AccessDeniedError, InvalidGrantError
from requests_oauthlib import OAuth2Session as Requests
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from frames import described
from servers import PARLEY
from serving import ServingTest, call, parley

# The servers of the tests have no TLS. Both libraries ask for this.
os.environ |= {"AUTHLIB_INSECURE_TRANSPORT": "1", "OAUTHLIB_INSECURE_TRANSPORT": "1"}

URI = "http://127.0.0.1/callback"
PASSWORD = "wool and needles"


class NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Form(html.parser.HTMLParser):
    """The hidden fields of a page."""

    def __init__(self, text):
        super().__init__()
        self.fields = {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "input" and attributes.get("type") == "hidden":
            self.fields[attributes["name"]] = attributes["value"]


class Browser:
    """A signed-in browser, which follows no redirect."""

    def __init__(self, origin, name):
        self.origin = origin
        self.opener = build_opener(NoRedirect)
        body = json.dumps({"name": name, "password": PASSWORD, "cookie": True}).encode()
        request = Request(f"{origin}/api/v1/sessions", body, {"Content-Type": "application/json", "Origin": origin})
        with urlopen(request, timeout=30) as answer:
            cookies = answer.headers.get_all("Set-Cookie")
        self.cookie = "; ".join(it.split(";")[0] for it in cookies)

    def open(self, url, form=None):
        """The status, the address of a redirect, the text."""
        request = Request(url, urlencode(form).encode() if form else None, {"Cookie": self.cookie, "Origin": self.origin})
        try:
            with self.opener.open(request, timeout=30) as answer:
                return answer.status, answer.headers["Location"], answer.read().decode()
        except HTTPError as error:
            return error.code, error.headers["Location"], error.read().decode()

    def answer(self, url, decision="allow", **more):
        status, location, text = self.open(url)
        if status != 200:
            return status, location, text
        return self.open(f"{self.origin}/oauth/authorize", Form(text).fields | {"decision": decision} | more)


class OAuthTest(ServingTest):
    part = "doors"
    OPTIONS = ()

    def setUp(self):
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="parley-"))
        self.daemon = self.enterContext(self.start(*parley(self.folder, *self.OPTIONS)))
        for name, role in [("ada", "owner"), ("grace", "member")]:
            self.say("user", "create", name, "--role", role, "--password-stdin", given=PASSWORD + "\n")
        self.owner = self.say("token", "ada", "--scope", "admin").strip()
        self.app = self.say("apps", "create", "Ferry", f"{URI},https://ferry.example.org/callback", "--scope", "admin").strip()
        self.origin = self.daemon.url
        self.metadata = json.load(urlopen(f"{self.origin}/.well-known/oauth-authorization-server", timeout=30))
        self.browser = Browser(self.origin, "grace")

    def say(self, *arguments, given=None):
        done = subprocess.run(
            [PARLEY, *arguments, "--data", f"{self.folder}/data"], input=given, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def authlib(self, app=None, secret=None, scope="write", **more):
        method = "client_secret_basic" if secret else "none"
        return Authlib(
            app or self.app, secret, scope=scope, redirect_uri=URI, code_challenge_method="S256",
            token_endpoint_auth_method=method, **more)

    def allowed(self, session, decision="allow", **more):
        """The redirect of a user's answer, and the verifier."""
        verifier = generate_token(48)
        url, state = session.create_authorization_url(self.metadata["authorization_endpoint"], code_verifier=verifier)
        status, location, text = self.browser.answer(url, decision, **more)
        self.assertEqual(status, 303, text)
        query = parse_qs(urlsplit(location).query)
        self.assertEqual((query["state"], query["iss"]), ([state], [self.metadata["issuer"]]))
        return location, verifier

    def tokens(self, session=None, **more):
        session = session or self.authlib()
        location, verifier = self.allowed(session, **more)
        return session.fetch_token(self.metadata["token_endpoint"], authorization_response=location, code_verifier=verifier)

    def me(self, token):
        """The status of a request with an access token."""
        try:
            return call(self.daemon, "GET", "/users/me", token=token)["name"]
        except HTTPError as error:
            return error.code

    def post(self, path, **fields):
        try:
            with urlopen(self.origin + path, urlencode(fields).encode(), timeout=30) as answer:
                return answer.status, json.loads(answer.read() or b"{}")
        except HTTPError as error:
            return error.code, json.loads(error.read())

    def refresh(self, token, **more):
        return self.post("/oauth/token", grant_type="refresh_token", refresh_token=token, client_id=self.app, **more)


class FlowTest(OAuthTest):
    def test_metadata_is_that_of_rfc_8414(self):
        metadata = AuthorizationServerMetadata(self.metadata)
        # Authlib asks for https, except on this one point the document is whole.
        metadata["issuer"] = metadata["issuer"].replace("http:", "https:")
        for name in list(metadata):
            if name.endswith("_endpoint"):
                metadata[name] = metadata[name].replace("http:", "https:")
        metadata.validate()
        self.assertEqual(metadata["code_challenge_methods_supported"], ["S256"])

    def test_authlib_runs_the_whole_flow(self):
        session = self.authlib()
        token = self.tokens(session)
        self.assertEqual((token["token_type"], token["expires_in"], token["scope"]), ("Bearer", 3600, "profile read write"))
        self.assertEqual(session.get(f"{self.origin}/api/v1/users/me").json()["name"], "grace")
        later = session.refresh_token(self.metadata["token_endpoint"], refresh_token=token["refresh_token"])
        self.assertNotEqual(later["refresh_token"], token["refresh_token"])
        self.assertEqual(self.me(later["access_token"]), "grace")
        answer = session.revoke_token(self.metadata["revocation_endpoint"], later["refresh_token"])
        self.assertEqual(answer.status_code, 200)
        self.assertEqual((self.me(token["access_token"]), self.me(later["access_token"])), (401, 401))

    def test_authlib_authenticates_with_a_secret_and_introspects(self):
        app, secret = self.say("apps", "create", "Server", URI, "--confidential").split()
        for method in ["client_secret_basic", "client_secret_post"]:
            session = self.authlib(app, secret)
            session.token_endpoint_auth_method = method
            token = self.tokens(session)
            facts = session.introspect_token(self.metadata["introspection_endpoint"], token["access_token"]).json()
            self.assertEqual((facts["active"], facts["username"], facts["client_id"]), (True, "grace", app))
        with self.assertRaises(OAuthError) as refused:
            self.tokens(self.authlib(app, secret[:-1] + "x"))
        self.assertEqual(refused.exception.error, "invalid_client")

    def test_requests_oauthlib_runs_the_whole_flow(self):
        session = Requests(self.app, redirect_uri=URI, scope=["profile", "read", "write"], pkce="S256")
        url, _ = session.authorization_url(self.metadata["authorization_endpoint"])
        _, location, _ = self.browser.answer(url)
        token = session.fetch_token(self.metadata["token_endpoint"], authorization_response=location, include_client_id=True)
        self.assertEqual(session.get(f"{self.origin}/api/v1/users/me").json()["name"], "grace")
        session.refresh_token(self.metadata["token_endpoint"], client_id=self.app)
        self.assertEqual(session.get(f"{self.origin}/api/v1/users/me").status_code, 200)
        with self.assertRaises(InvalidGrantError):
            session.refresh_token(self.metadata["token_endpoint"], token["refresh_token"], client_id=self.app)

    def test_a_user_cancels(self):
        location, verifier = self.allowed(self.authlib(), "cancel")
        self.assertTrue(location.startswith(URI + "?"))
        self.assertEqual(parse_qs(urlsplit(location).query)["error"], ["access_denied"])
        # Neither library gets a token from an answer without a code.
        with self.assertRaises(OAuthError):
            self.authlib().fetch_token(
                self.metadata["token_endpoint"], authorization_response=location, code_verifier=verifier)
        with self.assertRaises(AccessDeniedError):
            Requests(self.app, redirect_uri=URI).fetch_token(
                self.metadata["token_endpoint"], authorization_response=location, include_client_id=True)

    def test_a_loopback_app_chooses_its_port(self):
        session = self.authlib()
        session.redirect_uri = "http://127.0.0.1:49152/callback"
        self.assertEqual(self.me(self.tokens(session)["access_token"]), "grace")

    def test_apps_register_themselves_if_the_owner_permits_it(self):
        metadata = {"client_name": "Rowing boat", "redirect_uris": [URI], "token_endpoint_auth_method": "none"}
        def register():
            body = json.dumps(metadata).encode()
            return json.load(urlopen(Request(f"{self.origin}/oauth/register", body, {"Content-Type": "application/json"})))
        with self.assertRaises(HTTPError) as refused:
            register()
        refused.exception.close()
        self.assertEqual(refused.exception.code, 404)
        call(self.daemon, "PATCH", "/settings", {"app_registration": True}, self.owner)
        app = register()["client_id"]
        self.assertEqual(self.me(self.tokens(self.authlib(app))["access_token"]), "grace")
        self.assertIn("not verified", self.say("apps", "list"))


class AttackTest(OAuthTest):
    def test_a_stolen_code_is_of_no_use_and_its_second_use_ends_the_tokens(self):
        session = self.authlib()
        location, verifier = self.allowed(session)
        code = parse_qs(urlsplit(location).query)["code"][0]
        fields = {"grant_type": "authorization_code", "code": code, "client_id": self.app, "redirect_uri": URI}
        other = self.say("apps", "create", "Other", URI).strip()
        for more in [{}, {"code_verifier": generate_token(48)}, {"code_verifier": verifier, "client_id": other}]:
            status, answer = self.post("/oauth/token", **fields | more)
            self.assertEqual(status, 400, answer)
        token = session.fetch_token(self.metadata["token_endpoint"], authorization_response=location, code_verifier=verifier)
        self.assertEqual(self.me(token["access_token"]), "grace")
        status, answer = self.post("/oauth/token", **fields, code_verifier=verifier)
        self.assertEqual((status, answer["error"]), (400, "invalid_grant"))
        self.assertEqual(self.me(token["access_token"]), 401)
        self.assertEqual(self.refresh(token["refresh_token"])[1]["error"], "invalid_grant")

    def test_a_stolen_refresh_token_ends_its_family(self):
        token, other = self.tokens(), self.tokens()
        status, thief = self.refresh(token["refresh_token"])
        self.assertEqual(status, 200)
        self.assertEqual(self.refresh(token["refresh_token"])[1]["error"], "invalid_grant")
        self.assertEqual(self.me(thief["access_token"]), 401)
        self.assertEqual(self.refresh(thief["refresh_token"])[1]["error"], "invalid_grant")
        self.assertEqual(self.me(other["access_token"]), "grace")
        self.assertEqual(self.refresh(other["refresh_token"])[0], 200)

    def test_of_twenty_parallel_refreshes_one_wins_and_the_family_ends(self):
        token = self.tokens()
        start, answers = threading.Barrier(20), []

        def race():
            start.wait()
            answers.append(self.refresh(token["refresh_token"]))

        threads = [threading.Thread(target=race) for _ in range(20)]
        for it in threads:
            it.start()
        for it in threads:
            it.join()
        winners = [answer for status, answer in answers if status == 200]
        self.assertEqual(len(winners), 1, answers)
        self.assertEqual({answer["error"] for status, answer in answers if status != 200}, {"invalid_grant"})
        self.assertEqual((self.me(winners[0]["access_token"]), self.me(token["access_token"])), (401, 401))
        self.assertEqual(self.refresh(winners[0]["refresh_token"])[1]["error"], "invalid_grant")

    HOSTILE = [
        "https://evil.example/callback", "https://ferry.example.org.evil.example/callback", "https://evil.example",
        "https://ferry.example.org@evil.example/callback", "https://ferry.example.org:x@evil.example/callback",
        "https://user@ferry.example.org/callback", "https://ferry.example.org/callback/", "https://ferry.example.org/",
        "https://ferry.example.org/callback/../../evil", "https://ferry.example.org/callback/%2e%2e/evil",
        "https://ferry.example.org/callback%2f..%2fevil", "https://ferry.example.org/./callback",
        "https://ferry.example.org/callback#", "https://ferry.example.org/callback#@evil.example",
        "https://ferry.example.org/callback?next=https://evil.example/", "HTTPS://ferry.example.org/callback",
        "https://FERRY.example.org/callback", "https://ferry.example.org/CALLBACK", "https://ferry.example.org:443/callback",
        "https://ferry.example.org:8443/callback", "http://ferry.example.org/callback", "https://ferry.example.org./callback",
        "https://fеrry.example.org/callback", "https://ferry。example.org/callback", "javascript:alert(1)//callback",
        "data:text/html,callback", "//ferry.example.org/callback", "/callback", "https:ferry.example.org/callback",
        "https://ferry.example.org\\@evil.example/callback", "https:/\\evil.example/callback", "http://localhost/callback",
        "http://127.0.0.1.evil.example/callback", "http://127.0.0.1:99999/callback", "http://[::1]/callback",
        "http://127.0.0.1@evil.example/callback", "http://127.1/callback", "urn:ietf:wg:oauth:2.0:oob",
        "https://ferry.example.org/callback\r\nLocation: https://evil.example/", " https://ferry.example.org/callback", "*",
    ]

    def test_no_answer_goes_to_an_unregistered_uri(self):
        self.assertGreaterEqual(len(self.HOSTILE), 25)
        challenge = create_s256_code_challenge(generate_token(48))
        good = {"response_type": "code", "client_id": self.app, "scope": "read", "state": "s",
                "code_challenge": challenge, "code_challenge_method": "S256"}
        for uri in self.HOSTILE:
            for more in [{}, {"scope": "wrong"}, {"response_type": "token"}]:
                query = urlencode(good | more | {"redirect_uri": uri})
                status, location, text = self.browser.open(f"{self.origin}/oauth/authorize?{query}")
                self.assertEqual((status, location), (400, None), uri)
                self.assertNotIn("evil.example", text)

    def test_the_page_is_not_framed_and_its_form_has_a_token(self):
        session = self.authlib()
        url, _ = session.create_authorization_url(self.metadata["authorization_endpoint"], code_verifier=generate_token(48))
        with urlopen(Request(url, headers={"Cookie": self.browser.cookie}), timeout=30) as page:
            fields, text = page.headers, page.read().decode()
        self.assertEqual(fields["X-Frame-Options"], "DENY")
        self.assertIn("frame-ancestors 'none'", fields["Content-Security-Policy"])
        self.assertEqual(fields["Cache-Control"], "no-store")
        form = Form(text).fields
        for change in [{"token": "x"}, {"token": ""}, {"request": form["request"].replace("write", "admin")}]:
            status, location, _ = self.browser.open(f"{self.origin}/oauth/authorize", form | change | {"decision": "allow"})
            self.assertEqual((status, location.split("?")[0]), (303, "/oauth/authorize"))
        self.browser.origin, own = "https://evil.example", self.browser.origin
        status, location, _ = self.browser.open(f"{own}/oauth/authorize", form | {"decision": "allow"})
        self.assertEqual((status, location), (403, None))


class EndTest(OAuthTest):
    def test_the_socket_of_a_revoked_app_closes(self):
        token = self.tokens()["access_token"]
        address = self.origin.replace("http", "ws", 1) + "/api/v1/realtime"
        with connect(address, additional_headers={"Authorization": f"Bearer {token}"}) as socket:
            socket.send(json.dumps({"id": 1, "do": "ping"}))
            self.assertTrue(described(socket.recv(timeout=30))["ok"])
            self.say("apps", "disable", self.app)
            with self.assertRaises(ConnectionClosed) as closed:
                while True:
                    socket.recv(timeout=30)
            self.assertEqual(closed.exception.rcvd.code, 4501)
        self.assertEqual(self.me(token), 401)

    def test_a_ban_ends_the_tokens_of_apps(self):
        token = self.tokens()
        call(self.daemon, "PUT", "/users/@grace/ban", {"reason": "x"}, self.owner)
        self.assertEqual(self.me(token["access_token"]), 401)
        self.assertEqual(self.refresh(token["refresh_token"])[1]["error"], "invalid_grant")

    def test_the_operator_lists_and_deletes_apps(self):
        token = self.tokens()["access_token"]
        listed = self.say("apps", "list")
        self.assertIn("Ferry", listed)
        self.assertIn("enabled", listed)
        one = json.loads(self.say("apps", "list", "--json"))
        self.assertEqual((one["id"], one["user_count"]), (self.app, 1))
        self.say("apps", "delete", self.app)
        self.assertEqual(self.me(token), 401)
        self.assertEqual(self.say("apps", "list").strip().count("\n"), 0)


class RateTest(OAuthTest):
    OPTIONS = ("--rate-oauth", "1", "--rate-oauth-burst", "3")

    def test_token_requests_are_limited(self):
        answers = [self.refresh("x") for _ in range(5)]
        self.assertEqual([status for status, _ in answers], [400, 400, 400, 429, 429])
        self.assertEqual(answers[-1][1]["error"], "temporarily_unavailable")


if __name__ == "__main__":
    unittest.main()
