import { describe, expect, it } from 'vitest';
import {
  allTextOf,
  contentOf,
  headingsOf,
  isElsewhere,
  namesHost,
  quotes,
  textOf,
  withoutInput,
} from './error-text.ts';

describe('O2: the text of an error', () => {
  it.each<[string, unknown]>([
    ['x', 'x'],
    ['x', new Error('x')],
    ['x\ny', { content: [{ type: 'text', text: 'x' }, { type: 'image' }, { type: 'text', text: 'y' }] }],
    ['x', { content: 'x' }],
    ['no', { error_description: 'no' }],
    ['no', { error_message: 'no' }],
    ['no', { errorMessage: 'no' }],
    ['why\nGone', { title: 'Gone', detail: 'why' }],
    ['no', { description: 'no' }],
    ['no', { reason: 'no' }],
    ['no', { statusText: 'no' }],
    ['x', { message: 'x', detail: 'y' }],
    ['', { message: 5 }],
    ['', undefined],
    ['Command failed: \nout', Object.assign(new Error('Command failed: ls -l\nout'), { cmd: 'ls -l' })],
    ['Command failed: ls', Object.assign(new Error('Command failed: ls'), {})],
    ['x: ls', Object.assign(new Error('x: ls'), { cmd: 'ls' })],
    ['Command failed: ', Object.assign(new Error('Command failed: ls $&'), { command: 'ls $&' })],
    ['Command failed: ', Object.assign(new Error('Command failed: a b'), { escapedCommand: 'a b', cmd: 'b' })],
    ['\nout', Object.assign(new Error('Command failed: ls\nout'), { pid: 7 })],
    ['', Object.assign(new Error('Command failed: ls'), { pid: 7 })],
  ])('O2: %j', (wanted, error) => expect(textOf(error)).toBe(wanted));

  it('O2: advice is not part of it, and it ends after 4,096 characters', () => {
    expect(textOf('no\n<breakerbox>wait</breakerbox>').trim()).toBe('no');
    expect(textOf(new Error('no\n<breakerbox>wait</breakerbox>')).trim()).toBe('no');
    expect(textOf('x'.repeat(5000))).toHaveLength(4096);
    expect(contentOf(Array.from({ length: 20 }, () => ({ text: 'x' })))).toHaveLength(31);
    expect(contentOf([{ text: 'x'.repeat(4000) }, { text: 'y'.repeat(4000) }])).toHaveLength(4096);
  });

  it('O2: all its text includes the body of the answer', () => {
    const error = { message: 'a', name: 'b', response: { data: { errors: [{ reason: 'c' }, 'd'] } }, other: 'no' };
    expect(allTextOf(error)).toBe('a\nb\nd\nc');
    for (const key of [
      'error',
      'body',
      'responseBody',
      'raw',
      'detail',
      'details',
      'type',
      'rawType',
      'code',
      'decline_code',
    ])
      expect([key, allTextOf({ [key]: 'x' })]).toEqual([key, 'x']);
    expect(allTextOf({ code: 5 })).toBe('');
    const cyclic: Record<string, unknown> = { message: 'x' };
    cyclic.error = cyclic;
    expect(allTextOf(cyclic).split('\n').length).toBeLessThan(64);
  });
});

describe('O2a: a text that quotes a word', () => {
  it.each<[boolean, string, string[]]>([
    [true, 'Oslo is down', ['Oslo']],
    [true, 'Is it (Oslo)?', ['Rome', 'Oslo']],
    [true, 'down: Oslo', ['Oslo']],
    [false, 'Oslos is down', ['Oslo']],
    [false, 'xOslo is down', ['Oslo']],
    [false, 'oslo is down', ['Oslo']],
    [false, 'down', []],
  ])('O2a: %j: %s %j', (wanted, text, words) => expect(quotes(text, words)).toBe(wanted));

  it.each<[string, string, string[]]>([
    ['no … in …', 'no a.bc in a.bc', ['a.bc']],
    ['no a.b', 'no a.b', ['a.b']],
    ['it failed', 'it failed', ['failed']],
    ['no Oslo', 'no Oslo', ['Oslo']],
    ['no …', 'no unbreakable', ['unbreakable']],
    ['no unbroken', 'no unbroken', ['unbroken']],
    ['no …', 'no failures__', ['failures__']],
    ['no unbroke', 'no unbroke', ['unbroke']],
    ['forbidden', 'forbidden', ['forbidden']],
  ])('O2: %s: %s without %j', (wanted, text, input) => expect(withoutInput(text, input)).toBe(wanted));
});

