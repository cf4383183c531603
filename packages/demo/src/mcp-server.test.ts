import { expect, test } from 'vitest';
import { startMcpServer } from './mcp-server.ts';

const sum = { name: 'get-sum', arguments: { a: 2, b: 40 } };

test('restarts a real MCP server that was killed', async () => {
  const mcp = await startMcpServer();
  try {
    const first = mcp.pid;
    expect(await mcp.client.callTool(sum)).toMatchObject({ content: [{ text: 'The sum of 2 and 40 is 42.' }] });
    await mcp.kill();
    expect(mcp.pid).toBeUndefined();
    expect(await mcp.healthy()).toBe(false);
    await expect(mcp.client.callTool(sum)).rejects.toThrow();
    await mcp.kill();
    await mcp.restart();
    expect(mcp.pid).not.toBe(first);
    expect(await mcp.healthy()).toBe(true);
  } finally {
    await mcp.close();
  }
  expect(await mcp.healthy()).toBe(false);
});
