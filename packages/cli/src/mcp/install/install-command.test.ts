import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import jsonc from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import { ChangedBetween, readConfig, replaceConfig } from './config-file.ts';
import { faultInFile } from './file-faults.ts';
import { folderWithCommand, type Machine, machine } from './test-support-install.ts';

const DESKTOP = '.config/Claude/claude_desktop_config.json';
const CODE = '.claude.json';

/** As people write it: comments, a comma too many, fields that only the client knows. */
const FILES = `{
  // where my servers are
  "theme": "dark", /* keep */
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me"], // my home
      "env": { "TOKEN": "secret" },
      "timeout": 60, "unknown": { "deep": [1, 2.50, 1e3] },
    },
    "bare": { "command": "my-server" },
    "empty":{"args":[ ],"command":"other-server"}
  },
  "after": null
}
`;

const WRAPPED_FILES = FILES.replace(
  '["-y", "@model',
  '["-y", "breakerbox@1.2.3", "mcp", "--restart", "--", "npx", "-y", "@model',
)
  .replace(
    '{ "command": "my-server" }',
    '{ "command": "npx", "args": ["-y", "breakerbox@1.2.3", "mcp", "--restart", "--", "my-server"] }',
  )
  .replace(
    '"args":[ ],"command":"other-server"',
    '"args":[ "-y", "breakerbox@1.2.3", "mcp", "--restart", "--", "other-server"],"command":"npx"',
  );

const install = (at: Machine, client = 'claude-desktop', ...args: string[]) =>
  at.run('install', '--client', client, '--write', ...args);
const uninstall = (at: Machine, client = 'claude-desktop', ...args: string[]) =>
  at.run('uninstall', '--client', client, '--write', ...args);
const filesBeside = (path: string) => readdirSync(dirname(path)).sort();

describe('what is printed', () => {
  test('M8: the change is printed and nothing is changed', async () => {
    const at = machine();
    const path = at.put(DESKTOP, FILES);
    const { code, out } = await at.run('install', '--client', 'claude-desktop', '--server', 'files');
    expect(code).toBe(0);
    expect(out).toBe(`${path}
@@ mcpServers.files @@
-       "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me"], // my home
+       "args": ["-y", "breakerbox@1.2.3", "mcp", "--restart", "--", "npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/me"], // my home
Nothing was changed. Add --write to make this change.
`);
    expect(at.read(path)).toBe(FILES);
    expect(filesBeside(path)).toEqual(['claude_desktop_config.json']);
  });

  test('M8: no value of the environment or of a header is printed', async () => {
    const at = machine();
    at.put(
      CODE,
      '{"mcpServers":{"a":{"command":"x","env":{"TOKEN":"secret-1"}},"b":{"type":"http","url":"https://a.test/mcp","headers":{"X-Key":"secret-2"}}}}',
    );
    for (const more of [[], ['--json']]) {
      const { out } = await at.run('install', '--client', 'claude-code', ...more);
      expect(out).toContain('BREAKERBOX_HEADER_X_KEY');
      expect(out).not.toContain('secret');
    }
  });

  test('M8: no password and no query of an address is printed', async () => {
    const at = machine();
    at.put(
      CODE,
      String.raw`{"mcpServers":{"a":{"type":"http","url":"https://a.test/mcp?key=secret-2"},"b":{"command":"npx","args":["mcp-remote","https://me:secret-1@b.test/mcp?key=secret-3"]},"c":{"type":"http","url":"https:\/\/c.test\/mcp?key=secret-4"}}}`,
    );
    for (const more of [[], ['--json']]) {
      const { out } = await at.run('install', '--client', 'claude-code', '--server', 'a', 'b', 'c', ...more);
      expect(out).toContain('https://a.test/mcp?…');
      expect(out).toContain('https://…@b.test/mcp?…');
      expect(out).not.toContain('secret');
    }
  });

  test('M8: with --json, a script reads what would change', async () => {
    const at = machine();
    const path = at.put(CODE, '{"mcpServers":{"a":{"command":"x"},"b":{}}}');
    const { out } = await at.run('install', '--client', 'claude-code', '--json');
    expect(JSON.parse(out)).toEqual({
      files: [
        {
          path,
          written: false,
          servers: [
            { name: 'a', path: 'mcpServers.a', result: 'changed', lines: expect.any(Array) },
            {
              name: 'b',
              path: 'mcpServers.b',
              result: 'left',
              reason: "it has neither 'command' nor 'url'.",
              lines: [],
            },
          ],
        },
      ],
    });
  });

  test('M8: tabs of the file are printed as tabs', async () => {
    const at = machine();
    at.put(CODE, '{"mcpServers":{\n\t"a": {\n\t\t"command": "x"\n\t}\n}}');
    expect((await at.run('install', '--client', 'claude-code')).out).toContain(
      '\n- \t\t"command": "x"\n+ \t\t"command": "npx",\n+ \t\t"args": ["-y",',
    );
  });

  test('M8: a launcher that uninstall would not recognize is not written', async () => {
    const at = machine({ main: '/elsewhere/start.js' });
    at.put(CODE, '{"mcpServers":{"a":{"command":"x"}}}');
    expect(await install(at, 'claude-code', '--launcher', 'node')).toMatchObject({
      code: 1,
      err: expect.stringContaining('cannot be changed safely'),
    });
  });

  test('M8: names with control characters do not reach the terminal', async () => {
    const at = machine();
    at.put(CODE, '{"mcpServers":{"a\\u001b[2J":{"command":"x"}, "b":{"command":"y\u001b[31m"}}}');
    const { out } = await at.run('install', '--client', 'claude-code');
    expect(out).not.toContain('\u001b');
  });
});

