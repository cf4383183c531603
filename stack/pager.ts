/**
 * The receiver of docker-compose.yml: accepts the messages of Alertmanager, in Slack's format, and prints them.
 *
 * `node --conditions=breakerbox-source stack/pager.ts` listens on all addresses, on port 9095 or PAGER_PORT.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { formatMessage, parseMessage } from '../packages/demo/src/message.ts';

/** The path that Alertmanager uses: api_url in stack/alertmanager/alertmanager.yml. */
export const PAGER_PORT = 9095;

const COLUMNS = 120;
const RULE = '─'.repeat(COLUMNS);
/** More bytes than any message has. A longer body is rejected. */
const MOST_BYTES = 1_000_000;

/** Options of the pager. */
export interface PagerOptions {
  readonly host: string;
  /** 0 selects a free one. */
  readonly port: number;
  /** Receives each message as it should be read, with its time and a line around it. */
  print(text: string): void;
  /** Default: the system's clock. */
  now?(): Date;
}

/**
 * Starts the pager. It answers 200 to a message, 400 to any other body that is posted, and 200 to a GET, which is its health check.
 * Rejects if the port is not available.
 *
 * @example
 * const pager = await startPager({ host: '127.0.0.1', port: 0, print: (text) => process.stdout.write(text) });
 */
export async function startPager({ host, port, print, now = () => new Date() }: PagerOptions): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      response.end('ok\n');
      return;
    }
    try {
      const text = formatMessage(parseMessage(await bodyOf(request)), COLUMNS);
      print(`${RULE}\n${now().toISOString()}\n\n${text}\n\n`);
      response.end('ok');
    } catch (error) {
      response.writeHead(400).end(`not printed: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  });
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}

const bodyOf = async (request: AsyncIterable<Buffer>): Promise<string> => {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new Error(`a message may have at most ${MOST_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
};

if (import.meta.main) {
  const print = (text: string): void => void process.stdout.write(text);
  const port = Number(process.env.PAGER_PORT || PAGER_PORT);
  const server = await startPager({ host: '0.0.0.0', port, print });
  print(`No messages yet. Listening on port ${port} for messages from Alertmanager.\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      server.close();
      server.closeAllConnections();
    });
  }
}
