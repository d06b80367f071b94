"""A wall clock that an operator or a time server sets back does not lock users out."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from restarting import PASSWORD
from serving import ServingTest, call, parley

# The clock of the process: the real one and the seconds in a file.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, time);
  if (clock != CLOCK_REALTIME) return result;
  FILE *file = fopen(getenv("CLOCK_OFFSET"), "r");
  long offset = 0;
  if (file) {
    if (fscanf(file, "%ld", &offset) != 1) offset = 0;
    fclose(file);
  }
  time->tv_sec += offset;
  return result;
}
"""


class WallClock(ServingTest):
    def setUp(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))
        source, shim, self.offset = folder / "clock.c", folder / "clock.so", folder / "offset"
        source.write_text(SHIM)
        subprocess.run(["clang", "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True, capture_output=True)
        self.data = folder / "site"
        self.server = self.enterContext(
            self.start(*parley(self.data), env={"LD_PRELOAD": str(shim), "CLOCK_OFFSET": str(self.offset)}))

    def test_users_post_and_sign_in_after_it_went_back(self):
        link = subprocess.run([parley(self.data)[0], "setup", "--data", self.data / "data"], capture_output=True, text=True,
                              check=True).stdout
        token = call(self.server, "POST", f"/links/{link.strip().split('/')[-1]}", {"name": "ada", "password": PASSWORD})["token"]
        room = call(self.server, "POST", "/forums", {"title": "Knitting", "visibility": "public"}, token)["room_id"]

        def post():
            return call(self.server, "POST", f"/conversations/{room}/messages", {"text": "hello"}, token)["created_at"]

        before = post()
        self.offset.write_text("-7200")
        after = post()
        self.assertLess(after, before, "the clock of the process went back")
        for _ in range(3):
            post()
            call(self.server, "POST", "/sessions", {"name": "ada", "password": PASSWORD})
        # Less than the idle time of a session of staff.
        self.offset.write_text(str(10 * 86_400))
        post()
        self.offset.write_text("0")
        post()


if __name__ == "__main__":
    unittest.main()
