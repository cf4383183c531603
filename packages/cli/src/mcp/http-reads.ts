import type { Socket, SocketConstructorOpts } from 'node:net';

/** Bytes of one read, as Node's sockets take them. */
const READ_BYTES = 64 * 1024;

/**
 * Options of sockets for an HTTP client. All of them read into the same memory, because Node's parser copies what it keeps before the next
 * read. Without them, each read takes memory of its own, so that an answer takes its size once more (M10).
 */
export const readsOfHttp = (): { readonly onread: NonNullable<SocketConstructorOpts['onread']> } => ({
  onread: {
    buffer: Buffer.allocUnsafeSlow(READ_BYTES),
    callback(this: Socket, length: number, bytes: Uint8Array): boolean {
      this.emit('data', bytes.subarray(0, length));
      return true;
    },
  },
});
