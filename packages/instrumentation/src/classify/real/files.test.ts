import { exec, execFile, execFileSync, execSync } from 'node:child_process';
import { closeSync, createWriteStream, existsSync, openSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, mkdtemp, open, opendir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { ErrorCategory } from '@breakerbox/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { categoryOf, NOW, needs, refusedUrl, thrownBy } from '../../test-support/classify/failing.ts';
import { classifyError, classifyResult } from '../../test-support/classify/verdicts.ts';

const run = promisify(exec);

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'breakerbox-files-'));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

/** Reads the error that a child met and wrote down as JSON: its own fields, `Error` having none that JSON sees. */
async function inChild(script: string, before = ''): Promise<unknown> {
  const report = 'catch (e) { console.log(JSON.stringify({ ...e, name: e.name, message: e.message })); }';
  const source = `import fs from 'node:fs'; try { ${script} } ${report}`;
  const { stdout } = await run(`${before} "${process.execPath}" --input-type=module -e "${source}"`);
  return JSON.parse(stdout);
}

describe('O2: real errors of files', () => {
  const WRONG_PATHS: readonly (readonly [string, string, (path: string) => Promise<unknown>])[] = [
    ['ENOENT', 'no such file', (path) => readFile(join(path, 'nope'))],
    ['ENOENT', 'no such folder', (path) => opendir(join(path, 'nope'))],
    ['ENOTDIR', 'a file for a folder', (path) => readFile(join(path, 'file', 'x'))],
    ['EISDIR', 'a folder for a file', (path) => readFile(path)],
    ['EEXIST', 'a name that is taken', (path) => mkdir(join(path, 'file'))],
    ['ENOTEMPTY', 'a folder that is in use', (path) => rename(join(path, 'empty'), path)],
    ['ENAMETOOLONG', 'a name that is too long', (path) => readFile(join(path, 'x'.repeat(300)))],
    ['ERR_FS_EISDIR', 'rm of a folder', (path) => rm(path)],
    ['ERR_FS_EISDIR', 'cp of a folder', (path) => cp(path, `${path}.copy`)],
    ['ERR_FS_CP_EINVAL', 'cp onto itself', (path) => cp(path, path, { recursive: true })],
  ];

  it.each(WRONG_PATHS)('O2: %s, %s: thrown or returned, it is an answer', async (code, _, call) => {
    const path = await folder();
    await writeFile(join(path, 'file'), '');
    await mkdir(join(path, 'empty'));
    const error = await thrownBy(() => call(path));
    expect(error).toHaveProperty('code', code);
    expect(classifyError(error, NOW)).toEqual({ category: 'tool_error' });
    expect(classifyResult(error, NOW)).toEqual({ category: 'tool_error' });
    const { message } = error as Error;
    const returned = classifyResult({ isError: true, content: [{ type: 'text', text: message }] }, NOW);
    expect(['tool_error', 'invalid_input']).toContain(returned?.category);
  });

  it('O2: an impossible path is a bad argument', async () => {
    expect(await categoryOf(() => readFile('a\0b'))).toBe('invalid_input');
  });

  it('O2: EACCES: a file of another user, after root drops its rights', async () => {
    const path = await folder();
    const file = join(path, 'secret');
    await writeFile(file, 'x');
    await chmod(file, 0o000);
    await chmod(path, 0o755);
    const drop = 'if (process.getuid() === 0) { process.setgroups([]); process.setgid(65534); process.setuid(65534); }';
    const error = await inChild(`${drop} fs.readFileSync('${file}')`);
    expect(error).toHaveProperty('code', 'EACCES');
    expect(classifyError(error, NOW).category).toBe('permission');
  });

  it('O2: EACCES: a file that is not executable, for root too', async () => {
    const file = join(await folder(), 'script');
    await writeFile(file, '#!/bin/sh\n', { mode: 0o600 });
    const error = await thrownBy(() => promisify(execFile)(file));
    expect(error).toHaveProperty('code', 'EACCES');
    expect(classifyError(error, NOW).category).toBe('permission');
  });

  it('O2: ENOSPC: a full disk, by file, by stream and by command', async (context) => {
    needs(context, existsSync('/dev/full'), '/dev/full');
    expect(await categoryOf(() => writeFile('/dev/full', 'x'))).toBe('resource');
    expect(await categoryOf(() => pipeline(Readable.from(['x']), createWriteStream('/dev/full')))).toBe('resource');
    expect(await categoryOf(() => run('cat /proc/version > /dev/full'))).toBe('resource');
  });

  it('O2: a read-only file system, /sys or /proc', async (context) => {
    needs(context, existsSync('/proc/version'), '/proc');
    // Root meets EACCES, EPERM or EIO here, containers EROFS: the disk's fault or the rights', never the model's.
    for (const call of [() => writeFile('/proc/version', 'x'), () => copyFile('/proc/version', '/sys/x')]) {
      expect(['permission', 'filesystem']).toContain(await categoryOf(call));
    }
  });

  it('O2: EMFILE: no file handles are left', async () => {
    const many = "for (;;) fs.openSync('/dev/null')";
    const error = await inChild(many, 'ulimit -n 64 &&');
    expect(error).toHaveProperty('code', 'EMFILE');
    expect(classifyError(error, NOW).category).toBe('resource');
  });

  it('O2: EBADF and similar codes are unknown, and so a failure', async () => {
    const closed = openSync('/dev/null', 'r');
    closeSync(closed);
    const handle = await open('/dev/null');
    await handle.close();
    expect(await categoryOf(() => handle.read())).toBe('unknown');
  });
});

