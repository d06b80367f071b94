// The types of the library, as a program uses them. The compiler checks this file; it is never run.

import { Client, Parley, forum as readForum, messages, sendAndWait, user as readUser } from '../../../Public/js/parley/parley.js';
import { upload } from '../../../Public/js/parley/upload.js';
import type { Calls, Message, OwnConversation } from '../../../Public/js/parley/api.js';
import type { endpoints } from '../../../Public/js/parley/endpoints.js';

type IsAny<T> = 0 extends 1 & T ? true : false;
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** The calls with `any` as answer or as options, of which there are none. */
type Untyped = {
  [Name in keyof Calls]: true extends IsAny<Awaited<ReturnType<Calls[Name]>>> | IsAny<Parameters<Calls[Name]>[0]> ? Name : never;
}[keyof Calls];
export const allAreTyped: Same<Untyped, never> = true;
export const eachEndpointIsACall: Same<keyof Calls, keyof typeof endpoints> = true;

export async function use(client: Client, parley: Parley, signal: AbortSignal): Promise<void> {
  const { calls } = client;

  const { data, next } = await calls.listMessages({ id: '12', query: { order: 'asc', next: null }, signal });
  const texts: (string | undefined)[] = data.map((message: Message) => message.text);
  await calls.listMessages({ id: '12', query: { next, limit: texts.length }, tries: 1 });
  const forum = await parley.client.calls.createForum({ body: { title: 'Garden', visibility: 'members' } });
  const room: string = forum.room_id;
  const nothing: undefined = await calls.cancelUpload({ id: '9' });
  const found = await calls.getConversation({ id: '12' });
  const own: number | undefined = (found as OwnConversation).unread_count;
  const me = await calls.getUser({ id: 'me' });
  const server = await calls.getServer();
  await calls.postMessage({ id: room, body: { text: `${me.name} on ${server.name}`, client_id: `${nothing} ${own}` } });

  const titles: (string | null)[] = [...parley.conversations, ...parley.forums].map(({ title }) => title);
  const view = parley.window('12', (window, deltas) => titles.push(...deltas.map(({ item }) => item.message.text ?? window.conversation)));
  const [{ message: shown, operations }] = view.items;
  await parley.edit(shown, { text: `${shown.seq} ${operations.length}` });
  const off: () => void = parley.on('failed', ({ operation, problem }) => titles.push(operation.id, problem.code));
  parley.on('event', (event) => event.event === 'message.created' && titles.push(event.data.id));
  parley.on('sent', ({ message }) => message && titles.push(message.id));
  const name: string | null | undefined = (await readUser(parley, '7').fresh()).name;
  for await (const { value, isFresh } of messages(parley, '12')) titles.push(value[0].text ?? `${isFresh}`);
  const [sent] = await sendAndWait(parley, '12', { text: 'pizza party!' });
  const file = await upload(client, new Blob());
  titles.push(name ?? sent.id, file.mime_type, parley.draft<{ text: string }>('12')?.text ?? null);
  off();

  // @ts-expect-error An unknown member of a cached forum.
  parley.forums[0].name.trim();
  // @ts-expect-error An unknown member of a cached conversation.
  parley.conversations[0].name.trim();
  // @ts-expect-error An unknown event.
  parley.on('changes', () => undefined);
  // @ts-expect-error An unknown member of what an event has.
  parley.on('sent', ({ text }) => text);
  // @ts-expect-error A message that is not sent yet has no id.
  view.items[0].message.id.trim();
  // @ts-expect-error An unknown member of a message.
  await parley.send('12', { body: 'pizza party!' });
  // @ts-expect-error An unknown member of an answer of a cached query.
  (await readForum(parley, '3').fresh()).name.trim();
  // @ts-expect-error A missing parameter of the path.
  await calls.getForum({});
  // @ts-expect-error No options, although the path has a parameter.
  await calls.getForum();
  // @ts-expect-error A wrong type of a parameter.
  await calls.getForum({ id: 3 });
  // @ts-expect-error An unknown value of an enumeration.
  await calls.createForum({ body: { title: 'Garden', visibility: 'hidden' } });
  // @ts-expect-error A missing member of a body.
  await calls.createForum({ body: { visibility: 'members' } });
  // @ts-expect-error An unknown member of a body.
  await calls.postMessage({ id: '12', body: { message: 'pizza party!' } });
  // @ts-expect-error A missing parameter of the query.
  await calls.getMessages({ query: {} });
  // @ts-expect-error An unknown parameter of the query.
  await calls.listForums({ query: { page: 2 } });
  // @ts-expect-error An unknown member of an answer.
  forum.name.trim();
  // @ts-expect-error A text that a tombstone does not have.
  (await calls.getMessage({ id: '1042' })).text.trim();
  // @ts-expect-error An unknown call.
  await calls.getForums();
}
