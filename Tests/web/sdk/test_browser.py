"""The client library in a browser: IndexedDB, several tabs, offline use, DOM nodes."""

import json
import re
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

from browsers import TIMEOUT, chromium
from servers import BUILD, PARLEY
from serving import ServingTest, parley

PASSWORD = "wool and needles"
SETUP = re.compile(r"/setup/([0-9a-f]{64})$", re.MULTILINE)
UNHURRIED = [part for kind in ("login", "registration", "sending", "writing")
             for part in (f"--rate-{kind}", "1000000", f"--rate-{kind}-burst", "1000000")]
# Helpers for every page of these tests.
READY = """async () => {
  window.library = await import('/js/parley/parley.js');
  window.until = async (holds, description) => {
    const deadline = performance.now() + 60000;
    for (;;) {
      const found = await holds();
      if (found) return found;
      if (performance.now() > deadline) throw new Error(`timed out waiting for ${description}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
}"""


class Browser(ServingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        program = PARLEY if PARLEY.exists() else BUILD / "debug" / "parley"
        command = (program, *parley(cls.folder, *UNHURRIED)[1:])
        cls.server = cls.enterClassContext(cls.start(*command))
        code = SETUP.search(cls.server.output())[1]
        cls.token = cls.call("POST", f"/links/{code}", {"name": "ada", "password": PASSWORD})["token"]
        cls.garden = cls.call("POST", "/conversations", {
            "kind": "channel", "type": "com.example.garden", "title": "garden"})["id"]
        for number in range(1, 61):
            cls.call("POST", f"/conversations/{cls.garden}/messages", {"text": f"seed {number}"})
        cls.browser = chromium()

    @classmethod
    def call(cls, method, path, body=None):
        headers = {"Content-Type": "application/json"}
        if token := getattr(cls, "token", None):
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(f"{cls.server.url}/api/v1{path}", data, headers, method=method), timeout=60) as answer:
            said = answer.read()
            return json.loads(said) if said else None

    def setUp(self):
        self.context = self.browser.new_context(service_workers="block")
        self.context.set_default_timeout(TIMEOUT)
        self.addCleanup(self.context.close)
        answer = self.context.request.post(
            f"{self.server.url}/api/v1/sessions", headers={"Origin": self.server.url},
            data={"name": "ada", "password": PASSWORD, "cookie": True})
        self.assertEqual(answer.status, 201, answer.text())

    def page(self):
        """An empty page of the site's origin with its CSP: a script shown as text."""
        page = self.context.new_page()
        page.goto(f"{self.server.url}/js/parley/parley.js")
        page.evaluate(READY)
        return page

    def opened(self):
        page = self.page()
        page.evaluate("async () => { window.parley = await library.Parley.open(); }")
        return page

    def texts(self, conversation):
        return [message["text"] for message in reversed(self.call("GET", f"/conversations/{conversation}/messages")["data"])]

    def channel(self, title):
        return self.call("POST", "/conversations", {
            "kind": "channel", "type": "com.example.garden", "title": title})["id"]

    def test_both_stores_behave_the_same(self):
        page = self.page()
        page.evaluate("""async () => {
          const { browserStore, memoryStore } = library;
          const row = (conversation, seq, more) =>
            ({ conversation_id: conversation, seq, id: `${conversation}0${seq}`, client_id: null, ...more });
          const put = (row) => ({ table: 'messages', key: [row.conversation_id, row.seq], row });
          const run = async (store) => {
            const results = [];
            const list = async (range) => results.push((await store.list('messages', range)).map(({ id }) => id));
            await store.update([], () => [row('1', 10), row('1', 2, { client_id: 'x' }), row('12', 1), row('1', 3)].map(put));
            await list();
            await list({ from: ['1', 0], to: ['1', 5] });
            await list({ from: ['1', 0], to: ['1', Infinity], newestFirst: true, limit: 2 });
            results.push(await store.get('messages@client', 'x'), await store.get('messages', ['1', 4]) ?? null);
            results.push(await store.get('messages@id', '1010'));
            const operation = (id, target) => ({ table: 'outbox', key: id, row: { id, target } });
            await store.update([], () => [operation('a', 'x'), operation('b', 'x'), operation('c', 'y'), operation('d')]);
            await store.update([['outbox@target', 'x'], ['outbox@target', 'z']], (found) => {
              results.push(found.map((rows) => rows.map(({ id }) => id)));
              return [{ table: 'outbox', key: 'a' }];
            });
            results.push(await store.get('outbox', 'a') ?? null);
            await store.update([['messages', ['1', 3]], ['site', 'cursor']], ([found, none]) => {
              results.push(found.id, none ?? null);
              return [put({ ...found, text: 'new' }), { table: 'site', key: 'cursor', row: { name: 'cursor', value: 'a.1' } },
                { table: 'messages', key: ['1', 2] }];
            });
            results.push(await store.get('messages', ['1', 3]), await store.get('site', 'cursor'));
            const refused = await store.update([], () => { throw new Error('no'); }).catch((error) => error.message);
            results.push(refused);
            await store.update([], () => [{ table: 'messages', from: ['1'], to: ['1', []] }]);
            await list();
            return results;
          };
          const stored = await browserStore('both');
          const [one, other] = [await run(memoryStore()), await run(stored)];
          if (JSON.stringify(one) !== JSON.stringify(other)) throw new Error(`${JSON.stringify(one)}\\n${JSON.stringify(other)}`);
          await stored.erase();
          if ((await indexedDB.databases()).some(({ name }) => name === 'both')) throw new Error('the database still exists');
        }""")

    def test_two_tabs_that_write_at_once_lose_no_changes(self):
        one, other = self.page(), self.page()
        count = """async () => {
          const store = await library.browserStore('counted');
          for (let round = 0; round < 200; round++) {
            await store.update([['site', 'count']], ([row]) =>
              [{ table: 'site', key: 'count', row: { name: 'count', value: (row?.value ?? 0) + 1 } }]);
          }
        }"""
        one.evaluate(f"() => {{ window.counting = ({count})(); }}")
        other.evaluate(count)
        one.evaluate("() => window.counting")
        self.assertEqual(one.evaluate(
            "async () => (await (await library.browserStore('counted')).get('site', 'count')).value"), 400)

    def test_the_cache_opens_offline(self):
        page = self.opened()
        page.evaluate(f"async () => {{ await parley.fetchAll('{self.garden}'); }}")
        page.evaluate("() => parley.close()")
        again = self.page()
        self.context.set_offline(True)
        shown = again.evaluate("""async (id) => {
          window.parley = await library.Parley.open();
          const view = parley.window(id, () => {});
          await view.latest();
          await parley.send(id, { text: 'said offline' });
          return { seqs: view.items.map(({ message }) => message.seq), states: view.items.map(({ state }) => state) };
        }""", self.garden)
        self.assertEqual(shown["seqs"], [*range(11, 61), None])
        self.assertEqual(shown["states"][-2:], ["sent", "pending"])
        again.close()
        self.context.set_offline(False)
        last = self.opened()
        last.evaluate("() => until(() => parley.state.waiting === 0, 'the outbox to be empty')")
        self.assertEqual(self.texts(self.garden)[-1], "said offline")

    def test_the_leader_tab_sends_and_another_takes_over(self):
        title = self.channel("tabs")
        first, second = self.opened(), self.opened()
        first.evaluate("() => until(() => parley.tabs.isLeader, 'the lead')")
        self.assertFalse(second.evaluate("() => parley.tabs.isLeader"))
        second.evaluate("""async (id) => {
          await parley.send(id, { text: 'from the second' });
          await until(() => parley.state.waiting === 0, 'the first tab to send it');
        }""", title)
        self.context.set_offline(True)
        for number in range(20):
            second.evaluate("([id, text]) => parley.send(id, { text })", [title, f"seed {number}"])
        first.close()
        second.evaluate("() => until(() => parley.tabs.isLeader, 'the lead')")
        self.context.set_offline(False)
        second.evaluate("""async () => {
          dispatchEvent(new Event('online'));
          await until(() => parley.state.waiting === 0, 'the outbox to be empty');
        }""")
        self.assertEqual(self.texts(title), ["from the second", *(f"seed {number}" for number in range(20))])

    def test_a_long_cached_conversation_opens_at_once(self):
        page = self.page()
        took, read = page.evaluate("""async () => {
          const { browserStore, Parley } = library;
          const store = await browserStore('long');
          const count = 20000;
          const row = (seq) => ({ table: 'messages', key: ['12', seq], row: {
            id: String(1000 + seq), conversation_id: '12', author_id: '8', client_id: null, seq, revision: 1, deleted: false,
            previous_message: seq > 1 ? String(999 + seq) : null, text: `seed ${seq} of many in the garden`, actions: {},
            attachments: [], reply_to: null, known: 1, actions_known: 1 } });
          for (let from = 1; from <= count; from += 1000) {
            await store.update([], () => Array.from({ length: 1000 }, (_, index) => row(from + index)));
          }
          await store.update([], () => [
            { table: 'history', key: '12', row: { id: '12', held: [[1, count]], state: 'complete', from: 1, checked: 0 } },
            { table: 'conversations', key: '12', row: { id: '12', kind: 'group', role: 'member', revision: 1, known: 1,
              last_seq: count, read_up_to: count, unread_count: 0 } },
          ]);
          store.close();
          const [took, read] = [{}, {}];
          let rows = 0;
          const timed = async (name, act) => {
            const started = performance.now();
            rows = 0;
            await act();
            took[name] = performance.now() - started;
            read[name] = rows;
          };
          const whole = await browserStore('long');
          const counted = {
            ...whole,
            list: async (table, range) => {
              const found = await whole.list(table, range);
              rows += found.length;
              return found;
            },
          };
          let parley, view;
          const fetch = () => Promise.reject(new TypeError('no network'));
          await timed('open', async () => { parley = await Parley.open({ store: counted, account: 'long', fetch }); });
          parley.client.tries = 1;
          view = parley.window('12', () => {});
          await timed('latest', () => view.latest());
          await timed('older', () => view.older());
          await timed('middle', () => view.around({ seq: 7000 }));
          if (view.items[0].message.seq !== 6975) throw new Error(`${view.items[0].message.seq}`);
          await timed('search', () => parley.searchCache({ q: '"seed 77"', conversation: '12' }));
          parley.close();
          return [took, read];
        }""")
        print({name: f"{time:.0f} ms, {read[name]} rows" for name, time in took.items()})
        for name in ("open", "latest", "older", "middle"):
            self.assertLess(read[name], 200, name)

    def test_a_queued_message_costs_the_same_in_a_short_and_in_a_long_outbox(self):
        page = self.page()
        costs = {}
        for count in (50, 500):
            conversation = self.channel(f"outbox of {count}")
            costs[count] = page.evaluate("""async ([id, count]) => {
              const cost = { requests: 0, rows: 0 };
              const restore = [];
              for (const [type, names] of [[IDBObjectStore, ['get', 'getAll', 'openCursor', 'put', 'delete']], [IDBIndex, ['get', 'getAll']]]) {
                for (const name of names) {
                  const call = type.prototype[name];
                  restore.push(() => { type.prototype[name] = call; });
                  type.prototype[name] = function (...parameters) {
                    const request = call.apply(this, parameters);
                    cost.requests++;
                    request.addEventListener('success', () => {
                      cost.rows += Array.isArray(request.result) ? request.result.length : 1;
                    });
                    return request;
                  };
                }
              }
              const parley = await library.Parley.open({ account: `outbox of ${count}` });
              await until(() => parley.state.connection === 'live', 'the connection to be live');
              parley.outbox.stop();
              for (let number = 0; number < count; number++) await parley.send(id, { text: `seed ${number}` });
              Object.assign(cost, { requests: 0, rows: 0 });
              const began = performance.now();
              parley.outbox.start();
              await until(() => parley.state.waiting === 0 && parley.conversation(id)?.last_seq === count, 'the messages to be sent');
              cost.milliseconds = performance.now() - began;
              for (const undo of restore) undo();
              await parley.erase();
              return cost;
            }""", [conversation, count])
        each = {count: {name: value / count for name, value in cost.items()} for count, cost in costs.items()}
        print("per message:", {count: {name: f"{value:.1f}" for name, value in cost.items()} for count, cost in each.items()})
        print(f"milliseconds per message, 500 queued to 50 queued: {each[500]['milliseconds'] / each[50]['milliseconds']:.2f}")
        self.assertLess(each[500]["requests"], 1.5 * each[50]["requests"])
        self.assertLess(each[500]["rows"], 1.5 * each[50]["rows"])

    def test_outbox_operations_and_confirmations_are_synchronized_with_the_disk(self):
        found = self.page().evaluate("""async (id) => {
          const durabilities = new Set();
          // Refetches may write other tables meanwhile.
          for (const name of ['put', 'delete']) {
            const write = IDBObjectStore.prototype[name];
            IDBObjectStore.prototype[name] = function (...parameters) {
              if (['drafts', 'outbox'].includes(this.name)) durabilities.add(this.transaction.durability);
              return write.apply(this, parameters);
            };
          }
          const during = async (act) => {
            durabilities.clear();
            await act();
            return [...durabilities];
          };
          const parley = await library.Parley.open({ account: 'durable' });
          await until(() => parley.state.connection === 'live', 'the connection to be live');
          parley.outbox.stop();
          const found = {
            draft: await during(() => parley.setDraft(id, { text: 'half' })),
            add: await during(() => parley.send(id, { text: 'durable' })),
            send: await during(async () => {
              parley.sync.stop();
              parley.outbox.start();
              await until(() => parley.state.waiting === 0, 'the answer');
            }),
          };
          await parley.erase();
          return found;
        }""", self.channel("durable"))
        self.assertEqual(found, {"draft": ["default"], "add": ["strict"], "send": ["strict"]})

    def test_a_draft_is_in_every_tab_and_survives_them(self):
        first, second = self.opened(), self.opened()
        first.evaluate("(id) => parley.setDraft(id, { text: 'not yet' })", self.garden)
        second.evaluate("(id) => until(() => parley.draft(id)?.text === 'not yet', 'the draft')", self.garden)
        first.close()
        second.close()
        self.assertEqual(self.opened().evaluate("(id) => parley.draft(id).text", self.garden), "not yet")

    def test_signing_out_erases_everything_in_every_tab(self):
        first, second = self.opened(), self.opened()
        first.evaluate("(id) => parley.fetchAll(id)", self.garden)
        second.evaluate("() => { window.isOut = false; parley.on('signedOut', () => { window.isOut = true; }); }")
        first.evaluate("() => parley.signOut()")
        second.evaluate("() => until(() => window.isOut, 'the other tab to be signed out')")
        self.assertEqual(first.evaluate("async () => (await indexedDB.databases()).map(({ name }) => name)"), [])
        self.assertEqual(first.evaluate("async () => (await fetch('/api/v1/users/me')).status"), 401)

    def test_a_revoked_session_leaves_only_sealed_unsent_messages_on_the_disk(self):
        page = self.page()
        # Another user of this device left a copy.
        page.evaluate("""async () => {
          const store = await library.browserStore(`parley ${location.origin} 4711`);
          await store.update([], () => [{ table: 'site', key: 'me', row: { name: 'me', value: { id: '4711' } } },
            { table: 'drafts', key: '1', row: { conversation_id: '1', value: { text: 'of another' } } },
            { table: 'users', key: '4711', row: { id: '4711', name: 'zoe' } }]);
          store.close();
        }""")
        page.evaluate("""async (id) => {
          window.parley = await library.Parley.open({ account: 'ada' });
          await until(() => parley.state.connection === 'live', 'the connection to be live');
          await parley.fetchAll(id);
          parley.outbox.stop();
          await parley.send(id, { text: 'unsent' }, [new File(['a file'], 'seeds.txt')]);
          window.isOut = false;
          parley.on('signedOut', () => { window.isOut = true; });
        }""", self.garden)
        rows = """async () => {
          const found = {};
          for (const { name } of await indexedDB.databases()) {
            const store = await library.browserStore(name);
            const tables = ['site', 'users', 'forums', 'conversations', 'messages', 'history', 'streams', 'receipts', 'relations',
              'inbox', 'outbox', 'drafts', 'files', 'sealed'];
            for (const table of tables) for (const row of await store.list(table)) (found[name.split(' ')[2]] ??= []).push([table, row.user_id]);
            store.close();
          }
          return found;
        }"""
        until = f"""async (wanted) => {{
          const rows = {rows};
          await until(async () => JSON.stringify(await rows()) === JSON.stringify(wanted), `the disk: ${{JSON.stringify(await rows())}}`);
        }}"""
        me = self.call("GET", "/users/me")["id"]
        for session in self.call("GET", "/sessions")["data"]:
            if not session["current"]:
                self.call("DELETE", f"/sessions/{session['id']}")
        page.evaluate("() => until(() => window.isOut, 'the end of the session')")
        page.evaluate(until, {"4711": [["sealed", "4711"]], "ada": [["sealed", me]]})

    def test_nodes_contain_only_text(self):
        html = self.page().evaluate("""() => {
          const { buildNodes, parseMarkup } = library;
          const box = document.createElement('div');
          const text = '**<img src=x onerror=alert(1)>** [a](https://example.org "t") `<b>`\\n- [x] done\\n\\n|a|b|\\n|-|:-:|\\n|1|2|';
          box.append(buildNodes(parseMarkup(text).children));
          return [box.innerHTML, box.querySelectorAll('img, script, b').length];
        }""")
        self.assertEqual(html[1], 0)
        self.assertIn('<a href="https://example.org" rel="nofollow noopener noreferrer ugc" title="t">a</a>', html[0])
        self.assertIn("<code>&lt;b&gt;</code>", html[0])
        self.assertIn('<td class="align-center">2</td>', html[0])


