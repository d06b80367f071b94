// The library has one call for each operation of openapi.json, apart from the exceptions below.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { endpoints } from '../../../Public/js/parley/endpoints.js';

const description = JSON.parse(readFileSync(new URL('../../../Public/openapi.json', import.meta.url), 'utf8'));
// No call: these return bytes or keep the connection open.
const others = /\/(content|preview|picture)$|^GET \/(events|realtime|openapi\.json)$|^(HEAD|PATCH) \/uploads|^POST \/files$/;
const described = Object.entries(description.paths).flatMap(([path, operations]) =>
  Object.keys(operations).filter((method) => method !== 'parameters').map((method) => `${method.toUpperCase()} ${path}`),
);

test('every operation has a call', () => {
  const called = new Set(Object.values(endpoints));
  assert.deepEqual(described.filter((operation) => !called.has(operation) && !others.test(operation)), []);
});

test('a call has the name of its operation', () => {
  const names = new Map(Object.entries(endpoints).map(([name, operation]) => [operation, name]));
  for (const [path, operations] of Object.entries(description.paths)) {
    for (const [method, { operationId }] of Object.entries(operations)) {
      const name = names.get(`${method.toUpperCase()} ${path}`);
      if (name !== undefined) assert.equal(name, operationId);
    }
  }
});

test('no operation has two calls', () => {
  assert.equal(new Set(Object.values(endpoints)).size, Object.keys(endpoints).length);
});