describe('what is written', () => {
  test('M8: comments, fields, order and formatting stay, and uninstall gives the same bytes', async () => {
    const at = machine();
    const path = at.put(DESKTOP, FILES);
    chmodSync(path, 0o640);
    const { code, out } = await install(at);
    expect(code).toBe(0);
    expect(at.read(path)).toBe(WRAPPED_FILES);
    expect(at.read(`${path}.breakerbox-backup`)).toBe(FILES);
    expect([statSync(path).mode & 0o777, statSync(`${path}.breakerbox-backup`).mode & 0o777]).toEqual([0o640, 0o640]);
    expect(out).toContain(`Written. The file as it was is ${path}.breakerbox-backup.\nQuit Claude Desktop`);
    expect(await uninstall(at)).toMatchObject({
      code: 0,
      out: expect.stringContaining('Written. The backup is removed.'),
    });
    expect(at.read(path)).toBe(FILES);
    expect(filesBeside(path)).toEqual(['claude_desktop_config.json']);
  });

  test('M8: line ends, tabs and a byte order mark stay', async () => {
    const at = machine();
    const source = `\uFEFF${FILES.replaceAll('\n', '\r\n').replaceAll('  ', '\t')}`;
    const path = at.put(DESKTOP, source);
    await install(at);
    const made = at.read(path);
    expect(made).toBe(`\uFEFF${WRAPPED_FILES.replaceAll('\n', '\r\n').replaceAll('  ', '\t')}`);
    await uninstall(at);
    expect(at.read(path)).toBe(source);
  });

  test('M8: arguments on lines of their own stay so', async () => {
    const at = machine();
    const source = `{\n  "mcpServers": {\n    "a": {\n      "command": "uvx",\n      "args": [\n        "x",\n        "--flag"\n      ]\n    },\n    "b": {\n      "command": "y"\n    }\n  }\n}`;
    const path = at.put(DESKTOP, source);
    await install(at, 'claude-desktop', '--', '--agent', 'desk');
    const words = ['-y', 'breakerbox@1.2.3', 'mcp', '--restart', '--agent', 'desk', '--'];
    expect(at.read(path)).toBe(
      `{\n  "mcpServers": {\n    "a": {\n      "command": "npx",\n      "args": [\n${[...words, 'uvx', 'x', '--flag'].map((word) => `        "${word}"`).join(',\n')}\n      ]\n    },\n    "b": {\n      "command": "npx",\n      "args": [${[...words, 'y'].map((word) => `"${word}"`).join(', ')}]\n    }\n  }\n}`,
    );
    await uninstall(at);
    expect(at.read(path)).toBe(source);
  });

  test('M8: a second install changes nothing', async () => {
    const at = machine();
    const path = at.put(DESKTOP, FILES);
    await install(at);
    const again = await install(at);
    expect(again).toMatchObject({
      code: 0,
      out: expect.stringContaining('files stays as it is: it starts the relay already.'),
    });
    expect(again.out).toContain('Every server that can have the relay has it. Nothing was changed.');
    expect(at.read(path)).toBe(WRAPPED_FILES);
    expect(filesBeside(path)).toHaveLength(2);
  });

  test('M8: install again repairs the launcher of an entry, and uninstall gives the original', async () => {
    const at = machine();
    const path = at.put(DESKTOP, FILES);
    await install(at, 'claude-desktop', '--', '--agent', 'desk');
    const pinned = at.read(path);
    const main = (version: string) => `/nvm/${version}/lib/node_modules/breakerbox/dist/main.js`;
    const node = (version: string) => ({ version: '9.9.9', execPath: `/nvm/${version}/bin/node`, main: main(version) });
    const runAs = (given: Parameters<typeof machine>[0], ...args: readonly string[]) =>
      machine(given).run('install', '--client', 'claude-desktop', '--file', path, '--write', ...args);
    // Another version writes its own version.
    const updated = await runAs({ version: '1.3.0' });
    expect(updated).toMatchObject({
      code: 0,
      out: expect.stringContaining('+       "args": ["-y", "breakerbox@1.3.0"'),
    });
    expect(at.read(path)).toBe(pinned.replaceAll('breakerbox@1.2.3', 'breakerbox@1.3.0'));
    // Another launcher.
    await runAs(node('v22'), '--launcher', 'node');
    const entry = () => jsonc.parse(at.read(path)).mcpServers.bare;
    const words = ['mcp', '--restart', '--agent', 'desk', '--', 'my-server'];
    expect(entry()).toEqual({ command: '/nvm/v22/bin/node', args: [main('v22'), ...words] });
    // Another Node: the launcher stays, and its paths change.
    await runAs(node('v24'));
    expect(entry()).toEqual({ command: '/nvm/v24/bin/node', args: [main('v24'), ...words] });
    expect((await runAs(node('v24'))).out).toContain('Nothing was changed.');
    await runAs({ path: folderWithCommand(at) }, '--launcher', 'breakerbox');
    expect(entry()).toEqual({ command: 'breakerbox', args: words });
    expect((await runAs(node('v24'))).out).toContain('Nothing was changed.');
    expect(at.read(`${path}.breakerbox-backup`)).toBe(FILES);
    await uninstall(at);
    expect(at.read(path)).toBe(FILES);
    expect(filesBeside(path)).toEqual(['claude_desktop_config.json']);
  });

  test('M8: install again with options replaces those of an entry; without, they stay', async () => {
    const at = machine();
    const path = at.put(DESKTOP, FILES);
    const words = () => jsonc.parse(at.read(path)).mcpServers.bare.args.slice(3, -2);
    await install(at, 'claude-desktop', '--no-restart');
    expect(words()).toEqual([]);
    expect((await install(at)).out).toContain('Nothing was changed.');
    await install(at, 'claude-desktop', '--', '--agent', 'desk', '--observe');
    expect(words()).toEqual(['--restart', '--agent', 'desk', '--observe']);
    const again = await install(at, 'claude-desktop', '--', '--agent', 'desk', '--observe');
    expect(again.out).toContain('Nothing was changed.');
    await install(at, 'claude-desktop', '--no-restart');
    expect(words()).toEqual(['--agent', 'desk', '--observe']);
    await install(at, 'claude-desktop', '--no-restart', '--', '--call-timeout=90s');
    expect(words()).toEqual(['--call-timeout=90s']);
    await uninstall(at);
    expect(at.read(path)).toBe(FILES);
  });

  test('M8: a launcher that a person wrote stays, unless --launcher names another', async () => {
    const at = machine();
    const written = ['bunx breakerbox mcp -- s', 'npx -y breakerbox@latest mcp -- s', '/opt/bin/breakerbox mcp s'];
    const servers = written.map((line, index) => {
      const [command, ...args] = line.split(' ');
      return [`s${index}`, { command, args }];
    });
    const source = JSON.stringify({ mcpServers: Object.fromEntries(servers) });
    at.put(CODE, source);
    expect((await install(at, 'claude-code')).out).toContain('Nothing was changed.');
    expect(at.read(CODE)).toBe(source);
    const installed = machine({ home: at.home, path: folderWithCommand(at) });
    await install(installed, 'claude-code', '--launcher', 'breakerbox');
    const made = Object.values(JSON.parse(at.read(CODE)).mcpServers);
    expect(made).toEqual(written.map(() => ({ command: 'breakerbox', args: ['mcp', '--', 's'] })));
  });

  test('M8: an older backup is not overwritten, and one uninstall takes back two installs', async () => {
    const at = machine();
    const path = at.put(DESKTOP, FILES);
    await install(at, 'claude-desktop', '--server', 'files');
    await install(at);
    expect(at.read(`${path}.breakerbox-backup`)).toBe(FILES);
    expect(existsSync(`${path}.breakerbox-backup.2`)).toBe(true);
    await uninstall(at);
    expect(at.read(path)).toBe(FILES);
    expect(filesBeside(path)).toEqual(['claude_desktop_config.json']);
  });

  test('M8: uninstall removes the backup also when a person has taken the relay away', async () => {
    const at = machine();
    const path = at.put(DESKTOP, FILES);
    await install(at);
    at.put(DESKTOP, FILES);
    expect((await at.run('uninstall', '--client', 'claude-desktop')).out).toContain('Nothing was changed.');
    expect(filesBeside(path)).toHaveLength(2);
    const { out } = await uninstall(at);
    expect(out).toContain('The backup is removed.\nNo server has the relay.');
    expect(out).not.toContain('Written.');
    expect(at.read(path)).toBe(FILES);
    expect(filesBeside(path)).toEqual(['claude_desktop_config.json']);
    expect(JSON.parse((await uninstall(at, 'claude-desktop', '--json')).out).files[0]).toMatchObject({
      written: false,
    });
  });

  test('M8: uninstall of one server leaves the others and the backup', async () => {
    const at = machine();
    const path = at.put(DESKTOP, FILES);
    await install(at);
    await uninstall(at, 'claude-desktop', '--server', 'bare', 'empty');
    expect(at.read(path)).toBe(
      FILES.replace('["-y", "@', '["-y", "breakerbox@1.2.3", "mcp", "--restart", "--", "npx", "-y", "@'),
    );
    expect(filesBeside(path)).toHaveLength(2);
  });

  test('M8: what has changed since the install stays', async () => {
    const at = machine();
    const path = at.put(CODE, FILES);
    await install(at, 'claude-code');
    // As Claude Code writes its file: without comments, with other formatting, with more in it.
    const rewritten = jsonc.parse(WRAPPED_FILES);
    rewritten.numStartups = 7;
    rewritten.mcpServers.files.args.push('/mnt');
    rewritten.mcpServers.added = { command: 'z' };
    at.put(CODE, JSON.stringify(rewritten, null, 2));
    await uninstall(at, 'claude-code');
    rewritten.mcpServers.files = {
      ...rewritten.mcpServers.files,
      args: ['-y', '@modelcontextprotocol/server-filesystem', '/home/me', '/mnt'],
    };
    rewritten.mcpServers.bare = { command: 'my-server' };
    rewritten.mcpServers.empty = { args: [], command: 'other-server' };
    expect(JSON.parse(at.read(path))).toEqual(rewritten);
    expect(at.read(path)).toContain('"args": [\n        "-y",\n        "@modelcontextprotocol/server-filesystem",');
    expect(at.read(path)).toContain('"args": [],\n      "command": "other-server"');
  });

  test('M8: uninstall works without the backup, and on entries that a person wrote', async () => {
    const at = machine();
    at.put(
      CODE,
      '{"mcpServers":{"a":{"command":"breakerbox","args":["mcp","--agent","x","uvx","s","--","t"]},"b":{"command":"/usr/bin/node","args":["/x/node_modules/breakerbox/dist/main.js","mcp","--","s"],"env":{}},"c":{"command":"cmd","args":["/c","npx","-y","breakerbox@latest","mcp","https://a.test/mcp"]},"d":{"command":"pnpm","args":["dlx","breakerbox","mcp","--observe","--","s"]},"e":{"command":"npx","args":["breakerbox","mcp","install"]}}}',
    );
    await uninstall(at, 'claude-code');
    expect(JSON.parse(at.read(CODE)).mcpServers).toEqual({
      a: { command: 'uvx', args: ['s', '--', 't'] },
      b: { command: 's', env: {} },
      c: { type: 'http', url: 'https://a.test/mcp' },
      d: { command: 's' },
      e: { command: 'npx', args: ['breakerbox', 'mcp', 'install'] },
    });
  });

  test('M8: a symbolic link goes on pointing to the file, and the backup is beside the file', async () => {
    const at = machine();
    const real = at.put('dotfiles/claude.json', FILES);
    symlinkSync(real, join(at.home, CODE));
    await install(at, 'claude-code');
    expect(lstatSync(join(at.home, CODE)).isSymbolicLink()).toBe(true);
    expect(readlinkSync(join(at.home, CODE))).toBe(real);
    expect(at.read(real)).toBe(WRAPPED_FILES);
    expect(filesBeside(real)).toEqual(['claude.json', 'claude.json.breakerbox-backup']);
  });
});