class EmptyPage(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Another site</title>")

    def log_message(self, *_):
        pass


class OtherOrigin(ServingTest):
    """Pages of two other sites, which import the library from the daemon. One of them is permitted."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.permitted, cls.refused = cls.site(), cls.site()
        cls.server = cls.enterClassContext(cls.start(*parley(cls.folder, "--cors-origin", cls.permitted, *UNHURRIED)))
        cls.setup = SETUP.search(cls.server.output())[1]
        cls.browser = chromium()

    @classmethod
    def site(cls):
        """The origin of a site with an empty page."""
        site = cls.enterClassContext(ThreadingHTTPServer(("127.0.0.1", 0), EmptyPage))
        threading.Thread(target=site.serve_forever, daemon=True).start()
        cls.addClassCleanup(site.shutdown)
        return f"http://127.0.0.1:{site.server_port}"

    def page(self, origin):
        context = self.browser.new_context()
        context.set_default_timeout(TIMEOUT)
        self.addCleanup(context.close)
        page = context.new_page()
        page.goto(origin)
        page.evaluate(READY.replace("/js/parley", f"{self.server.url}/js/parley"))
        return page

    def test_a_page_of_another_origin_signs_in_posts_and_receives(self):
        page = self.page(self.permitted)
        got = page.evaluate("""async ([url, code, password]) => {
          const { Client, Parley } = library;
          const visitor = new Client({ url });
          await visitor.calls.useLink({ code, body: { name: 'ada', password } });
          const { token } = await visitor.calls.signIn({ body: { name: 'ada', password } });
          const parley = await Parley.open({ url, token });
          await parley.ready;
          const { room_id: room } = await parley.client.calls.createForum({ body: { title: 'Garden', visibility: 'members' } });
          const other = await Parley.open({ url, token, account: 'other' });
          await until(() => [parley, other].every(({ state }) => state.connection === 'live'), 'the connections to be live');
          const heard = [];
          other.on('event', ({ event, data }) => event === 'message.created' && heard.push(data.text));
          await parley.send(room, { text: 'pizza party!' }, [new File(['a file'], 'seeds.txt')]);
          await until(() => heard.length > 0 && parley.state.waiting === 0, 'the message');
          const [message] = (await other.client.calls.listMessages({ id: room })).data;
          const [file] = (await other.client.calls.listFiles({ query: { ids: message.attachments[0] } })).data;
          for (const one of [parley, other]) one.close();
          return [heard, message.text, message.attachments.length, file.name];
        }""", [self.server.url, self.setup, PASSWORD])
        self.assertEqual(got, [["pizza party!"], "pizza party!", 1, "seeds.txt"])

    def test_a_page_of_an_origin_that_is_not_permitted_is_told_so(self):
        page = self.page(self.refused)
        page.evaluate("async (url) => { window.parley = await library.Parley.open({ url, token: 'parley_none' }); }", self.server.url)
        said = page.evaluate("() => parley.ready.then(() => 'ready', ({ code, message }) => [code, message])")
        self.assertEqual(said, ["origin_not_allowed", f"the server needs --cors-origin {self.refused} [origin_not_allowed]"])

    def test_a_permitted_origin_is_not_the_reason_of_a_failed_request(self):
        page = self.page(self.permitted)
        codes = page.evaluate("""async (url) => {
          const failing = [
            () => Promise.reject(new TypeError('no network')),
            async () => new Response('{"id": ', { status: 200 }),
            async () => new Response('<p>Sign in</p>', { status: 200, headers: { 'Content-Type': 'text/html' } }),
          ];
          return Promise.all(failing.map(async (answer) => {
            const fetch = (address, options) =>
              address.includes('/users/') ? answer() : globalThis.fetch(address, options);
            const client = new library.Client({ url, token: 'parley_none', fetch, tries: 1 });
            return client.calls.getUser({ id: 'me' }).then(() => 'answered', ({ code }) => code);
          }));
        }""", self.server.url)
        self.assertEqual(codes, ["network"] * 3)


if __name__ == "__main__":
    unittest.main()
