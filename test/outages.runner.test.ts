/** A server that runs code: the output of the user's program is not evidence (O2), but a missing interpreter is an outage. */
import { guardMcpClient } from '@breakerbox/instrumentation/mcp';
import { describe, expect, test } from 'vitest';
import { skipped, textOf, turns } from './mcp-processes.ts';
import { connect, ownServer, type Program, sdks, spent, watched } from './outages/clients.ts';

/** Programs that end with an error. Each error is about an outage of another system. */
const PROGRAMS = [
  `console.error('503 Service Unavailable'); process.exit(1)`,
  `throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' })`,
  `throw new TypeError('fetch failed')`,
  `await fetch('http://127.0.0.1:9/')`,
  `console.error('Timeout'); process.exit(1)`,
  `throw new DOMException('The operation was aborted due to timeout', 'TimeoutError')`,
  `console.error('HTTP 429: rate limit exceeded, retry after 30 s'); process.exit(1)`,
  `throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })`,
  `console.error('MCP error -32000: Connection closed'); process.exit(1)`,
  `const { spawn } = await import('node:child_process'); spawn('/no/such/program')`,
  `console.error('INTERNAL_ERROR'); process.exit(1)`,
];

describe.each(Object.entries(sdks))('with %s', (_, sdk) => {
  const running = async (program: Program) => {
    const seen = watched();
    const server = await connect(sdk, program);
    const guarded = guardMcpClient(server.client, seen.session);
    const run = (code: string, name: string) => guarded.callTool({ name, arguments: { code } });
    return { ...seen, ...server, run };
  };

  test.each(['run_code', 'execute_code'])(
    'O2: programs that print errors never open the circuit of %s',
    async (tool) => {
      const { session, run, decisions, outcomes } = await running(ownServer());
      for (const code of PROGRAMS) expect(await run(code, tool)).toMatchObject({ isError: true });
      expect(textOf(await run('console.log(6 * 7)', tool))).toBe('42\n');
      expect(outcomes.filter((one) => one.includes('failure'))).toEqual([]);
      expect(new Set(decisions)).toEqual(new Set([`${tool}: call`]));
      expect(spent(session)).toBe(0);
    },
  );

  test.each(['run_code', 'execute_code'])(
    'O2: without an interpreter the circuit of %s opens, and one probe closes it when the interpreter is back',
    async (tool) => {
      const { session, run, outcomes, reasons, restart } = await running(
        ownServer({ INTERPRETER: '/no/such/interpreter' }),
      );
      for (const code of PROGRAMS.slice(0, 3)) {
        expect(textOf(await run(code, tool))).toContain('spawn /no/such/interpreter ENOENT');
      }
      expect(outcomes.every((one) => one.startsWith(`${tool}: failure, `))).toBe(true);
      const category = outcomes[0]?.split(', ')[1] ?? 'no category';
      expect(await run('console.log(1)', tool)).toEqual(skipped(tool, category));
      expect(spent(session)).toBe(1);

      await restart(ownServer());
      turns(session);
      expect(textOf(await run('console.log(6 * 7)', tool))).toBe('42\n');
      expect(reasons.slice(-2)).toEqual([`${tool}: skip, open`, `${tool}: probe, probe_due`]);
      expect(session.peek(tool)?.state).toBe('closed');
    },
  );
});
