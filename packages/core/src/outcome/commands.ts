import { read, readText } from './untrusted.ts';

/**
 * The message of an error. `child_process`, execa and nano-spawn put the command line before what the command wrote: a
 * search for ECONNREFUSED that finds nothing is no outage. Only what it wrote is read, and what Node said of it.
 */
export function saidOf(error: unknown): string {
  const message = readText(error, 'message') ?? '';
  if (!message.startsWith('Command ')) return message;
  return withoutCommandLine(error, message) ?? withoutCommand(error, message);
}

/** `child_process`: 'Command failed: <command>\n<what it wrote>'. */
function withoutCommand(error: unknown, message: string): string {
  const command = readText(error, 'cmd');
  const head = `Command failed: ${command ?? ''}`;
  if (!message.startsWith(head)) return message;
  if (command) return message.slice(head.length);
  // The synchronous calls keep the command nowhere else: it is what is before the first line break.
  return read(error, 'pid') === undefined ? message : message.slice(message.search(/\n|$/));
}

/** execa, nano-spawn: 'Command failed with exit code 1: <command, with escapes>\n<what Node said>\n<what it wrote>'. */
function withoutCommandLine(error: unknown, message: string): string | undefined {
  const command = readText(error, 'escapedCommand') ?? readText(error, 'command');
  if (!command) return undefined;
  const at = message.indexOf(`: ${command}`);
  return at < 0 ? undefined : `${message.slice(0, at)}\n${message.slice(at + 2 + command.length)}`;
}