test('M8: an entry of a later version is left as it is, and so is the backup', async () => {
  const at = machine();
  const path = at.put(DESKTOP, FILES);
  await install(at);
  at.put(DESKTOP, at.read(path).replace('"--restart", "--", "npx"', '"--later", "--", "npx"'));
  const { out } = await uninstall(at);
  expect(out).toContain('files stays as it is: it starts the relay, but with options that this version does not know.');
  expect(at.read(path)).toBe(
    FILES.replace('["-y", "@', '["-y", "breakerbox@1.2.3", "mcp", "--later", "--", "npx", "-y", "@'),
  );
  expect(filesBeside(path)).toHaveLength(2);
});

test('M8: a file of 20 MB is changed within seconds', async () => {
  const at = machine();
  const history = JSON.stringify(
    Array.from({ length: 200_000 }, (_, index) => ({ display: `prompt ${index}`.padEnd(80) })),
  );
  const servers = Array.from({ length: 20 }, (_, index) => `"s${index}": { "command": "x" }`).join(', ');
  const source = `{ "history": ${history}, "mcpServers": { ${servers} } }`;
  expect(source.length).toBeGreaterThan(19_000_000);
  const path = at.put(CODE, source);
  const from = performance.now();
  await install(at, 'claude-code');
  await uninstall(at, 'claude-code');
  expect(performance.now() - from).toBeLessThan(20_000);
  expect(at.read(path) === source).toBe(true);
});

