import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** An address that moves from one server to another, as a DNS name or a load balancer does after a failover. */
export interface Forwarder {
  readonly port: number;
  /** From now on, connections go to this port. Those that exist are cut. */
  to(port: number): void;
  close(): Promise<void>;
}

/** Listens on loopback and forwards to a port there. */
export const startForwarder = async (first: number): Promise<Forwarder> => {
  let target = first;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket, other: () => Socket): void => {
    sockets.add(socket);
    socket
      .on('error', () => undefined)
      .on('close', () => {
        sockets.delete(socket);
        other().destroy();
      });
  };
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    keep(near, () => far);
    keep(far, () => near);
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    to: (port) => {
      target = port;
      cut();
    },
    close: async () => {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
};
