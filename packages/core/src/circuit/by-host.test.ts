import { describe, expect, test } from 'vitest';
import { byHost } from './by-host.ts';

describe('C14: byHost', () => {
  test.each([
    ['https://Example.COM/a?b', 'example.com'],
    ['http://example.com:8080/', 'example.com:8080'],
    ['https://example.com:443/', 'example.com'],
    ['http://[::1]:3000/x', '[::1]:3000'],
    ['postgres://db.internal:5432/x', 'db.internal:5432'],
    ['CUSTOM://Some.Host/x', 'some.host'],
    ['https://user:secret@example.com/', 'example.com'],
  ])('C14: the host of %s', (url, host) => {
    expect(byHost()({ url })).toBe(host);
    expect(byHost()(url)).toBe(host);
    expect(byHost('link')({ link: url, url: 'https://other.example' })).toBe(host);
  });

  test.each([
    '',
    'example.com/a',
    '/a',
    'http://',
    'data:text/plain,hi',
    'file:///etc/hosts',
    'mailto:a@example.com',
    7,
    null,
    ['https://example.com'],
  ])('C14: no key for %j', (url) => {
    expect(byHost()({ url })).toBeUndefined();
  });

  test('C14, E5: no arguments, and arguments that cannot be read, have none', () => {
    const unreadable = {
      get url() {
        throw new Error('unreadable');
      },
    };
    for (const input of [undefined, null, 'news of fuses', 7, {}, unreadable]) {
      expect(byHost()(input)).toBeUndefined();
    }
  });
});