describe('servers with an address', () => {
  const HTTP = `{
  "mcpServers": {
    "api": {
      "type": "streamable-http",
      "url": "https://api.test/mcp?x=1",
      "headers": {
        "Authorization": "Bearer \${TOKEN}", // from the shell
        "X-Key": "k", "x_key": "l"
      },
      "timeout": 5
    },
    "local": { "url": "http://127.0.0.1:8080/mcp", "headers": {} }
  }
}
`;

  test('M8: the relay takes the address, and the environment the headers; uninstall gives the same bytes', async () => {
    const at = machine();
    const path = at.put(CODE, HTTP);
    await install(at, 'claude-code');
    expect(at.read(path)).toBe(`{
  "mcpServers": {
    "api": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "breakerbox@1.2.3", "mcp", "--header-env", "Authorization=BREAKERBOX_HEADER_AUTHORIZATION", "--header-env", "X-Key=BREAKERBOX_HEADER_X_KEY", "--header-env", "x_key=BREAKERBOX_HEADER_X_KEY_2", "--", "https://api.test/mcp?x=1"],
      "env": {
        "BREAKERBOX_HEADER_AUTHORIZATION": "Bearer \${TOKEN}", // from the shell
        "BREAKERBOX_HEADER_X_KEY": "k", "BREAKERBOX_HEADER_X_KEY_2": "l"
      },
      "timeout": 5
    },
    "local": { "command": "npx", "args": ["-y", "breakerbox@1.2.3", "mcp", "--", "http://127.0.0.1:8080/mcp"], "env": {} }
  }
}
`);
    expect(await uninstall(at, 'claude-code')).toMatchObject({ code: 0 });
    expect(at.read(path)).toBe(HTTP);
  });

  test('M8: install again with options keeps the headers of a server with an address', async () => {
    const at = machine();
    const path = at.put(CODE, HTTP);
    await install(at, 'claude-code');
    await install(at, 'claude-code', '--', '--agent', 'one');
    await install(at, 'claude-code', '--', '--agent', 'two', '--observe');
    const { args } = jsonc.parse(at.read(path)).mcpServers.api;
    expect(args.slice(3, 8)).toEqual([
      '--agent',
      'two',
      '--observe',
      '--header-env',
      'Authorization=BREAKERBOX_HEADER_AUTHORIZATION',
    ]);
    expect(await uninstall(at, 'claude-code')).toMatchObject({ code: 0 });
    expect(at.read(path)).toBe(HTTP);
  });

  test('M8: headers that someone has written on the command line are headers again', async () => {
    const at = machine();
    const words = ['--header', 'X-Team: a: b', '--header=x-key: lost', '--header-env=X-Key=KEY', '--agent', 'desk'];
    const entry = { command: 'breakerbox', args: ['mcp', ...words, 'https://a.test/mcp'], env: { KEY: 'k' } };
    at.put(CODE, JSON.stringify({ mcpServers: { a: entry } }));
    const { code, out } = await uninstall(at, 'claude-code');
    expect(code).toBe(0);
    expect(out).not.toMatch(/a: b|lost|"k"/);
    expect(JSON.parse(at.read(CODE)).mcpServers.a).toEqual({
      type: 'http', // Claude Code skips an entry without it.
      url: 'https://a.test/mcp',
      headers: { 'X-Key': 'k', 'X-Team': 'a: b' },
    });
  });

  test('M8: a header whose variable is set elsewhere is named, and its entry stays', async () => {
    const at = machine();
    const args = ['mcp', '--header-env', 'X-Key=KEY', 'https://a.test/mcp'];
    const source = JSON.stringify({ mcpServers: { a: { command: 'breakerbox', args } } });
    at.put(CODE, source);
    const { out } = await uninstall(at, 'claude-code');
    expect(out).toContain("its header 'X-Key' comes from the variable KEY, which the entry does not set.");
    expect(at.read(CODE)).toBe(source);
  });

  test('M8: variables that someone has added stay', async () => {
    const at = machine();
    at.put(CODE, HTTP);
    await install(at, 'claude-code');
    at.put(
      CODE,
      at.read(CODE).replace('"timeout": 5', '"timeout": 6').replace('"env": {\n', '"env": {\n        "MORE": "m",\n'),
    );
    expect(await uninstall(at, 'claude-code')).toMatchObject({ code: 0 });
    expect(jsonc.parse(at.read(CODE)).mcpServers.api).toEqual({
      type: 'streamable-http',
      url: 'https://api.test/mcp?x=1',
      env: { MORE: 'm' },
      headers: { Authorization: `Bearer \${TOKEN}`, 'X-Key': 'k', x_key: 'l' },
      timeout: 6,
    });
  });

  test.each([
    [{ type: 'sse', url: 'https://a.test/sse' }, 'it uses the SSE transport'],
    [{ url: 'https://a.test/sse' }, 'it uses the SSE transport'],
    [{ url: 'https://a.test/v1/sse?tenant=a', headers: {} }, 'it uses the SSE transport'],
    [{ url: 'https://a.test/sse/abc', headers: {} }, 'it uses the SSE transport'],
    [{ type: 'http', url: 'https://a.test/sse', headers: {} }, 'it uses the SSE transport'],
    [{ type: 'ws', url: 'https://a.test/mcp' }, "does not speak its transport, 'ws'"],
    [{ type: 'http', url: 'https://a.test/mcp' }, 'may log in by OAuth'],
    [{ type: 'http', url: 'https://a.test/mcp', headers: {}, oauth: {} }, 'it logs in by OAuth'],
    [{ type: 'http', url: 'https://a.test/mcp', headersHelper: 'x' }, 'headersHelper'],
    [{ type: 'http', url: `\${URL}` }, 'not an http(s) address'],
    [{ type: 'http', url: 'https://a.test', headers: { a: 1 } }, "header 'a' is not a name with a string"],
    [{ url: 'https://a.test', command: 'x' }, "both 'command' and 'url'"],
    [{ command: 'npx -y some-server' }, 'whole command line'],
    [{ command: 'x', args: [1] }, 'not an array of strings'],
    [{ command: '' }, 'not a string with a name'],
    [{ command: 'x', type: 'http' }, "its 'type' is 'http'"],
    ['x', 'not an object'],
    [
      { command: 'breakerbox', args: ['mcp', '--from-the-future', '--', 'x'] },
      'options that this version does not know',
    ],
  ])('M8: %j is left as it is, with the reason', async (entry, reason) => {
    const at = machine();
    const source = JSON.stringify({ mcpServers: { a: entry } });
    at.put(CODE, source);
    const { code, out } = await install(at, 'claude-code');
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('mcpServers.a stays as it is: ') });
    expect(out).toContain(reason);
    expect(at.read(CODE)).toBe(source);
  });

  test.each([
    ['.gemini/settings.json', { url: 'https://a.test/mcp', headers: {} }, true],
    ['cline_mcp_settings.json', { url: 'https://a.test/mcp', headers: {} }, true],
    ['cline_mcp_settings.json', { type: 'streamableHttp', url: 'https://a.test/mcp', headers: {} }, false],
    ['mcp.json', { url: 'https://a.test/mcp?to=/sse', headers: {} }, false],
    ['mcp.json', { url: 'https://a.test/assets', headers: {} }, false],
    ['mcp.json', { type: 'streamable-http', url: 'https://a.test/sse', headers: {} }, false],
  ])('M8: in %s, %j means SSE: %s', async (path, entry, isSse) => {
    const at = machine();
    const file = at.put(path, JSON.stringify({ mcpServers: { a: entry } }));
    const { out } = await at.run('install', '--client', 'cursor', '--file', file);
    expect(out.includes('mcpServers.a stays as it is: it uses the SSE transport')).toBe(isSse);
    expect(out.includes('@@ mcpServers.a @@')).toBe(!isSse);
  });

  test('M8: an address without headers is wrapped if the person names it', async () => {
    const at = machine();
    const source =
      '{"mcpServers":{"a":{"type":"http","url":"https://a.test/mcp"},"b":{"type":"sse","url":"https://b.test"}}}';
    at.put(CODE, source);
    expect(await install(at, 'claude-code', '--server', 'a')).toMatchObject({ code: 0 });
    expect(JSON.parse(at.read(CODE)).mcpServers.a).toEqual({
      type: 'stdio',
      command: 'npx',
      args: ['-y', 'breakerbox@1.2.3', 'mcp', '--', 'https://a.test/mcp'],
    });
    expect(await install(at, 'claude-code', '--server', 'b')).toMatchObject({ code: 1 });
    await uninstall(at, 'claude-code');
    expect(at.read(CODE)).toBe(source);
  });
});