describe('O9: the page of a proxy', () => {
  const page = (title: string, body = '') => `<html><head><title>${title}</title></head><body>${body}</body></html>`;
  it.each<[string | undefined, string]>([
    ['502 Bad Gateway', page('502 Bad Gateway')],
    ['404 Not Found', page(' 404 Not Found ')],
    ['503', `<!DOCTYPE html>\n<html>\n<head>\n<title>503</title>\n${' '.repeat(500)}</head></html>`],
    [
      '503 x',
      `<head><title>503 x</title><style>${'a{} '.repeat(200)}</style><script>${'a();'.repeat(200)}</script></head>`,
    ],
    ['503 x', page('503 x', '<p class="a">'.repeat(100))],
    [undefined, page('503 x', 'word '.repeat(80))],
    [undefined, page('503 x', 'abc '.repeat(80))],
    ['503 x', page('503 x', 'abc '.repeat(70))],
    ['Error, Internal Server Error', page('Error', '<pre>Internal Server Error</pre>')],
    ['503 Service Unavailable', '<html><body><h1>503 Service Unavailable</h1>\nNo server.</body></html>'],
    [undefined, '<html><h2>503</h2>'],
    [undefined, page('')],
    [undefined, page('5')],
    ['x'.repeat(90), page('x'.repeat(90))],
    [undefined, page('x'.repeat(91))],
    [undefined, `x ${page('502 Bad Gateway')}`],
    [undefined, '502 Bad Gateway'],
  ])('O9: %s', (wanted, text) => expect(headingsOf(text).join(', ') || undefined).toBe(wanted));
});

describe('C14: hosts in a text', () => {
  it.each<[boolean, string]>([
    [true, 'getaddrinfo ENOTFOUND a.example'],
    [true, 'lookup a.example on 10.0.0.1:53'],
    [true, 'GET https://a.example/x'],
    [true, 'connect to a.example:8080'],
    [true, "host='a.example', port=443"],
    [false, 'connect ECONNREFUSED 10.0.0.1:80'],
    [false, 'connect ECONNREFUSED ::1:80'],
    [false, 'GET http://127.0.0.1/x'],
    [false, 'GET http://localhost/x'],
    [false, 'see https://docs.example/x'],
    [false, 'the a.example'],
  ])('C14: %j: %s', (wanted, text) => expect(namesHost(text)).toBe(wanted));

  it.each<[boolean, string, string]>([
    [false, 'http://a.example/', 'connect ECONNREFUSED 10.0.0.1:80'],
    [true, 'http://a.example/', 'connect ECONNREFUSED 10.0.0.1:81'],
    [false, 'https://a.example/', 'connect ETIMEDOUT 10.0.0.1:443'],
    [true, 'https://a.example/', 'connect EHOSTUNREACH 10.0.0.1:80'],
    [false, 'ws://a.example/', 'connect ECONNREFUSED 10.0.0.1:80'],
    [false, 'wss://a.example/', 'connect ECONNREFUSED 10.0.0.1:443'],
    [true, 'ws://a.example/', 'connect ECONNREFUSED 10.0.0.1:81'],
    [true, 'wss://a.example/', 'connect ECONNREFUSED 10.0.0.1:80'],
    [false, 'tcp://a.example', 'connect ECONNREFUSED 10.0.0.1:5432'],
    [true, 'tcp://a.example:1', 'connect ECONNREFUSED 10.0.0.1:5432'],
    [false, 'http://a.example/', 'connect ECONNREFUSED 10.0.0.1'],
    [true, 'http://10.0.0.2/', 'connect ECONNREFUSED 10.0.0.1'],
    [false, 'http://10.0.0.1/', 'connect ECONNREFUSED 10.0.0.1:80'],
    [true, 'http://a.example/', 'lookup b.example'],
    [false, 'http://a.example/', 'lookup A.example'],
    [false, 'http://a.example/', 'lookup www.a.example'],
    [true, 'http://a.example/', 'lookup xa.example'],
    [false, 'http://www.a.example/', 'https://a.example/'],
    [false, 'http://a.example/', 'host unknown'],
    [true, 'http://a.example/', 'localhost refused'],
    [false, 'http://localhost:99/', 'localhost:99 refused'],
    [true, 'http://localhost:99/', 'localhost:98 refused'],
    [true, 'http://a.example/', 'host b.example, port 80'],
    [true, 'http://a.example/', "(host='a.example', port=8080)"],
    [false, 'http://[::1]:80/', 'connect ECONNREFUSED ::1:80'],
    [true, 'http://[::2]/', 'connect to [::1]:80'],
    [true, 'http://[::2]/', 'the proxy at [::1] refused'],
    [false, 'http://[fe80:1::abc]/', 'connect ETIMEDOUT fe80:1::abc'],
    [true, 'http://a.example/', 'host a.example port 81'],
    [true, 'http://a.example/', 'lookup b.host1'],
    [true, 'http://a.example/', 'lookup 3d.example'],
    [true, 'http://a.example/', 'GET http://b.example/x'],
    [true, 'http://a.example/', 'dial tcp b.example'],
    [false, 'http://a.example/', 'GET http://a.example/x: 503, made by https://b.example/'],
    [false, 'http://a.example/', '503 <a href="https://b.example/">'],
    [true, 'http://a.example/', "503 for url 'https://b.example/'"],
    [true, 'http://a.example/', 'GET http://a.example/x: lookup b.example'],
    [true, 'http://localhost:1/', 'GET http://localhost:2/x'],
    [true, 'http://a.example/', 'GET http://a.example:81/x'],
    [false, 'http://a.example/', 'dial tcp: lookup a.example'],
    [false, 'http://a.example/', 'check out https://b.example/x'],
    [false, 'http://a.example/', 'For more information: https://b.example/x'],
    [false, 'http://a.example/', 'redirected to https://b.example/x'],
    [true, 'http://a.example/', 'a redirect happened, and then came https://b.example/x'],
  ])('C14: elsewhere: %j: %s: %s', (wanted, url, text) => expect(isElsewhere(text, new URL(url))).toBe(wanted));
});
