import { startControl } from '@breakerbox/control';

for (let run = 0; run < 2; run += 1) {
  const control = await startControl({ boxes: [], audit: '/dev/stdout' });
  await control.close();
}
