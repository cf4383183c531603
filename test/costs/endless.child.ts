/** Gives endless and lazy objects to every entry. A hang shows as the last line of the output. */
import { writeSync } from 'node:fs';
import { endless } from './hostile.ts';
import { ENTRIES } from './instrumentation-entries.ts';

for (const [entry, call] of Object.entries(ENTRIES)) {
  for (const [name, value] of Object.entries(endless())) {
    writeSync(1, `${entry}: ${name}\n`);
    try {
      await call(value, () => Promise.reject(value));
    } catch {
      // The value itself.
    }
  }
}
writeSync(1, 'all done\n');
process.exit(0);
