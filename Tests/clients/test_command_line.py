"""The program as its user meets it: suggestions, and output that is not lost silently. The JavaScript library from
another origin."""

import json
import subprocess
import unittest

from servers import PARLEY
from serving import ServingTest, parley


def command(*arguments, **settings):
    return subprocess.run([PARLEY, *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60,
                          **settings)


class CommandLine(unittest.TestCase):
    def test_a_typing_error_gets_a_suggestion_in_two_lines(self):
        for typed, meant in (("raed", "read"), ("serv", "serve"), ("forum", "forums"), ("Backup", "backup"), ("conv", "conversations"),
                             ("webhoks", "webhooks"), ("hoks", "hooks")):
            done = command(typed, stdout=subprocess.PIPE)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stdout, "")
            self.assertEqual(done.stderr.count("\n"), 2)
            self.assertIn(f'Did you mean "{meant}"?', done.stderr)
        done = command("\x1b[31mbanana", stdout=subprocess.PIPE)
        self.assertNotIn("Did you mean", done.stderr)
        self.assertNotIn("\x1b", done.stderr)

    def test_outcomes_for_programs_are_json(self):
        done = command("version", "--json", stdout=subprocess.PIPE)
        self.assertEqual(f"parley {json.loads(done.stdout)['version']}\n", command("version", stdout=subprocess.PIPE).stdout)
        done = command("health", "--json", "--url", "http://127.0.0.1:1", stdout=subprocess.PIPE)
        said = json.loads(done.stdout)
        self.assertEqual((done.returncode, done.stderr, said["status"]), (1, "", "failure"))
        self.assertIn("127.0.0.1:1", said["message"])

    def test_output_that_does_not_fit_on_the_disk_is_a_failure(self):
        for arguments in (("help",), ("--version",), ("version",), ("read", "--help"), ("help", "read"), ("completions", "bash"), ("manual",)):
            with open("/dev/full", "w") as full:
                done = command(*arguments, stdout=full)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn("standard output", done.stderr)


class Library(ServingTest):
    def test_pages_of_every_origin_may_import_the_library_alone(self):
        self.arguments = parley(self.folder)
        with self.start(*self.arguments) as server:
            status, headers = self.curl_headers(f"{server.url}/js/parley/parley.js", "--header", "Origin: https://a.example")
            self.assertEqual(status, 200)
            self.assertEqual(headers["access-control-allow-origin"], "*")
            self.assertEqual(headers["cross-origin-resource-policy"], "cross-origin")
            self.assertNotIn("access-control-allow-credentials", headers)
            for path in ("/", "/css/tokens.css", "/js/app/main.js", "/api/v1/server"):
                _, headers = self.curl_headers(f"{server.url}{path}", "--header", "Origin: https://a.example")
                self.assertNotIn("access-control-allow-origin", headers, path)
                self.assertEqual(headers["cross-origin-resource-policy"], "same-origin", path)


if __name__ == "__main__":
    unittest.main()