describe('O2: real failures of commands', () => {
  const COMMANDS: readonly (readonly [ErrorCategory, string])[] = [
    ['tool_error', 'cat /nope/nothing'],
    ['server', 'echo "upstream returned 503" >&2; exit 3'],
    ['permission', 'echo "Permission denied (publickey)." >&2; exit 255'],
    ['unknown', 'exit 1'],
    ['tool_error', 'breakerbox-no-such-command'],
    ['unknown', 'grep "connect ECONNREFUSED" /dev/null'],
    ['unknown', 'test "rate limit exceeded" = "503 Service Unavailable"'],
  ];

  it.each(COMMANDS)('O2: %s: %s: the classifier reads the output, not the command line', async (wanted, command) => {
    expect(await categoryOf(() => run(command))).toBe(wanted);
    expect(await categoryOf(() => execSync(command, { stdio: 'pipe' }))).toBe(wanted);
  });

  it('O2: a child process of node reports that no server listens', async () => {
    const url = await refusedUrl();
    expect(await categoryOf(() => run(`"${process.execPath}" -e "fetch('${url}')"`))).toBe('network');
  });

  it('O2: a missing command, a missing working folder', async () => {
    expect(await categoryOf(() => promisify(execFile)('/nope/breakerbox'))).toBe('filesystem');
    expect(await categoryOf(() => promisify(execFile)('true', { cwd: '/nope/breakerbox' }))).toBe('filesystem');
  });

  it('O2: a command that timed out, by exec, execFile and execFileSync', async () => {
    expect(await categoryOf(() => run('exec sleep 600', { timeout: 20 }))).toBe('timeout');
    expect(await categoryOf(() => promisify(execFile)('sleep', ['600'], { timeout: 20 }))).toBe('timeout');
    expect(await categoryOf(() => execFileSync('sleep', ['600'], { timeout: 20 }))).toBe('timeout');
  });

  it('O2: a command that another process killed is not a timeout', async () => {
    expect(await categoryOf(() => run('kill -9 $$'))).toBe('unknown');
  });

  it('O2: a worker that ran out of memory', async () => {
    const source = 'const all = []; for (;;) all.push(new Array(100_000).fill(Math.random()));';
    const worker = new Worker(source, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 8 } });
    const failed = () => new Promise((resolve, reject) => worker.on('error', reject).on('exit', resolve));
    expect(await categoryOf(failed)).toBe('resource');
  });
});
