"""Clients that openapi-python-client and openapi-generator generate from Public/openapi.json: they compile, page through
1,000 messages in both directions, and get a picture back as it was uploaded."""

import hashlib
import http.client
import importlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path
from urllib.parse import urlsplit

from PIL import Image

from servers import PARLEY
from serving import ServingTest, call, parley

COUNT = 1_000
PAGE = 200
DESCRIPTION = Path("Public/openapi.json").resolve()
RATES = [part for work in ("sending", "writing") for part in (f"--rate-{work}", "1000000", f"--rate-{work}-burst", "1000000")]
TOOLS = Path(sys.executable).parent
# A short program gains nothing from the second compiler.
JAVA = ("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar")

# These programs do the same work as the Python clients. They print the digest of the picture and the `seq` of all messages, walked in
# both directions.
TYPESCRIPT = """
const { readFileSync } = require('node:fs');
const { createHash } = require('node:crypto');
const { Configuration, FilesApi, MessagesApi } = require('./client/index.js');
const [url, accessToken, room, picture] = process.argv.slice(2);
const configuration = new Configuration({ basePath: `${url}/api/v1`, accessToken });
const files = new FilesApi(configuration);
const messages = new MessagesApi(configuration);
(async () => {
  const file = await files.uploadFile({ file: new Blob([readFileSync(picture)]), name: 'picture.png' });
  const content = await files.getFileContent({ id: file.id });
  const digest = createHash('sha256').update(Buffer.from(await content.arrayBuffer())).digest('hex');
  const page = (position) => messages.listMessages({ id: room, limit: 200, ...position });
  const seqsOf = ({ data }) => data.map((message) => message.seq);
  let last = await page({});
  const seqs = seqsOf(last);
  while (last.next) {
    last = await page({ next: last.next });
    seqs.push(...seqsOf(last));
  }
  const back = seqsOf(last);
  while (last.previous) {
    last = await page({ previous: last.previous });
    back.unshift(...seqsOf(last));
  }
  console.log(JSON.stringify({ digest, seqs, back }));
})();
"""

GO = """
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"parley"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	url, token, room, name := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	configuration := parley.NewConfiguration()
	configuration.Servers = parley.ServerConfigurations{{URL: url + "/api/v1"}}
	client := parley.NewAPIClient(configuration)
	context := context.WithValue(context.Background(), parley.ContextAccessToken, token)
	picture, err := os.Open(name)
	check(err)
	file, _, err := client.FilesAPI.UploadFile(context).File(picture).Execute()
	check(err)
	content, _, err := client.FilesAPI.GetFileContent(context, file.Id).Execute()
	check(err)
	bytes, err := io.ReadAll(content)
	check(err)
	list := func() parley.ApiListMessagesRequest { return client.MessagesAPI.ListMessages(context, room).Limit(200) }
	fetch := func(request parley.ApiListMessagesRequest) (*parley.MessagePage, []int32) {
		page, _, err := request.Execute()
		check(err)
		var seqs []int32
		for _, message := range page.Data {
			seqs = append(seqs, message.Seq)
		}
		return page, seqs
	}
	last, part := fetch(list())
	seqs := part
	for next := last.Next.Get(); next != nil; next = last.Next.Get() {
		last, part = fetch(list().Next(*next))
		seqs = append(seqs, part...)
	}
	back := part
	for previous := last.Previous.Get(); previous != nil; previous = last.Previous.Get() {
		last, part = fetch(list().Previous(*previous))
		back = append(part, back...)
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"digest": fmt.Sprintf("%x", sha256.Sum256(bytes)), "seqs": seqs, "back": back})
}
"""