describe('the files of the clients', () => {
  const entry = '{"command":"x"}';

  test('M8: Claude Code has servers for the user, for projects, and in the project', async () => {
    const at = machine();
    at.put(
      CODE,
      `{"mcpServers":{"a":${entry}},"projects":{"/p/q":{"mcpServers":{"b":${entry},"a":${entry}}},"/r":{}}}`,
    );
    const shared = at.put(join(at.project, '.mcp.json'), `{"mcpServers":{"c":${entry}}}`);
    const { out } = await install(at, 'claude-code');
    for (const label of [
      'mcpServers.a',
      'projects["/p/q"].mcpServers.b',
      'projects["/p/q"].mcpServers.a',
      'mcpServers.c',
    ])
      expect(out).toContain(`@@ ${label} @@`);
    expect(at.read(shared)).toContain('breakerbox@1.2.3');
    await uninstall(at, 'claude-code', '--file', '.mcp.json');
    expect(at.read(shared)).toBe(`{"mcpServers":{"c":${entry}}}`);
    expect(at.read(CODE)).toContain('breakerbox@1.2.3');
  });

  test('M8: Claude Code may have its configuration elsewhere', async () => {
    const at = machine({ env: { CLAUDE_CONFIG_DIR: '/nowhere' } });
    at.put(CODE, FILES);
    expect(await install(at, 'claude-code')).toMatchObject({
      code: 1,
      err: expect.stringContaining('/nowhere/.claude.json'),
    });
  });

  test.each([
    ['claude-code', 'linux', CODE],
    ['claude-desktop', 'linux', DESKTOP],
    ['claude-desktop', 'win32', 'AppData/Roaming/Claude/claude_desktop_config.json'],
  ] as const)('M8: a variable that is empty is not set (%s on %s)', async (client, platform, path) => {
    const at = machine({ platform, env: { CLAUDE_CONFIG_DIR: '', XDG_CONFIG_HOME: '', APPDATA: '' } });
    const full = at.put(path, FILES);
    expect(await at.run('install', '--client', client)).toMatchObject({ code: 0, out: expect.stringContaining(full) });
  });

  test.each([
    ['darwin', 'Library/Application Support/Claude/claude_desktop_config.json'],
    ['win32', 'AppData/Roaming/Claude/claude_desktop_config.json'],
    ['linux', '.config/Claude/claude_desktop_config.json'],
  ] as const)('M8: Claude Desktop on %s', async (platform, path) => {
    const at = machine({ platform });
    at.put(path, FILES);
    const { out } = await install(at);
    expect(out.includes('mcpServers.files stays as it is: its command is a script')).toBe(platform === 'win32');
    const words = platform === 'win32' ? ['cmd', '/c', 'npx'] : ['npx'];
    const { command, args } = jsonc.parse(at.read(path)).mcpServers.bare;
    expect([command, ...args]).toEqual([...words, '-y', 'breakerbox@1.2.3', 'mcp', '--restart', '--', 'my-server']);
    await uninstall(at);
    expect(at.read(path)).toBe(FILES);
  });

  test.each([
    ['cursor', ['.cursor/mcp.json'], 'mcpServers'],
    ['vscode', ['.config/Code/User/mcp.json'], 'servers'],
  ])(
    'M8: the change for %s is printed, for the user and the project, and never written',
    async (client, [own = ''], root) => {
      const at = machine();
      const source = `{\n  // mine\n  "${root}": { "a": ${entry} }\n}\n`;
      at.put(own, source);
      at.put(join(at.project, client === 'cursor' ? '.cursor/mcp.json' : '.vscode/mcp.json'), source);
      const { code, out } = await at.run('install', '--client', client);
      expect(code).toBe(0);
      expect(out.match(/@@ (?:mcpServers|servers)\.a @@/g)).toHaveLength(2);
      expect(await install(at, client)).toMatchObject({ code: 1, err: expect.stringContaining('leave it out') });
      expect(at.read(own)).toBe(source);
    },
  );

  test('M8: an installed command is written by its name, in files of a project by npx', async () => {
    const at = machine();
    const bin = join(at.home, 'bin');
    const main = at.put('lib/node_modules/breakerbox/dist/main.js', '');
    chmodSync(main, 0o755); // As npm does.
    mkdirSync(bin);
    symlinkSync(main, join(bin, 'breakerbox'));
    const installed = machine({ main, path: `${join(at.home, 'node_modules/.bin')}:${bin}` });
    installed.put(CODE, `{"mcpServers":{"a":${entry}}}`);
    installed.put(join(installed.project, '.mcp.json'), `{"mcpServers":{"a":${entry}}}`);
    await install(installed, 'claude-code');
    const read = (path: string) => JSON.parse(installed.read(path)).mcpServers.a;
    expect(read(CODE)).toEqual({ command: 'breakerbox', args: ['mcp', '--restart', '--', 'x'] });
    expect(read(join(installed.project, '.mcp.json')).command).toBe('npx');
    await uninstall(installed, 'claude-code');
    await install(installed, 'claude-code', '--launcher', 'node');
    expect(read(CODE)).toEqual({ command: '/usr/bin/node', args: [main, 'mcp', '--restart', '--', 'x'] });
  });
});

