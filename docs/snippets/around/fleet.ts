import type { Socket } from 'node:net';
import { startRedis } from '../../../packages/fleet/src/redis/test-support.redis-server.ts';

// A reader has the address of a Redis there.
const { child, stop, url } = await startRedis();
process.env.REDIS_URL = url;

// The program ends as if this Redis ran elsewhere.
child.unref();
for (const output of [child.stdout, child.stderr]) (output as Socket).unref();
process.once('beforeExit', () => {
  child.ref();
  void stop();
});
process.once('exit', () => child.kill('SIGKILL'));
