"""Passkeys beside Yubico's `fido2`: it makes the answers, with keys of `cryptography`, and its server checks them as ours does."""

import hashlib
import json
import os
import tempfile
import unittest
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from fido2.cose import CoseKey
from fido2.server import Fido2Server
from fido2.utils import websafe_decode, websafe_encode
from fido2.webauthn import (
    AttestationObject, AttestedCredentialData, AuthenticationResponse, AuthenticatorData, AuthenticatorAssertionResponse,
    AuthenticatorAttestationResponse, CollectedClientData, PublicKeyCredentialRpEntity, RegistrationResponse, Aaguid)
from serving import ServingTest, parley

PASSWORD = "wool and needles"
HOST = "chat.example.org"
OTHER = "parley.example"
ORIGIN = f"https://{HOST}"


class Authenticator:
    """A passkey with a key of `cryptography`."""

    def __init__(self, key):
        self.key = key
        self.id = os.urandom(16)
        self.count = 0
        if isinstance(key, ec.EllipticCurvePrivateKey):
            self.cose = CoseKey.for_alg(-7).from_cryptography_key(key.public_key())
        elif isinstance(key, ed25519.Ed25519PrivateKey):
            self.cose = CoseKey.for_alg(-8).from_cryptography_key(key.public_key())
        else:
            self.cose = CoseKey.for_alg(-257).from_cryptography_key(key.public_key())

    def data(self, flags, credential=None):
        self.count += 1
        digest = hashlib.sha256(HOST.encode()).digest()
        return AuthenticatorData.create(digest, flags, self.count, *([bytes(credential)] if credential else []))

    def make(self, options, origin=ORIGIN):
        flag = AuthenticatorData.FLAG
        client = CollectedClientData.create("webauthn.create", options["challenge"], origin)
        credential = AttestedCredentialData.create(Aaguid.NONE, self.id, self.cose)
        data = self.data(flag.UP | flag.UV | flag.AT, credential)
        response = AuthenticatorAttestationResponse(client_data=client, attestation_object=AttestationObject.create("none", data, {}))
        self.handle = websafe_decode(options["user"]["id"])
        return RegistrationResponse(raw_id=self.id, response=response)

    def sign(self, options, origin=ORIGIN):
        flag = AuthenticatorData.FLAG
        client = CollectedClientData.create("webauthn.get", options["challenge"], origin)
        data = self.data(flag.UP | flag.UV)
        text = data + client.hash
        if isinstance(self.key, ec.EllipticCurvePrivateKey):
            signature = self.key.sign(text, ec.ECDSA(hashes.SHA256()))
        elif isinstance(self.key, ed25519.Ed25519PrivateKey):
            signature = self.key.sign(text)
        else:
            signature = self.key.sign(text, padding.PKCS1v15(), hashes.SHA256())
        response = AuthenticatorAssertionResponse(
            client_data=client, authenticator_data=data, signature=signature, user_handle=self.handle)
        return AuthenticationResponse(raw_id=self.id, response=response)


