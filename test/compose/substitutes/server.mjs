// Instead of Grafana, Tempo and the Collector. Arguments: ports, on which any request gets 200; and files, also as `--config=FILE`, which
// must be there, or it ends. The text on every port, in Prometheus' format, counts the requests by their paths.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const args = process.argv.slice(2);
const home = process.env.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH;
for (const file of [...args, home ?? ''].flatMap((one) => /(?:^|=)(\/.*)/.exec(one)?.[1] ?? [])) readFileSync(file);

const requests = new Map();
for (const port of args.filter((one) => /^\d+$/.test(one))) {
  createServer((request, response) => {
    requests.set(request.url, (requests.get(request.url) ?? 0) + 1);
    request.resume();
    const lines = [...requests].map(
      ([path, count]) => `substitute_requests_total{path=${JSON.stringify(path)}} ${count}\n`,
    );
    // OTLP over HTTP: an empty body is a success.
    request.on('end', () => response.end(request.method === 'GET' ? lines.join('') : ''));
  }).listen(Number(port));
}
process.on('SIGTERM', () => process.exit(0));
