/** Runs a command, and writes the bytes of its standard input and output to files: `node tee.mjs FOLDER NAME command args…`. */
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, name, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const log = (side) => (chunk) => appendFileSync(join(folder, `${name}.${side}`), chunk);
process.stdin.on('data', log('in')).pipe(child.stdin);
child.stdout.on('data', log('out')).pipe(process.stdout);
child.stdin.on('error', () => {});
child.on('exit', (code) => process.exit(code ?? 1));
