import type { Command } from 'commander';
import type { HttpAddress } from './http-target.ts';

/** Flags of `breakerbox mcp` for servers behind HTTP. */
export interface HttpFlags {
  readonly header?: readonly string[];
  readonly headerEnv?: readonly string[];
  readonly listen?: string;
}

/** Adds the value of an option that is given several times. */
export const another = (one: string, before: readonly string[] = []): readonly string[] => [...before, one];

export const withHttpOptions = (command: Command): Command =>
  command
    .option('--header <header>', "for https://…: a header of each request, 'Name: value'; repeatable", another)
    .option('--header-env <pair>', 'the same, Name=VARIABLE, with the value from the environment; repeatable', another)
    .option(
      '--listen <address>',
      'for https://…: serve the client over HTTP on a port or HOST:PORT of this machine; 0 takes a free port; default: stdio',
    );

/** The server that an address names. Undefined for a command. @throws Error for wrong flags. Its text holds no value of a header. */
export const httpAddress = (
  command: string,
  args: readonly string[],
  { header = [], headerEnv = [], listen }: HttpFlags,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): HttpAddress | undefined => {
  if (!/^https?:\/\//i.test(command)) {
    if (header.length + headerEnv.length > 0)
      throw new Error('--header and --header-env are for a server with an address, such as https://example.com/mcp.');
    if (listen !== undefined)
      throw new Error('--listen is for a server with an address. A client starts a server with a command itself.');
    return undefined;
  }
  if (!URL.canParse(command)) throw new Error('the address of the MCP server is not a valid URL.');
  if (args.length > 0) throw new Error('write the options before the address, and nothing after it.');
  const url = new URL(command);
  if (url.username !== '' || url.password !== '')
    throw new Error('the address holds a user name or a password. Use --header-env Authorization=VARIABLE instead.');
  const headers = [
    ...header.map((one) => split(one, ':', "--header 'Name: value'")),
    ...headerEnv.map((one) => fromEnvironment(one, environment)),
  ];
  for (const [name, value] of headers) check(name, value);
  return { url, headers: Object.fromEntries(headers) };
};

const split = (text: string, by: string, form: string): readonly [string, string] => {
  const at = text.indexOf(by);
  if (at < 1) throw new Error(`a header has the form ${form}.`);
  return [text.slice(0, at).trim().toLowerCase(), text.slice(at + 1).trim()];
};

const fromEnvironment = (
  pair: string,
  environment: Readonly<Record<string, string | undefined>>,
): readonly [string, string] => {
  const [name, variable] = split(pair, '=', '--header-env Name=VARIABLE');
  const value = environment[variable];
  if (value === undefined)
    throw new Error(
      `--header-env ${name}=${variable}: the environment has no such variable. Set ${variable} where breakerbox starts.`,
    );
  return [name, value.trim()];
};

const check = (name: string, value: string): void => {
  if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name))
    throw new Error('the name of a header has letters, digits and dashes.');
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
    throw new Error(`the value of the header ${name} has characters that HTTP forbids.`);
};
