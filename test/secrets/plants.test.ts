import { expect, test } from 'vitest';
import { secretOf, secretsIn } from './plants.ts';

const secret = secretOf('a header');

test.each([
  ['as it is', secret],
  ['cut', secret.slice(0, 24)],
  ['as JSON', JSON.stringify({ error: secret })],
  ['in a URL', `https://host.example/?q=${encodeURIComponent(secret)}`],
  ['in capitals', secret.toUpperCase()],
  ['base64', Buffer.from(secret).toString('base64')],
  ['base64, shifted by one byte', Buffer.from(`x${secret}`).toString('base64')],
  ['base64url, shifted by two bytes', Buffer.from(`xy${secret}`).toString('base64url')],
  ['hex', Buffer.from(secret).toString('hex')],
  ['bytes', JSON.stringify([...Buffer.from(secret)])],
  ['UTF-16', Buffer.from(secret, 'utf16le').toString('latin1')],
  ['escaped', [...secret].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')],
])('a secret is found %s', (_, text) => {
  expect(secretsIn(`before ${text} after`, ['an argument', 'a header'])).toEqual(['a header']);
});

test('nothing is found in a text without a secret', () => {
  expect(secretsIn('breakerbox_decisions_total{gen_ai_tool_name="search"} 1', ['a header'])).toEqual([]);
});
