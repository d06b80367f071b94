"""Frames of the WebSocket, held to `Public/asyncapi.json`."""

import json
from functools import cache

import jsonschema
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012
from servers import TOP

# The description of frames names schemas of the other by the file beside it.
OWN, OTHER = (f"https://chat.example.org/api/v1/{name}.json" for name in ("asyncapi", "openapi"))
DOCUMENTS = {name: json.loads((TOP / "Public" / name.rsplit("/", 1)[1]).read_text()) for name in (OWN, OTHER)}
REGISTRY = Registry().with_resources((name, Resource(document, DRAFT202012)) for name, document in DOCUMENTS.items())


def at(reference, document=OWN):
    """Resolves a reference within a document."""
    thing = DOCUMENTS[document]
    for part in reference.removeprefix("#/").split("/"):
        thing = thing[part]
    return at(thing["$ref"], document) if "$ref" in thing else thing


def payloads(references):
    return [at(it["$ref"])["payload"] for it in references]


@cache
def validator(kind):
    """Validator of the frames that the server sends by itself, `event`, or of answers, `re`."""
    operations = DOCUMENTS[OWN]["operations"].values()
    if kind == "event":
        found = [it for operation in operations if operation["action"] == "send" for it in payloads(operation["messages"])]
    else:
        found = [it for operation in operations if "reply" in operation for it in payloads(operation["reply"]["messages"])]
    distinct = {json.dumps(it): it for it in found}.values()
    return jsonschema.Draft202012Validator(
        {"$id": OWN, "anyOf": list(distinct), "components": DOCUMENTS[OWN]["components"]}, registry=REGISTRY)


def described(text):
    """The JSON of a frame of the server. Fails if the description has no such frame."""
    frame = json.loads(text)
    kind = "event" if "event" in frame else "re"
    error = jsonschema.exceptions.best_match(validator(kind).iter_errors(frame))
    assert error is None, f"{text}\n{error}"
    return frame