class Passkeys(ServingTest):
    part = "doors"

    def setUp(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))
        self.server = self.enterContext(self.start(*parley(
            folder, "--public-url", ORIGIN, "--public-url", f"https://{OTHER}", "--rate-login", "1000", "--rate-login-burst", "1000")))
        code = self.server.output().split("/setup/")[1].split()[0]
        _, _, answer = self.ask("POST", f"/links/{code}", {"name": "ada", "password": PASSWORD})
        self.token = answer["token"]

    def ask(self, method, path, body=None, token=None, base="/api/v1", **fields):
        fields = {"Host": HOST, **fields, **({"Authorization": f"Bearer {token}"} if token else {})}
        data = None if body is None else json.dumps(body)
        if body is not None:
            fields["Content-Type"] = "application/json"
        with closing(HTTPConnection("127.0.0.1", self.server.port, timeout=30)) as line:
            line.request(method, base + path, data, fields)
            answer = line.getresponse()
            said = answer.read()
            return answer.status, answer.headers, json.loads(said) if said else None

    def done(self, *request, **more):
        status, _, answer = self.ask(*request, **more)
        self.assertLess(status, 300, answer)
        return answer

    def field(self, *request, **more):
        status, _, answer = self.ask(*request, **more)
        self.assertEqual((status, answer["errors"][0]["field"]), (400, "credential"), answer)
        return answer["errors"][0]["code"]

    def register(self, authenticator):
        options = self.done("POST", "/me/passkeys/options", token=self.token)
        made = authenticator.make(options)
        self.done("POST", "/me/passkeys", {"name": "Key", "credential": dict(made)}, self.token)
        return options, made

    def keys(self):
        return (ec.generate_private_key(ec.SECP256R1()), ed25519.Ed25519PrivateKey.generate(),
                rsa.generate_private_key(65537, 2048), rsa.generate_private_key(65537, 4096))

    def test_both_servers_accept_the_same_answers(self):
        theirs = Fido2Server(PublicKeyCredentialRpEntity(id=HOST, name="Parley"))
        for key in self.keys():
            with self.subTest(type(key).__name__):
                authenticator = Authenticator(key)
                options, made = self.register(authenticator)
                state = {"challenge": options["challenge"], "user_verification": "required"}
                checked = theirs.register_complete(state, made)
                self.assertEqual(checked.credential_data.credential_id, authenticator.id)
                options = self.done("POST", "/sessions/passkey/options")
                self.assertEqual((options["rpId"], options["allowCredentials"]), (HOST, []))
                signed = authenticator.sign(options)
                opened = self.done("POST", "/sessions/passkey", {"credential": dict(signed), "device": "fido2"})
                self.assertEqual(opened["user"]["name"], "ada")
                state = {"challenge": options["challenge"], "user_verification": "required"}
                theirs.authenticate_complete(state, [checked.credential_data], signed)
                # Both refuse another answer with this signature.
                self.assertEqual(self.field("POST", "/sessions/passkey", {"credential": dict(signed)}), "passkey_challenge_used")
                options = self.done("POST", "/sessions/passkey/options")
                other = dict(authenticator.sign(options))
                other["response"] = {**other["response"], "signature": dict(signed)["response"]["signature"]}
                self.assertEqual(self.field("POST", "/sessions/passkey", {"credential": other}), "passkey_signature")
                with self.assertRaises(ValueError):
                    state = {"challenge": options["challenge"], "user_verification": "required"}
                    theirs.authenticate_complete(state, [checked.credential_data], AuthenticationResponse.from_dict(other))

    def test_keys_that_the_site_does_not_take(self):
        for key, code in ((rsa.generate_private_key(65537, 1024), "passkey_key"),):
            authenticator = Authenticator(key)
            options = self.done("POST", "/me/passkeys/options", token=self.token)
            body = {"credential": dict(authenticator.make(options))}
            self.assertEqual(self.field("POST", "/me/passkeys", body, self.token), code)
        authenticator = Authenticator(ec.generate_private_key(ec.SECP256R1()))
        key = ec.generate_private_key(ec.SECP384R1())
        authenticator.cose = CoseKey.for_alg(-35).from_cryptography_key(key.public_key())
        options = self.done("POST", "/me/passkeys/options", token=self.token)
        body = {"credential": dict(authenticator.make(options))}
        self.assertEqual(self.field("POST", "/me/passkeys", body, self.token), "passkey_algorithm")

    def test_a_passkey_works_at_each_public_url(self):
        authenticator = Authenticator(ec.generate_private_key(ec.SECP256R1()))
        self.register(authenticator)
        status, fields, answer = self.ask("GET", "/.well-known/webauthn", base="", Host=OTHER)
        self.assertEqual((status, answer), (200, {"origins": [ORIGIN, f"https://{OTHER}"]}))
        self.assertEqual(fields["Content-Type"].split(";")[0], "application/json")
        options = self.done("POST", "/sessions/passkey/options", Host=OTHER)
        self.assertEqual(options["rpId"], HOST)
        signed = authenticator.sign(options, f"https://{OTHER}")
        self.done("POST", "/sessions/passkey", {"credential": dict(signed)}, Host=OTHER)
        options = self.done("POST", "/sessions/passkey/options")
        signed = authenticator.sign(options, "https://evil.example")
        self.assertEqual(self.field("POST", "/sessions/passkey", {"credential": dict(signed)}), "passkey_wrong_origin")

    def test_a_copy_is_refused_and_told(self):
        authenticator = Authenticator(ed25519.Ed25519PrivateKey.generate())
        self.register(authenticator)
        for count, code in ((9, None), (3, "passkey_counter")):
            authenticator.count = count
            options = self.done("POST", "/sessions/passkey/options")
            body = {"credential": dict(authenticator.sign(options))}
            if code:
                self.assertEqual(self.field("POST", "/sessions/passkey", body), code)
            else:
                self.done("POST", "/sessions/passkey", body)
        kinds = [it["kind"] for it in self.done("GET", "/inbox", token=self.token)["data"]]
        self.assertIn("passkey_copied", kinds)


if __name__ == "__main__":
    unittest.main()
