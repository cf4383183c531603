import { runHttpFront } from './http-front.ts';
import { runHttpRelay } from './http-relay.ts';
import { type HttpAddress, HttpTarget } from './http-target.ts';
import type { ListenAddress } from './listen-address.ts';
import type { Relay } from './relay.ts';
import type { RelayHost } from './relay-process.ts';

/** Whom a relay in front of a server behind HTTP serves. */
export interface HttpServing {
  readonly relay: Relay;
  readonly host: RelayHost;
  /** Undefined: one client, over stdio. */
  readonly listen: ListenAddress | undefined;
  /** Called with the address for clients. */
  readonly onListening: (url: string) => void;
}

/** Relays to a server behind HTTP until the client ends, or until the relay is stopped. */
export const runHttp = (address: HttpAddress, { relay, host, listen, onListening }: HttpServing): Promise<void> => {
  const target = new HttpTarget(address);
  return listen === undefined
    ? runHttpRelay(target, relay, host)
    : runHttpFront({ target, relay, listen, onStop: host.onStop, onListening });
};