describe('M8: a launcher that cannot be run is not written', () => {
  const source = '{"mcpServers":{"a":{"command":"x"}}}';
  const commandIn = (at: Machine, path = CODE) => JSON.parse(at.read(path)).mcpServers.a;

  test('M8: npx, while npm does not have this version', async () => {
    const asked: string[] = [];
    const main = '/opt/lib/node_modules/breakerbox/dist/main.js';
    const at = machine({ main, npmHas: async (name) => asked.push(name) < 0 });
    at.put(CODE, source);
    const project = at.put(join(at.project, '.mcp.json'), source);
    expect(await install(at, 'claude-code', '--launcher', 'npx')).toMatchObject({
      code: 1,
      err: 'breakerbox mcp: --launcher npx: npm does not have breakerbox@1.2.3, or is not installed. Leave --launcher out, or give --launcher breakerbox or --launcher node. Nothing was changed.\n',
    });
    expect([at.read(CODE), at.read(project)]).toEqual([source, source]);
    await install(at, 'claude-code');
    expect([commandIn(at).command, commandIn(at, project).command]).toEqual(['/usr/bin/node', '/usr/bin/node']);
    expect(new Set(asked)).toEqual(new Set(['breakerbox@1.2.3']));
  });

  test('M8: npx in a file of a project, where the command is installed', async () => {
    const folders = folderWithCommand(machine());
    const at = machine({ npmHas: async () => false, path: folders });
    const project = at.put(join(at.project, '.mcp.json'), source);
    await install(at, 'claude-code');
    expect(commandIn(at, project).command).toBe('breakerbox');
  });

  test('M8: npx, which has started this command or cannot be asked, is written', async () => {
    const main = '/home/me/.npm/_npx/1f/node_modules/breakerbox/dist/main.js';
    for (const host of [{ main, npmHas: async () => false }, { npmHas: async () => undefined }]) {
      const at = machine(host);
      at.put(CODE, source);
      expect(await install(at, 'claude-code', '--launcher', 'npx')).toMatchObject({ code: 0 });
      expect(commandIn(at).command).toBe('npx');
    }
  });

  test('M8: breakerbox, while PATH has it only in a folder of npx', async () => {
    const bin = 'node_modules/.bin';
    const at = machine();
    chmodSync(at.put(`${bin}/breakerbox`, ''), 0o755);
    const other = machine({ home: at.home, path: join(at.home, bin) });
    other.put(CODE, source);
    expect(await install(other, 'claude-code', '--launcher', 'breakerbox')).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        "--launcher breakerbox: no folder of PATH has a command 'breakerbox'. Install breakerbox globally",
      ),
    });
    expect(other.read(CODE)).toBe(source);
  });

  test('M8: an entry that works keeps the version that npm has', async () => {
    const at = machine();
    at.put(CODE, source);
    await install(at, 'claude-code');
    const before = at.read(CODE);
    const packed = machine({ home: at.home, version: '2.0.0', npmHas: async () => false });
    expect((await install(packed, 'claude-code')).out).toContain('Nothing was changed.');
    expect(at.read(CODE)).toBe(before);
  });
});

