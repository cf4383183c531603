import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shownWords } from './shown-entry.ts';
import { machine } from './test-support-install.ts';

/** Secrets as people write them. Each has this in it, which nothing else of an entry has. */
const PLANT = 'pLaNt';
const secret = fc
  .tuple(fc.constantFrom('', 'sk-', '-', 'a/', 'a=', 'a:', 'ü'), fc.constantFrom('', '=', '/x', '-9', '%40'))
  .map(([before, after]) => `${before}${PLANT}${after}`);
const inAddress = secret.filter((one) => !/[/]/.test(one));
const option = fc
  .tuple(
    fc.constantFrom('-', '--'),
    fc.constantFrom(
      'api-key',
      'apiKey',
      'token',
      'access_token',
      'client-secret',
      'password',
      'pass',
      'pwd',
      'auth',
      'credentials',
    ),
  )
  .map((parts) => parts.join(''));
const scheme = fc.constantFrom('postgresql', 'redis', 'mongodb+srv', 'https', 'jdbc:mysql');
const header = fc
  .tuple(fc.constantFrom('Authorization: Bearer ', 'X-Api-Key: ', 'Cookie:', 'X-Other: '), secret)
  .map((parts) => parts.join(''));

/** Words of a command line that give a secret. */
const planted = fc.oneof(
  fc.tuple(option, secret).map((words) => words),
  fc.tuple(option, secret).map((words) => [words.join('=')]),
  fc.tuple(fc.constantFrom('-H', '--header'), header).map((words) => words),
  header.map((one) => [`--header=${one}`]),
  header.map((one) => [`-H${one}`]),
  fc.tuple(scheme, inAddress).map(([name, one]) => [`${name}://bob:${one}@db:5432/prod?sslmode=require`]),
  fc.tuple(scheme, inAddress).map(([name, one]) => [`--url=${name}://${one}@db/prod`]),
  fc.tuple(scheme, secret).map(([name, one]) => [`${name}://db/prod?a=1&x=${one}#${one}`]),
  secret.map((one) => ['-e', `API_KEY=${one}`]),
  secret.map((one) => ['-c', `TOKEN="${one}" exec server --port 1`]),
  secret.map((one) => ['--json', `{ "password": "${one}" }`]),
);
const harmless = fc.constantFrom('-y', '--port', '8080', '@scope/server@1.2.3', '/home/me', '--', 'https://a.test/mcp');
const commandLine = fc
  .tuple(fc.array(fc.oneof({ weight: 2, arbitrary: harmless.map((one) => [one]) }, planted), { maxLength: 6 }), planted)
  .map(([words, last]) => [...words, last].flat());

const server = fc.oneof(
  fc.record({
    command: fc.constant('npx'),
    args: commandLine,
    env: fc.dictionary(fc.constantFrom('A', 'B'), secret),
    nested: fc.record({ auth: fc.record({ value: secret, more: fc.tuple(secret) }), apiToken: secret }),
  }),
  fc.record({
    type: fc.constant('http'),
    url: fc.tuple(inAddress).map(([one]) => `https://a.test/mcp?x=${one}`),
    headers: fc.dictionary(
      fc.constantFrom('X-A', 'X-B'),
      secret.filter((one) => !one.includes('ü')),
    ),
  }),
);

test('M8: no secret of an entry is printed, whatever the layout', async () => {
  const at = machine();
  await fc.assert(
    fc.asyncProperty(
      fc.array(server, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(undefined, 2),
      secret,
      async (servers, indent, comment) => {
        const all = Object.fromEntries(servers.map((one, index) => [`s${index}`, one]));
        const text = JSON.stringify({ mcpServers: all }, null, indent);
        at.put('.claude.json', text.replaceAll('"args":', `/* token: ${comment} */ "args":`));
        for (const command of ['install', 'uninstall'])
          for (const more of [[], ['--json'], ['--write']]) {
            const { code, out, err } = await at.run(command, '--client', 'claude-code', ...more);
            expect({ code, err }).toEqual({ code: 0, err: '' });
            expect(out).not.toContain(PLANT);
          }
      },
    ),
    { numRuns: 100 },
  );
});

test('M8: no secret in the options of the relay is printed', async () => {
  const at = machine({ env: { VARIABLE: 'x' } });
  at.put('.claude.json', '{"mcpServers":{"a":{"type":"http","url":"https://a.test/mcp","headers":{"A":"b"}}}}');
  for (const more of [[], ['--json'], ['--write'], ['--write']]) {
    const words = ['--header', `Authorization: Bearer ${PLANT}`, `--header=X-Key: ${PLANT}`];
    const { code, out } = await at.run('install', '--client', 'claude-code', ...more, '--', ...words);
    expect(code).toBe(0);
    expect(out).not.toContain(PLANT);
  }
});

test('M8: words that hold no secret are shown', () => {
  const words = [
    '-y',
    'breakerbox@1.2.3',
    'mcp',
    '--restart',
    '--header-env',
    'X-Key=BREAKERBOX_HEADER_X_KEY',
    '--',
    'C:\\x',
  ];
  expect(shownWords(words)).toEqual(words);
  expect(
    shownWords(['postgresql://bob:hunter2@db/prod?sslmode=require', 'redis://h/1', '--token=t', '-p', '80']),
  ).toEqual(['postgresql://…@db/prod?…', 'redis://h/1', '--token=…', '-p', '80']);
});
