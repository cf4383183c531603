import { createServer, type RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';

/** A web server on loopback until the test ends. Port 0: any free port. Returns its port. */
export const serve = async (answer: RequestListener, wanted = 0): Promise<number> => {
  const web = createServer(answer);
  onTestFinished(() => {
    web.closeAllConnections();
    web.close();
  });
  await new Promise<void>((resolve, reject) => {
    web.once('error', reject);
    web.listen(wanted, '127.0.0.1', resolve);
  });
  const address = web.address();
  if (address === null || typeof address === 'string') throw new Error('The operating system returned no port.');
  return address.port;
};
