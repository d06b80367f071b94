"""OpenID providers of the tests, which can be wrong in every way, and a browser that is a cookie jar. All providers are paths of
one server: `http://127.0.0.1:PORT/NAME`."""

import base64
import hashlib
import hmac
import html.parser
import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from joserfc import jws
from joserfc.jwk import ECKey, OKPKey, RSAKey

CLIENT, SECRET = "parley", "a secret: of & the client"
LOGOUT = "http://schemas.openid.net/event/backchannel-logout"
RSA = RSAKey.generate_key(2048, {"kid": "rsa", "use": "sig"})


def signed(claims, key=RSA, algorithm="RS256", **header):
    fields = {"alg": algorithm, "kid": key.kid} | header
    fields = {name: value for name, value in fields.items() if value is not None}
    registry = jws.JWSRegistry(algorithms=[algorithm], strict_check_header=False)
    return jws.serialize_compact(fields, json.dumps(claims).encode(), key, registry=registry)


def part(value):
    value = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def unsigned(claims):
    return f"{part({'alg': 'none'})}.{part(claims)}."


def shared(claims, secret):
    """Signed with HS256; no library takes a public key as its secret."""
    text = f"{part({'alg': 'HS256', 'kid': 'rsa'})}.{part(claims)}"
    return f"{text}.{part(hmac.digest(secret, text.encode(), 'sha256'))}"


class Provider:
    def __init__(self, url):
        self.url = url
        self.keys = [RSA]
        self.metadata = {}
        self.codes = {}
        self.reads = []
        # Answers in place of the right ones, by path.
        self.answers = {}

    def document(self):
        return {
            "issuer": self.url, "authorization_endpoint": f"{self.url}/authorize", "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks", "authorization_response_iss_parameter_supported": True,
        } | self.metadata

    def key_set(self):
        return {"keys": [key.as_dict(private=False) for key in self.keys]}

    def claims(self, nonce, /, **changes):
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": nonce} | changes
        return {name: value for name, value in claims.items() if value is not None}

    def code(self, request, token):
        """A code for the request of a browser. `token` is the whole ID token."""
        code = f"code-{len(self.codes)}"
        self.codes[code] = (request, token)
        return code

    def token(self, authorization, form):
        request, token = self.codes.pop(form["code"], (None, None))
        if request is None:
            return 400, {"error": "invalid_grant"}
        pair = base64.b64decode(authorization.removeprefix("Basic ")).decode().split(":")
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        wrong = [
            [unquote(it) for it in pair] != [CLIENT, SECRET], challenge != request["code_challenge"],
            form["redirect_uri"] != request["redirect_uri"], form["grant_type"] != "authorization_code",
        ]
        if any(wrong):
            return 400, {"error": "invalid_request", "wrong": wrong}
        return 200, {"access_token": "x", "token_type": "Bearer", "id_token": token}


class Providers:
    """`with Providers("work", "other") as providers:` serves both."""

    def __init__(self, *names):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.answer(None)

            def do_POST(self):
                self.answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

            def answer(self, body):
                _, name, path = self.path.split("?")[0].split("/", 2)
                provider = outer[name]
                provider.reads.append(path)
                if path in provider.answers:
                    return provider.answers[path](self)
                if path == ".well-known/openid-configuration":
                    return self.json(200, provider.document())
                if path == "jwks":
                    return self.json(200, provider.key_set())
                if path == "token" and body is not None:
                    form = {name: values[0] for name, values in parse_qs(body).items()}
                    return self.json(*provider.token(self.headers["Authorization"], form))
                return self.json(404, {})

            def json(self, status, value):
                self.send(status, json.dumps(value).encode())

            def send(self, status, body, **fields):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                for field, value in fields.items():
                    self.send_header(field, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_):
                """A client that closes its connection is no fault here."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.all = {name: Provider(f"{self.url}/{name}") for name in names}

    def __getitem__(self, name):
        return self.all[name]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Page(html.parser.HTMLParser):
    """The text of a page, its links and fields."""

    def __init__(self, text):
        super().__init__()
        self.text, self.links, self.fields = "", [], {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "a":
            self.links.append(attributes.get("href"))
        if tag == "input":
            self.fields[attributes["name"]] = attributes.get("value", "")

    def handle_data(self, data):
        self.text += data

    @property
    def request(self):
        """The id of the request, if the page tells one."""
        found = re.search(r"request ID: ([0-9a-f-]+)", self.text)
        return found and found[1]


class Browser:
    """Follows no redirect."""

    def __init__(self, origin):
        self.origin = origin
        self.cookies = {}
        self.opener = build_opener(NoRedirect)

    def open(self, path, form=None, origin=None):
        """The status, the address of a redirect, the text."""
        body = urlencode(form).encode() if form is not None else None
        return self.send(Request(self.address(path), body, {"Origin": origin or self.origin} if body is not None else {}))

    def call(self, method, path, body=None):
        """The status and the JSON of an operation."""
        fields = {"Content-Type": "application/json", "Origin": self.origin}
        data = None if body is None else json.dumps(body).encode()
        status, _, text = self.send(Request(f"{self.origin}/api/v1{path}", data, fields, method=method))
        return status, json.loads(text) if text else None

    def address(self, path):
        return path if path.startswith("http") else self.origin + path

    def send(self, request):
        if self.cookies:
            request.add_header("Cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items()))
        try:
            answer = self.opener.open(request, timeout=30)
        except HTTPError as error:
            answer = error
        with answer:
            for field in answer.headers.get_all("Set-Cookie") or []:
                name, value = field.split(";")[0].split("=", 1)
                self.cookies[name] = value
                if not value:
                    del self.cookies[name]
            return answer.status, answer.headers["Location"], answer.read().decode()

    @property
    def name(self):
        """The name of the signed-in user; None for a visitor."""
        status, user = self.call("GET", "/users/me")
        return user["name"] if status == 200 else None

    def start(self, issuer="work", query=""):
        """The parameters of the request to the provider."""
        status, location, text = self.open(f"/oidc/{issuer}{query}")
        assert status == 303, text
        return parameters(location)

    def sign_in(self, provider, issuer="work", query="", sign=signed, **claims):
        """The answer to a whole sign-in."""
        return self.finish(provider, self.start(issuer, query), issuer, sign, **claims)

    def finish(self, provider, request, issuer="work", sign=signed, **claims):
        code = provider.code(request, sign(provider.claims(request["nonce"], **claims)))
        return self.answer(issuer, code=code, state=request["state"], iss=provider.url)

    def answer(self, issuer="work", **parameters):
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in parameters.items() if value is not None)
        return self.open(f"/oidc/{issuer}/callback?{query}")


def parameters(address):
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


def key(kind, kid):
    """A new key and its algorithm."""
    match kind:
        case "RS256":
            return RSAKey.generate_key(2048, {"kid": kid})
        case "ES256":
            return ECKey.generate_key("P-256", {"kid": kid})
        case "EdDSA":
            return OKPKey.generate_key("Ed25519", {"kid": kid})
        case "ES384":
            return ECKey.generate_key("P-384", {"kid": kid})

