"""Lists over curl: each item once, in both directions."""

import json
import unittest

from restarting import RestartingTest

COUNT = 1_000


class Paging(RestartingTest):
    def page(self, query, position=""):
        authorization = f"Authorization: Bearer {self.token}"
        url = f"{self.url}/api/v1/conversations/{self.room}/messages?{query}{position}"
        page = json.loads(self.curl("--fail", "--header", authorization, url))
        return page, [message["seq"] for message in page["data"]]

    def walk(self, query):
        """The `seq` of all messages, from the first page in both directions."""
        first, seqs = self.page(query)
        following = first["next"]
        while following:
            page, more = self.page(query, f"&next={following}")
            seqs, following = seqs + more, page["next"]
        following = first["previous"]
        while following:
            page, more = self.page(query, f"&previous={following}")
            seqs, following = more + seqs, page["previous"]
        return seqs

    def test_a_thousand_messages_are_paged_in_both_directions_each_once(self):
        for number in range(COUNT):
            self.ask("POST", f"/conversations/{self.room}/messages", {"text": f"message {number}"})
        everything = list(range(1, COUNT + 1))
        page, _ = self.page("order=asc&limit=200")
        messages = page["data"]
        middle, time = messages[122]["id"], messages[122]["created_at"]
        for bound in ("", f"&before={middle}", f"&after={middle}", f"&around={middle}",
                      f"&before_time={time}", f"&after_time={time}", f"&at_time={time}"):
            for limit in (50, 200):
                with self.subTest(bound=bound, limit=limit):
                    self.assertEqual(self.walk(f"order=asc&limit={limit}{bound}"), everything)
                    self.assertEqual(self.walk(f"limit={limit}{bound}"), everything[::-1])
        for limit in (1, 7):
            self.assertEqual(self.walk(f"order=asc&limit={limit}&around={middle}"), everything)
        # Bounded on both sides, pages end at the bounds.
        start, end = messages[20], messages[180]
        by_id = list(range(22, 181))
        by_time = [it["seq"] for it in messages if start["created_at"] < it["created_at"] < end["created_at"]]
        for bounds, seqs in ((f"&after={start['id']}&before={end['id']}", by_id),
                             (f"&after_time={start['created_at']}&before_time={end['created_at']}", by_time)):
            with self.subTest(bounds=bounds):
                self.assertEqual(self.walk(f"order=asc&limit=50{bounds}"), seqs)
                self.assertEqual(self.walk(f"limit=50{bounds}"), seqs[::-1])


if __name__ == "__main__":
    unittest.main()
