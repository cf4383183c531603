/** An MCP server over stdio that writes down what it gets, and ends or hangs when a call tells it to. */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { RELAY_LOG: log } = process.env;
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

const TOOLS = {
  die: () => process.exit(9),
  never: () => {},
  half: () => process.stdout.write('{"jsonrpc":"2.0","id":', () => process.exit(9)),
  pid: (id) => write({ id, result: { content: [{ type: 'text', text: `${process.pid}` }] } }),
  ask: () => write({ id: 's', method: 'elicitation/create', params: {} }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  appendFileSync(log, `${process.pid} ${line}\n`);
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    write({ method: 'notifications/message', params: { level: 'info', data: `started ${process.pid}` } });
    write({ id, result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'mortal' } } });
  } else if (method === 'tools/call') TOOLS[params.name](id);
  else if (method === 'ping') write({ id, result: {} });
});
