import { expect, test } from 'vitest';
import { formatMessage, parseMessage, plainMarkup } from './message.ts';

const text = [
  '1 firing, 1 resolved, job breakerbox · <https://example.org/a-runbook-whose-address-is-longer-than-a-line.md|Runbook>',
  '• 1 circuit of tool a_b_c is open &amp; skipped, which takes more than a line of this width',
  '  _BreakerboxCircuitOpen_ · <http://localhost:3000/d/x?a=1&amp;b=2|Dashboard> · <https://example.org/x.md|Runbook>',
  '*No longer:*',
  '• lookup: Nov 20 18:00 to 18:07 UTC',
].join('\n');

const body = (attachment: unknown): string => JSON.stringify({ username: 'Breakerbox', attachments: [attachment] });

test("reads Alertmanager's messages for Slack", () => {
  const sent = { title: 'Warning: it is out', text, title_link: 'http://localhost:3000/d/x', color: '#E69F00' };
  expect(parseMessage(body(sent))).toEqual({
    title: 'Warning: it is out',
    text,
    link: 'http://localhost:3000/d/x',
    color: '#E69F00',
  });
  expect(parseMessage(body({ title: 'a', text: '' }))).toMatchObject({ link: '', color: '' });
});

test.each(['no JSON', 'null', '{}', '{"attachments":[]}', body({ title: 'a' })])('%s is not a message', (given) => {
  expect(() => parseMessage(given)).toThrow();
});

test('removes marks and entities, and keeps names with underscores', () => {
  expect(plainMarkup('*a b* and _c_ of a_b_c: &lt;x&gt; &amp;lt;')).toBe('a b and c of a_b_c: <x> &lt;');
});

test('puts each link on a line of its own on a terminal', () => {
  expect(formatMessage({ title: 'Warning: &lt;it&gt; &amp; _that_ is out', text, link: '', color: '' }, 60)).toBe(
    [
      'Warning: <it> & _that_ is out',
      '  1 firing, 1 resolved, job breakerbox',
      '  Runbook https://example.org/a-runbook-whose-address-is-longer-than-a-line.md',
      '  • 1 circuit of tool a_b_c is open & skipped, which takes',
      '    more than a line of this width',
      '    BreakerboxCircuitOpen',
      '    Dashboard http://localhost:3000/d/x?a=1&b=2',
      '    Runbook https://example.org/x.md',
      '  No longer:',
      '  • lookup: Nov 20 18:00 to 18:07 UTC',
    ].join('\n'),
  );
});
