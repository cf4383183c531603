import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { createSecureContext, TLSSocket } from 'node:tls';
import { inPieces } from './in-pieces.ts';

/** Certificate and key, as PEM texts. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** What a connection receives and sends, as Node's TLS reads no socket that has become one of these by itself. */
const throughTurns = (raw: Socket): Duplex => {
  const carrier = new Duplex({
    read: () => void raw.resume(),
    write: (bytes: Buffer, _encoding, done) => void raw.write(bytes, done),
    final: (done) => void raw.end(done),
    destroy: (error, done) => {
      raw.destroy();
      done(error);
    },
  });
  inPieces(raw);
  raw.on('data', (bytes) => {
    if (!carrier.push(bytes)) raw.pause();
  });
  raw.on('end', () => carrier.push(null));
  raw.on('error', () => {});
  raw.on('close', () => carrier.destroy());
  return carrier;
};

/**
 * Makes an HTTP server speak TLS. What its connections receive is decrypted in turns: `node:https` does the handshakes of all connections
 * that are ready in one turn of the event loop, which takes 50 ms for a hundred of them. Each secure connection is announced as
 * `secureConnection`, with the raw socket as its second argument.
 */
export const secure = (server: Server, certificate: Certificate, handshakeMs: number): void => {
  const [serve, ...others] = server.listeners('connection') as ((socket: Socket) => void)[];
  if (serve === undefined || others.length > 0) throw new TypeError('The server has other listeners already.');
  const secureContext = createSecureContext(certificate);
  server.off('connection', serve);
  server.on('connection', (raw: Socket) => {
    const socket = new TLSSocket(throughTurns(raw), { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] });
    const { remoteAddress, remotePort, remoteFamily } = raw;
    Object.defineProperties(socket, {
      remoteAddress: { value: remoteAddress },
      remotePort: { value: remotePort },
      remoteFamily: { value: remoteFamily },
    });
    const end = (): void => void socket.destroy();
    const limit = setTimeout(end, handshakeMs);
    limit.unref();
    socket.on('error', end);
    socket.once('close', () => clearTimeout(limit));
    socket.once('secure', () => {
      clearTimeout(limit);
      serve.call(server, socket);
      server.emit('secureConnection', socket, raw); // Its listeners find a parser, and take the reading from it.
    });
  });
};
