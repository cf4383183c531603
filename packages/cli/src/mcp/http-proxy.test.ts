import { expect, test } from 'vitest';
import { proxyOf } from './http-proxy.ts';

const plain = new URL('http://mcp.example/mcp');
const secure = new URL('https://mcp.example/mcp');
const PROXY = 'http://proxy.example:3128';

test.each([
  ['without variables', secure, {}, {}],
  ['an empty variable', secure, { HTTPS_PROXY: ' ' }, {}],
  ['for https', secure, { HTTPS_PROXY: PROXY, HTTP_PROXY: 'http://other' }, { proxyEnv: { HTTPS_PROXY: PROXY } }],
  ['for http', plain, { HTTPS_PROXY: 'http://other', HTTP_PROXY: PROXY }, { proxyEnv: { HTTP_PROXY: PROXY } }],
  ['small letters win', plain, { http_proxy: PROXY, HTTP_PROXY: 'http://a' }, { proxyEnv: { HTTP_PROXY: PROXY } }],
  ['without http://', plain, { HTTP_PROXY: 'proxy.example:3128' }, { proxyEnv: { HTTP_PROXY: PROXY } }],
  [
    'NO_PROXY is given to Node',
    plain,
    { HTTP_PROXY: PROXY, NO_PROXY: '.example' },
    { proxyEnv: { HTTP_PROXY: PROXY, NO_PROXY: '.example' } },
  ],
  ['a server on this machine', new URL('http://[::1]:80/'), { HTTP_PROXY: PROXY }, {}],
  ['a server called localhost', new URL('https://localhost/'), { HTTPS_PROXY: PROXY }, {}],
])('M1: the proxy, %s', (_, url, environment, expected) => {
  expect(proxyOf(url, environment, true)).toEqual(expected);
});

test('M1: a proxy that cannot be used is named, and its password is not', () => {
  const socks = { HTTPS_PROXY: 'socks5://me:secret@proxy.example' };
  expect(proxyOf(secure, socks, true).problem).toBe(
    'The proxy of HTTPS_PROXY is not used: it is not the address of an HTTP proxy, such as http://proxy.example:3128.',
  );
  expect(proxyOf(secure, { HTTPS_PROXY: PROXY }, false).problem).toMatch(
    / is not used: Node \S+ cannot\. Use Node 24\.5/,
  );
});
