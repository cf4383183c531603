import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { randomFrom } from './defaults/random.ts';

const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url));
const TOOLS = ['web_search', 'crm', 'payments', 'read_file', 'sql'] as const;
const SESSIONS = 1000;
const ROW_BYTES = 300;
/** What the child prints beside the report. */
const USAGE =
  'process.on("exit",()=>{const{user,system}=process.cpuUsage();console.error(JSON.stringify({cpu:(user+system)/1e6,rss:process.resourceUsage().maxRSS/1024}))})';

/** Half of the rows are starts of calls, half are ends: one every few milliseconds. `crm` is down for ten minutes of every hour. */
const writeRows = async (path: string, rows: number): Promise<void> => {
  const random = randomFrom(7);
  const out = createWriteStream(path);
  let atMs = Date.UTC(2026, 0, 1);
  for (let call = 0; call < rows / 2; call += 1) {
    const tool = TOOLS[Math.floor(random() * TOOLS.length)];
    const isDown = tool === 'crm' && Math.floor(atMs / 600_000) % 6 === 0;
    const of = { session: `conversation-${Math.floor(random() * SESSIONS)}`, tool, callId: `call-${call}` };
    const ending = isDown ? { error: 'connect ECONNREFUSED 10.0.0.1:5432' } : { outcome: 'success' };
    const start = rowOf({ kind: 'start', at: atMs, ...of });
    atMs += Math.floor(random() * 40);
    if (!out.write(start + rowOf({ kind: 'end', at: atMs, ...of, ...ending }))) {
      await new Promise<void>((resolve) => out.once('drain', resolve));
    }
  }
  await new Promise<void>((resolve) => out.end(() => resolve()));
};

/** A line of {@link ROW_BYTES} bytes. */
const rowOf = (fields: object): string => {
  const text = JSON.stringify({ ...fields, note: '' });
  return `${text.replace('"note":""', `"note":"${'x'.repeat(Math.max(0, ROW_BYTES - 1 - text.length))}"`)}\n`;
};

/** `npm run bench -- replay`: time and memory of a replay of a million events of 300 bytes (T7). */
export const replayReport = async (args: readonly string[]): Promise<string> => {
  const rows = args.includes('--quick') ? 20_000 : 1_000_000;
  const folder = await mkdtemp(join(tmpdir(), 'breakerbox-replay-'));
  try {
    const path = join(folder, 'calls.jsonl');
    await writeRows(path, rows);
    const { size } = await stat(path);
    const began = performance.now();
    const { stderr } = await promisify(execFile)(process.execPath, [
      '--conditions=breakerbox-source',
      `--import=data:text/javascript,${encodeURIComponent(USAGE)}`,
      ...[MAIN, 'replay', path],
    ]);
    const seconds = (performance.now() - began) / 1000;
    const { cpu, rss } = JSON.parse(stderr) as { cpu: number; rss: number };
    return `${rows.toLocaleString('en')} events, ${Math.round(size / rows)} bytes each: ${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of CPU, ${Math.round(rss)} MB at most\n`;
  } finally {
    await rm(folder, { recursive: true });
  }
};
