// Searches of cached messages by their times.

import assert from 'node:assert/strict';
import test from 'node:test';

import { searchCache } from '../../../Public/js/parley/search.js';
import { memoryStore, put } from '../../../Public/js/parley/store.js';

const times = ['09:00:40.999', '09:00:41.000', '09:00:41.500', '09:00:42.000'];

async function planted() {
  const store = memoryStore();
  await store.update([], () =>
    times.map((time, at) =>
      put('messages', { conversation_id: '7', seq: at + 1, id: String(100 + at), text: 'pizza', created_at: `2026-11-20T${time}Z` })));
  return store;
}

test('times are compared as times, not as text', async () => {
  const store = await planted();
  const seqs = async (search) => (await searchCache(store, ['7'], search)).map(({ seq }) => seq);
  const cases = [
    [{ after_time: '2026-11-20T09:00:41Z' }, [4, 3]],
    [{ after_time: '2026-11-20T09:00:41.000Z' }, [4, 3]],
    [{ after_time: '2026-11-20T10:00:41+01:00' }, [4, 3]],
    [{ before_time: '2026-11-20T09:00:42Z' }, [3, 2, 1]],
    [{ before_time: '2026-11-20T03:00:42-06:00' }, [3, 2, 1]],
    [{ after_time: '2026-11-20T09:00:41Z', before_time: '2026-11-20T10:00:42+01:00' }, [3]],
    // The wrong order, which as text would be the right one.
    [{ after_time: '2026-11-20T10:00:42+01:00', before_time: '2026-11-20T09:00:40.999Z' }, [3, 2]],
    [{ after_time: '2026-11-20T09:00:42Z', before_time: '2026-11-20T10:00:40+01:00' }, [3, 2, 1]],
    [{}, [4, 3, 2, 1]],
  ];
  for (const [search, found] of cases) assert.deepEqual(await seqs(search), found, JSON.stringify(search));
  await assert.rejects(seqs({ after_time: 'yesterday' }), RangeError);
});

test('the names of files are found', async () => {
  const store = memoryStore();
  const message = (seq, attachments) => put('messages', { conversation_id: '7', seq, id: String(seq), text: '', attachments, created_at: '2026-11-20T09:00:00Z' });
  await store.update([], () => [message(1, ['40']), message(2, ['41', '42']), message(3, [])]);
  const file_names = new Map([['40', 'Plan of the beds.pdf'], ['42', 'Übersicht.png']]);
  const seqs = async (search) => (await searchCache(store, ['7'], search)).map(({ seq }) => seq);
  assert.deepEqual(await seqs({ q: 'beds pdf', file_names }), [1]);
  assert.deepEqual(await seqs({ q: 'ubersicht', file_names }), [2]);
  assert.deepEqual(await seqs({ q: '-pdf', file_names }), [3, 2]);
  assert.deepEqual(await seqs({ q: 'beds' }), []);
});
