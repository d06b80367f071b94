"""The descriptions of the API as tools of others read them: a linter, JSON Schema, and the specification of AsyncAPI."""

import copy
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import jsonschema

import frames
from servers import BUILD, TOP

# The recommended rules of vacuum, which are those of Spectral, but for these.
RULES = {
    "extends": [["spectral:oas", "recommended"]],
    "rules": {
        # An operation has an example, and a schema none of its own.
        "oas3-missing-example": "off",
        # A body is described by its schema.
        "operation-description": "off",
        "description-duplication": "off",
        # This rule is for OpenAPI 3.0: in 3.1 a reference may have a description beside it.
        "no-$ref-siblings": "off",
        # The linter reads `examples` of a schema as an object, as in OpenAPI 3.0. `DescriptionTests` checks all examples.
        "oas3-valid-schema-example": "off",
    },
}
# Rules with an exception: WebAuthn calls them options; a WebSocket has the status 101; a report may be in a group of reports.
ACCEPTED = {"no-http-verbs-in-path": 3, "operation-success-response": 1, "circular-references": 1}


class Linter(unittest.TestCase):
    part = "contract"

    def lint(self, document):
        (program,) = BUILD.glob("tools/vacuum/lib/python3*/site-packages/vacuum/lib/vacuum")
        with tempfile.TemporaryDirectory(prefix="parley-") as folder:
            rules, description, report = (Path(folder, name) for name in ("rules.json", "openapi.json", "report.json"))
            rules.write_text(json.dumps(RULES))
            description.write_text(json.dumps(document, indent=2, ensure_ascii=False))
            done = subprocess.run([program, "spectral-report", "--remote=false", "--timeout", "120", "--ruleset", rules, description, report],
                                  cwd=folder, capture_output=True, text=True, timeout=300)
            self.assertTrue(report.exists(), done.stdout + done.stderr)
            return json.loads(report.read_text())

    def test_the_linter_finds_nothing_but_the_known_exceptions(self):
        document = json.loads((TOP / "Public/openapi.json").read_text())
        found = self.lint(document)
        counts = {code: sum(it["code"] == code for it in found) for code in {it["code"] for it in found}}
        self.assertEqual(counts, ACCEPTED, [it for it in found if it["code"] not in ACCEPTED][:20])
        paths = document["paths"]
        spoiled = copy.deepcopy({**document, "paths": {path: paths[path] for path in ("/server", "/settings")}})
        del spoiled["paths"]["/server"]["get"]["operationId"]
        del spoiled["paths"]["/settings"]["get"]["tags"]
        self.assertLessEqual({"operation-operationId", "operation-tags"}, {it["code"] for it in self.lint(spoiled)})


class AsyncAPI(unittest.TestCase):
    document = frames.DOCUMENTS[frames.OWN]

    def faults(self, document):
        schema = json.loads((TOP / "Tests/clients/schemas/asyncapi.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(document)]

    def test_the_document_has_the_fields_of_the_specification(self):
        self.assertEqual(self.faults(self.document), [])
        spoiled = copy.deepcopy(self.document)
        spoiled["operations"]["hello"]["action"] = "publish"
        spoiled["channels"]["realtime"]["path"] = "/realtime"
        del spoiled["info"]["version"]
        self.assertEqual(len(self.faults(spoiled)), 3)

    def test_operations_use_messages_of_their_channel(self):
        for name, operation in self.document["operations"].items():
            messages = operation["messages"] + operation.get("reply", {}).get("messages", [])
            self.assertTrue(messages, name)
            for it in messages:
                self.assertTrue(it["$ref"].startswith(operation["channel"]["$ref"] + "/messages/"), it)
                self.assertIn("payload", frames.at(it["$ref"]))
        used = {it["$ref"].rsplit("/", 1)[1] for operation in self.document["operations"].values()
                for it in operation["messages"] + operation.get("reply", {}).get("messages", [])}
        self.assertEqual(used, set(self.document["channels"]["realtime"]["messages"]))
        self.assertEqual(used, set(self.document["components"]["messages"]))

    def test_every_schema_is_valid_and_every_example_fits_its_schema(self):
        for schema in self.document["components"]["schemas"].values():
            jsonschema.Draft202012Validator.check_schema(schema)
        for name, message in self.document["components"]["messages"].items():
            validator = jsonschema.Draft202012Validator(
                {"$id": frames.OWN, **message["payload"], "components": self.document["components"]}, registry=frames.REGISTRY)
            self.assertTrue(message["examples"], name)
            for example in message["examples"]:
                validator.validate(example["payload"])
                with self.assertRaises(jsonschema.ValidationError, msg=name):
                    validator.validate(dict.fromkeys(example["payload"]))

    def test_a_frame_that_is_not_described_is_found(self):
        frames.described('{"re":1,"ok":true}')
        for text in ('{"event":"message.created"}', '{"event":"unheard.of","data":{}}', '{"re":1}', '{"re":1,"problem":{}}'):
            with self.assertRaises(AssertionError, msg=text):
                frames.described(text)


if __name__ == "__main__":
    unittest.main()