def run(*command, cwd=None, env=None):
    done = subprocess.run([*map(str, command)], cwd=cwd, env=env, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise AssertionError(f"{command} failed: {done.stdout[-8_000:]}{done.stderr[-8_000:]}")
    return done.stdout + done.stderr


def generator(*arguments):
    jar = Path(importlib.util.find_spec("openapi_generator_cli").origin).with_name("openapi-generator.jar")
    return run(*JAVA, jar, *arguments)


def generate(language, folder, *options):
    generator("generate", "-i", DESCRIPTION, "-g", language, "-o", folder, "--global-property",
              "apis,models,supportingFiles,apiTests=false,modelTests=false,apiDocs=false,modelDocs=false", *options)


class GeneratedClients(ServingTest):
    part = "contract"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(cls.start(*parley(cls.folder, *RATES, "--outgoing", "off")))
        cls.command("user", "create", "ada", "--role", "owner", "--password-stdin", given="correct horse battery")
        cls.token = cls.command("token", "ada", "--scope", "write")
        cls.room = call(cls.server, "POST", "/forums", {"title": "garden", "visibility": "public"}, cls.token)["room_id"]
        cls.picture = Path(cls.folder, "picture.png")
        Image.radial_gradient("L").save(cls.picture)
        cls.digest = hashlib.sha256(cls.picture.read_bytes()).hexdigest()
        connection = http.client.HTTPConnection(urlsplit(cls.server.url).netloc, timeout=60)
        for number in range(COUNT):
            connection.request("POST", f"/api/v1/conversations/{cls.room}/messages", json.dumps({"text": f"message {number}"}),
                               {"Authorization": f"Bearer {cls.token}", "Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 201, answer.status

    @classmethod
    def command(cls, *arguments, given=""):
        return subprocess.run([PARLEY, *arguments, "--data", Path(cls.folder) / "data"], input=given, capture_output=True,
                              text=True, timeout=60, check=True).stdout.strip()

    def use(self, folder, name):
        """The package of a folder."""
        sys.path.insert(0, str(folder))
        self.addCleanup(sys.path.remove, str(folder))
        return importlib.import_module(name)

    def walk(self, page):
        """The `seq` of all messages: `page(**positions)` is a page of a generated client."""
        seqs, position, last = [], {}, None
        while True:
            last = page(**position)
            seqs += [message.seq for message in last.data]
            following = self.position(last, "next")
            if not following:
                break
            position = {"next": following}
        self.assertEqual(seqs, list(range(COUNT, 0, -1)))
        back = [message.seq for message in last.data]
        while previous := self.position(last, "previous"):
            last = page(previous=previous)
            back = [message.seq for message in last.data] + back
        self.assertEqual(back, seqs)

    @staticmethod
    def position(page, name):
        return getattr(page, f"{name}_", None) or getattr(page, name, None)

    def test_the_description_is_valid_and_has_no_recommendation(self):
        run(TOOLS / "openapi-spec-validator", DESCRIPTION)
        self.assertIn("No validation issues detected", generator("validate", "-i", DESCRIPTION, "--recommend"))

    def test_openapi_python_client(self):
        folder = Path(self.folder, "opc")
        output = run(TOOLS / "openapi-python-client", "generate", "--path", DESCRIPTION, "--output-path",
                     folder / "parley_client", "--meta", "none")
        self.assertNotIn("WARNING parsing", output)
        client = self.use(folder, "parley_client")
        types, files, messages, models = (
            importlib.import_module(f"parley_client.{name}") for name in ("types", "api.files", "api.messages", "models"))
        for module in ("upload_file", "get_file_content"):
            importlib.import_module(f"parley_client.api.files.{module}")
        importlib.import_module("parley_client.api.messages.list_messages")
        server = client.AuthenticatedClient(base_url=f"{self.server.url}/api/v1", token=self.token)

        def picture():
            return types.File(payload=io.BytesIO(self.picture.read_bytes()), file_name="picture.png", mime_type="image/png")

        for arguments in ({"body": picture(), "name": "picture.png"},
                          {"body": models.UploadFileFilesBody(file=picture())}):
            file = files.upload_file.sync(client=server, **arguments)
            content = files.get_file_content.sync(client=server, id=file.id)
            self.assertEqual(hashlib.sha256(content.payload.read()).hexdigest(), self.digest)

        def page(next=types.UNSET, previous=types.UNSET):
            return messages.list_messages.sync(client=server, id=self.room, limit=PAGE, next_=next, previous=previous)

        self.walk(page)

    def test_openapi_generator_python(self):
        folder = Path(self.folder, "python")
        generate("python", folder)
        client = self.use(folder, "openapi_client")
        server = client.ApiClient(client.Configuration(host=f"{self.server.url}/api/v1", access_token=self.token))
        files, messages = client.FilesApi(server), client.MessagesApi(server)
        file = files.upload_file(file=("picture.png", self.picture.read_bytes()))
        self.assertEqual(hashlib.sha256(files.get_file_content(file.id)).hexdigest(), self.digest)
        self.walk(lambda **position: messages.list_messages(self.room, limit=PAGE, **position))

    def test_openapi_generator_typescript(self):
        folder = Path(self.folder, "typescript")
        generate("typescript-fetch", folder / "source")
        # Debian's compiler is older than the narrowing of `in` that the generated code relies on.
        run("tsc", "--target", "es2020", "--module", "commonjs", "--strict", "--noImplicitAny", "false", "--lib",
            "es2020,dom", "--outDir", folder / "client", folder / "source" / "index.ts")
        (folder / "walk.js").write_text(TYPESCRIPT)
        found = json.loads(run("node", "walk.js", self.server.url, self.token, self.room, self.picture, cwd=folder))
        self.assertEqual(found["digest"], self.digest)
        self.assertEqual(found["seqs"], list(range(COUNT, 0, -1)))
        self.assertEqual(found["back"], found["seqs"])

    def test_openapi_generator_go(self):
        folder = Path(self.folder, "go")
        generate("go", folder / "src" / "parley", "--additional-properties", "packageName=parley,enumClassPrefix=true")
        program = folder / "src" / "walk"
        program.mkdir()
        (program / "main.go").write_text(GO)
        # Debian's packages, without a download: its compiler is older than the generated go.mod.
        environment = os.environ | {"GOPATH": f"{folder}:/usr/share/gocode", "GO111MODULE": "off", "GOFLAGS": "",
                                    "GOCACHE": str(Path(".build/go").resolve())}
        run("go", "build", "-o", folder / "walk", "walk", env=environment)
        found = json.loads(run(folder / "walk", self.server.url, self.token, self.room, self.picture))
        self.assertEqual(found["digest"], self.digest)
        self.assertEqual(found["seqs"], list(range(COUNT, 0, -1)))
        self.assertEqual(found["back"], found["seqs"])


if __name__ == "__main__":
    unittest.main()