describe('what fails', () => {
  test('M8: broken JSON is named with its line, and stays', async () => {
    const at = machine();
    const source = '{\n  "mcpServers": {\n    "a": { "command": }\n  }\n}';
    const path = at.put(DESKTOP, source);
    expect(await install(at)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`${path}: line 3, column 23: value expected`),
    });
    expect(at.read(path)).toBe(source);
    expect(filesBeside(path)).toHaveLength(1);
  });

  test.each(['', '[]', 'null', '{"mcpServers"'])('M8: %j is no configuration', async (source) => {
    const at = machine();
    at.put(DESKTOP, source);
    expect(await install(at)).toMatchObject({ code: 1, err: expect.stringContaining('claude_desktop_config.json: ') });
  });

  test.each(['{}', '{"mcpServers": {}}', '{"mcpServers": []}'])('M8: %j has no server', async (source) => {
    const at = machine();
    at.put(DESKTOP, source);
    expect(await install(at)).toMatchObject({ code: 0, out: expect.stringContaining('  no server\n') });
  });

  test('M8: a missing file is named', async () => {
    const at = machine();
    expect(await install(at)).toMatchObject({ code: 1, err: expect.stringContaining(join(at.home, DESKTOP)) });
    expect(await install(at, 'cursor')).toMatchObject({ code: 1 });
    expect(await at.run('install', '--client', 'vscode', '--file', 'none.json')).toMatchObject({
      code: 1,
      err: expect.stringContaining('none.json'),
    });
  });

  test('M8: a file that is not UTF-8 or read-only stays as it is', async () => {
    const at = machine();
    const path = at.put(DESKTOP, Buffer.from('{"a":"\xff"}', 'latin1'));
    expect(await install(at)).toMatchObject({ code: 1, err: expect.stringContaining('UTF-8') });
    at.put(DESKTOP, FILES);
    chmodSync(path, 0o444);
    expect(await install(at)).toMatchObject({ code: 1, err: expect.stringContaining('read-only') });
    expect(at.read(path)).toBe(FILES);
    expect(filesBeside(path)).toHaveLength(1);
  });

  test('M8: nothing is written over a change of another program', async () => {
    const at = machine();
    const path = at.put(DESKTOP, FILES);
    const file = await readConfig(path);
    at.put(DESKTOP, `${FILES} `);
    if (file) await expect(replaceConfig(file, 'x', true)).rejects.toThrow(ChangedBetween);
    expect(file).toBeDefined();
    expect(at.read(path)).toBe(`${FILES} `);
    expect(filesBeside(path)).toEqual(['claude_desktop_config.json']);
  });

  test('M8: an entry that the file has twice is left as it is', async () => {
    const at = machine();
    const source = '{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"},"b":{"command":"x","command":"y"}}}';
    at.put(DESKTOP, source);
    const { out } = await install(at);
    expect(out.match(/mcpServers\.a stays as it is: the file has it twice/g)).toHaveLength(2);
    expect(out).toContain("mcpServers.b stays as it is: it has 'command' twice");
    expect(at.read(DESKTOP)).toBe(source);
    at.put(DESKTOP, '{"mcpServers":{},"mcpServers":{"a":{"command":"x"}}}');
    expect((await install(at)).out).toContain('mcpServers.a stays as it is: the file has it twice');
  });

  test.each([
    [['--call-timeout', '90'], "--call-timeout is '90', which is not a time"],
    [['--header-env', 'A=B'], '--header and --header-env are for a server with an address'],
    [['--header', 'x'], '--header and --header-env are for a server with an address'],
    [['--prometheus', 'foo'], "--prometheus is 'foo', which is not an address"],
    [['--control', 'bogus'], "--control is 'bogus', which is not an endpoint"],
    [['--control', '9870'], 'BREAKERBOX_CONTROL_TOKENS is not set'],
    [['--config', 'breakerbox.yaml'], 'ENOENT'],
    [['--config=wrong.yaml'], 'tools.search.retries: is not a setting'],
    [['--agent', ''], 'agent'],
  ])('M8: options with which the relay cannot start are not written: %j', async (words, why) => {
    const at = machine();
    at.put(join(at.project, 'wrong.yaml'), 'tools: { search: { retries: 1 } }');
    at.put(DESKTOP, FILES);
    const { code, err } = await install(at, 'claude-desktop', '--', ...words);
    expect(code).toBe(1);
    expect(err).toMatch(/^breakerbox mcp: mcpServers\.empty: the relay cannot start it with these options: /);
    expect(err).toContain(why);
    expect(err).toContain('Nothing was changed.');
    expect(at.read(DESKTOP)).toBe(FILES);
    // An entry that has the relay already is checked too.
    await install(at);
    const wrapped = at.read(DESKTOP);
    expect(await install(at, 'claude-desktop', '--', ...words)).toMatchObject({ code: 1 });
    expect(at.read(DESKTOP)).toBe(wrapped);
  });

  test('M8: a header with which the relay cannot start a server with an address is not written', async () => {
    const at = machine({ env: { KEY: 'k' } });
    const source = '{"mcpServers":{"a":{"type":"http","url":"https://a.test/mcp","headers":{"X-Key":"a\\nb"}}}}';
    at.put(CODE, source);
    expect((await install(at, 'claude-code')).out).toContain(
      'a stays as it is: the relay cannot start it: the value of the header x-key has characters that HTTP forbids.',
    );
    at.put(CODE, source.replace('\\n', ''));
    for (const [words, why] of [
      [['--header', 'x'], "a header has the form --header 'Name: value'"],
      [['--header-env', 'A=B'], 'the environment has no such variable. Set B where'],
    ] as const)
      expect(await install(at, 'claude-code', '--', ...words)).toMatchObject({
        code: 1,
        err: expect.stringContaining(why),
      });
    expect(await install(at, 'claude-code', '--', '--header-env', 'A=KEY')).toMatchObject({ code: 0 });
  });

  test('M8: the path of --config is written in full, because a client starts the relay elsewhere', async () => {
    const at = machine({ env: { BREAKERBOX_CONFIG: 'none.yaml' } });
    const path = at.put(join(at.project, 'breakerbox.yaml'), 'tools: {}');
    at.put(DESKTOP, FILES);
    await install(at, 'claude-desktop', '--server', 'bare', '--', '--config', 'breakerbox.yaml');
    await install(at, 'claude-desktop', '--server', 'empty', '--', '--config=./breakerbox.yaml');
    const { bare, empty } = jsonc.parse(at.read(DESKTOP)).mcpServers;
    expect(bare.args.slice(3, 6)).toEqual(['--restart', '--config', path]);
    expect(empty.args.slice(3, 5)).toEqual(['--restart', `--config=${path}`]);
  });

  test('M8: a folder, a link to nothing and a link to itself are named, with what to do', async () => {
    const at = machine();
    const path = join(at.home, DESKTOP);
    mkdirSync(path, { recursive: true });
    expect(await install(at)).toMatchObject({
      code: 1,
      err: `breakerbox mcp: ${path} cannot be read. ${path} is a folder. Give the file with --file, or remove the folder. Then try again.\n`,
    });
    rmSync(path, { recursive: true });
    symlinkSync('gone.json', path);
    expect(await install(at)).toMatchObject({
      code: 1,
      err: `breakerbox mcp: ${path} is a symbolic link to ${join(dirname(path), 'gone.json')}, which does not exist. Correct the link or remove it, and try again.\n`,
    });
    rmSync(path);
    symlinkSync(path, path);
    expect(await install(at)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`${path} is a symbolic link that leads to itself. Correct the link`),
    });
  });

  test.each([
    [
      ['EACCES', 'open'],
      'c.json cannot be changed. You have no permission for /d. Run this as the user who owns it, or',
    ],
    [['EROFS', 'open'], 'c.json cannot be changed. /d is on a file system that is read-only. Make it writable.'],
    [['EIO', 'write'], 'c.json cannot be changed. The file system says EIO for /d. Then try again.'],
  ])('M8: an error of the file system says what to do: %j', ([code, syscall], text) => {
    expect(() => faultInFile('c.json', '/d')(Object.assign(new Error('raw'), { code, syscall }))).toThrow(text);
    expect(() => faultInFile('c.json')(new ChangedBetween('changed'))).toThrow(ChangedBetween);
  });

  test('M8: unknown servers, clients and options of the relay are named', async () => {
    const at = machine();
    at.put(DESKTOP, FILES);
    expect(await install(at, 'claude-desktop', '--server', 'fils')).toMatchObject({
      code: 4,
      err: expect.stringContaining("has no server 'fils'"),
    });
    expect(await at.run('install', '--client', 'word')).toMatchObject({ code: 1 });
    expect(await at.run('install')).toMatchObject({ code: 1, err: expect.stringContaining('--client') });
    for (const words of [['--agnet', 'x'], ['npx']])
      expect(await install(at, 'claude-desktop', '--', ...words)).toMatchObject({
        code: 1,
        err: expect.stringContaining(`'${words[0]}' is not an option of breakerbox mcp`),
      });
    expect(await install(at, 'claude-desktop', '--', '--listen', '9870')).toMatchObject({
      code: 1,
      err: expect.stringContaining('--listen cannot be installed'),
    });
    expect(at.read(DESKTOP)).toBe(FILES);
  });

  test('M8: a pipe, a device and a file with too many servers are errors, and nothing is waited for', async () => {
    const at = machine();
    expect(await at.run('install', '--client', 'claude-code', '--file', '/dev/zero')).toMatchObject({
      code: 1,
      err: expect.stringContaining('/dev/zero is not a file'),
    });
    const servers = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`s${index}`, { command: 'x' }]));
    at.put(DESKTOP, JSON.stringify({ mcpServers: servers }));
    expect(await install(at, 'claude-desktop')).toMatchObject({
      code: 1,
      err: expect.stringContaining('has 501 servers, and at most 500 can be changed at once. Name some'),
    });
    expect(await install(at, 'claude-desktop', '--server', 's7')).toMatchObject({ code: 0 });
  });
});
