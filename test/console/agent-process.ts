/** An agent with a control API on the socket that is its argument. Its session needs nothing. It ends with its parent's pipe. */
import { startControl } from '@breakerbox/control';
import { createBreakerbox } from '@breakerbox/core';

const box = createBreakerbox({ agent: 'research', tools: { search: {}, fetch: {}, mail: {} } });
const control = await startControl({ boxes: [box], listen: { socket: process.argv[2] } });
const session = box.session({ id: `quiet-${process.pid}` });
session.acquire('search').settle({ outcome: 'success' });
process.stdout.write('ready\n');
process.stdin.resume().on('end', () => void control.close());
