import { chmodSync, mkdirSync } from 'node:fs';
import { startControl } from '@breakerbox/control';

mkdirSync('open/mine', { recursive: true, mode: 0o700 });
chmodSync('open', 0o777); // every user could replace 'mine'
for (let run = 0; run < 2; run += 1) {
  const control = await startControl({ boxes: [], audit: 'open/mine/audit.jsonl' });
  await control.close();
}
