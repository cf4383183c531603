import { demoCommand } from './demo-command.ts';

await demoCommand().parseAsync();
