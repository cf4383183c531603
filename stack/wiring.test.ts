/** Whether the parts of docker-compose.yml fit together: each path is mounted, and each port has a listener. */
import { existsSync, readdirSync } from 'node:fs';
import { posix, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEMO_RULES } from './demo-rules.ts';
import {
  ROOT,
  readAlertmanager,
  readCollector,
  readCompose,
  readDashboardProviders,
  readDataSources,
  readPrometheus,
  readTempo,
  readText,
} from './files.ts';
import { PAGER_PORT } from './pager.ts';

const compose = readCompose();
const prometheus = readPrometheus();
const collector = readCollector();
const tempo = readTempo();

const service = (name: string) => {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
};

const AGENTS = Object.keys(compose.services).filter((name) => name.startsWith('agent-'));

/** The value of an option in a service's command, with one or two dashes. */
const option = (name: string, key: string): string | undefined =>
  service(name)
    .command?.find((word) => word.replace(/^--?/, '').startsWith(`${key}=`))
    ?.replace(/^[^=]*=/, '');

const mountsOf = (name: string): { source: string; target: string }[] =>
  (service(name).volumes ?? []).map((volume) => {
    const [source = '', target = ''] = volume.split(':');
    return { source: source.startsWith('.') ? posix.normalize(source) : source, target };
  });

/** Where a path of a container is outside: a path from the root of the repository, or in a named volume. */
function outside(name: string, path = `an option that ${name} isn't given`): string | undefined {
  const [mount] = mountsOf(name)
    .filter(({ target }) => path === target || path.startsWith(`${target}/`))
    .sort((a, b) => b.target.length - a.target.length);
  return mount && posix.join(mount.source, path.slice(mount.target.length));
}

/** Where the image of Grafana looks by default, if no GF_PATHS_… is set. */
const GRAFANA = { provisioning: '/etc/grafana/provisioning', data: '/var/lib/grafana' };

describe('mounts', () => {
  it('hold the sockets of all agents, which the console reaches', () => {
    const sockets = service('console').environment?.BREAKERBOX_CONTROL?.split(',');
    expect(sockets).toEqual(AGENTS.map((name) => service(name).environment?.BREAKERBOX_CONTROL_LISTEN));
    const folders = [...AGENTS, 'console'].map((name) => outside(name, posix.dirname(sockets?.[0] ?? '')));
    expect(new Set(folders)).toEqual(new Set(['control']));
  });

  /** Every file or folder that a service reads, by the service's path, and what must be there. */
  const read: [name: string, path: string | undefined, source: string][] = [
    ['alertmanager', posix.dirname(option('alertmanager', 'config.file') ?? ''), 'stack/alertmanager'],
    ['prometheus', option('prometheus', 'config.file'), 'stack/prometheus/prometheus.yml'],
    ...prometheus.rule_files.map((path) => ['prometheus', posix.dirname(path), DEMO_RULES] as [string, string, string]),
    ['otel-collector', option('otel-collector', 'config'), 'stack/otel-collector/config.yaml'],
    ['tempo', option('tempo', 'config.file'), 'stack/tempo/tempo.yaml'],
    ...['datasources', 'dashboards'].map(
      (name) =>
        ['grafana', `${GRAFANA.provisioning}/${name}`, `stack/grafana/provisioning/${name}`] as [
          string,
          string,
          string,
        ],
    ),
    ...readDashboardProviders().map(
      ({ options }) => ['grafana', options.path, 'dashboards/generated'] as [string, string, string],
    ),
  ];

  it.each(read)('%s reads %s, which is %s', (name, path, source) => {
    expect(outside(name, path)).toBe(source);
  });

  it('are all read', () => {
    const mounted = Object.keys(compose.services).flatMap((name) =>
      mountsOf(name)
        .filter(({ source }) => !(source in compose.volumes))
        .map(({ source }) => source),
    );
    expect(mounted.sort()).toEqual(read.map(([, , source]) => source).sort());
  });

  it('hold the rules and the dashboards', () => {
    const pattern = prometheus.rule_files.map((path) => posix.basename(path));
    expect(pattern).toEqual(['*.yml']);
    expect(readdirSync(resolve(ROOT, DEMO_RULES)).filter((name) => name.endsWith('.yml'))).toHaveLength(2);
    expect(readdirSync(resolve(ROOT, 'dashboards/generated')).join()).toMatch(/\.json/);
  });

  it('hold the templates at the path in alertmanager.yml', () => {
    const { templates } = readAlertmanager();
    expect(templates).toEqual(['templates/*.tmpl']);
    const folder = posix.join(posix.dirname(option('alertmanager', 'config.file') ?? ''), 'templates');
    const source = outside('alertmanager', folder) ?? '';
    expect(readdirSync(resolve(ROOT, source))).toEqual(['breakerbox.tmpl']);
  });

  it('hold the dashboard that Grafana shows first', () => {
    const path = service('grafana').environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH;
    const { uid }: { uid: string } = JSON.parse(readText(outside('grafana', path) ?? ''));
    expect(uid).toBe('breakerbox-fleet-overview');
  });

  it('do not mount Grafana’s own alerts, and have a comment with their path', () => {
    const [, source = '', target = ''] =
      /^ +# - \.\/(alerts\/grafana):(\S+):ro$/m.exec(readText('docker-compose.yml')) ?? [];
    expect(existsSync(resolve(ROOT, source, 'breakerbox-alerting.yml'))).toBe(true);
    expect(target).toBe(`${GRAFANA.provisioning}/alerting`);
    expect(outside('grafana', target)).toBeUndefined();
  });

  it.each([
    ['alertmanager', option('alertmanager', 'storage.path')],
    ['prometheus', option('prometheus', 'storage.tsdb.path')],
    ['grafana', GRAFANA.data],
    ['tempo', tempo.storage.trace.wal.path],
    ['tempo', tempo.storage.trace.local.path],
  ])('%s writes %s, which is in its volume', (name, path) => {
    expect(outside(name, path)?.split('/')[0]).toBe(`${name}-data`);
  });
});

const portOf = (address: string): number => Number(address.split(':').pop());
const { protocols } = collector.receivers.otlp;

/** The port of a demo agent's /metrics, or of the console, from its command. */
const portIn = (name: string): number => {
  const words = service(name).command ?? [];
  return Number(words[words.indexOf('--port') + 1]);
};

/** The ports of each service: from its command or configuration, or its program's default. */
const PORT = {
  alertmanager: { http: portOf(option('alertmanager', 'web.listen-address') ?? ':9093') },
  ...Object.fromEntries([...AGENTS, 'console'].map((name) => [name, { http: portIn(name) }])),
  grafana: { http: Number(service('grafana').environment?.GF_SERVER_HTTP_PORT ?? 3000) },
  'otel-collector': {
    http: portOf(protocols.http.endpoint),
    grpc: portOf(protocols.grpc.endpoint),
    metrics: portOf(collector.exporters.prometheus.endpoint),
    health: portOf(collector.extensions.health_check.endpoint),
  },
  pager: { http: PAGER_PORT },
  prometheus: { http: portOf(option('prometheus', 'web.listen-address') ?? ':9090') },
  redis: { redis: 6379 },
  tempo: {
    http: tempo.server.http_listen_port,
    grpc: portOf(tempo.distributor.receivers.otlp.protocols.grpc.endpoint),
  },
};
const listening = new Map<string, number[]>(Object.entries(PORT).map(([name, ports]) => [name, Object.values(ports)]));

const targetsOf = (job: string): string[] | undefined =>
  prometheus.scrape_configs.find(({ job_name }) => job_name === job)?.static_configs.flatMap(({ targets }) => targets);
const sourceUrl = (type: string): string | undefined => readDataSources().find((one) => one.type === type)?.url;

describe('ports', () => {
  it('of services are known for all of them that have one', () => {
    const without = ['shared-agents'];
    expect([...listening.keys(), ...without].sort()).toEqual(Object.keys(compose.services).sort());
    for (const port of [...listening.values()].flat()) expect(port).toBeGreaterThan(0);
  });

  it.each([
    [
      'Prometheus to the demo agents that it scrapes',
      targetsOf('breakerbox'),
      ['agent-research', 'agent-support'].map((name) => `${name}:${portIn(name)}`),
    ],
    [
      'Alertmanager to the pager',
      readAlertmanager().receivers.flatMap((one) => (one.slack_configs ?? []).map(({ api_url }) => api_url)),
      [`http://pager:${PORT.pager.http}/`],
    ],
    ['Prometheus to the Collector', targetsOf('otel-collector'), [`otel-collector:${PORT['otel-collector'].metrics}`]],
    [
      'Prometheus to Alertmanager',
      prometheus.alerting.alertmanagers.flatMap((one) => one.static_configs.flatMap(({ targets }) => targets)),
      [`alertmanager:${PORT.alertmanager.http}`],
    ],
    ['the Collector to Tempo', collector.exporters['otlp_grpc/tempo'].endpoint, `tempo:${PORT.tempo.grpc}`],
    [
      'alerts to the console',
      prometheus.global.external_labels.console_url,
      `http://localhost:${portOf(service('console').ports?.[0] ?? '')}`,
    ],
    ['the shared agents to Redis', service('shared-agents').command?.at(-1), `redis://redis:${PORT.redis.redis}`],
    ['Grafana to Prometheus', sourceUrl('prometheus'), `http://prometheus:${PORT.prometheus.http}`],
    ['Grafana to Tempo', sourceUrl('tempo'), `http://tempo:${PORT.tempo.http}`],
    ['Grafana to Alertmanager', sourceUrl('alertmanager'), `http://alertmanager:${PORT.alertmanager.http}`],
    ...AGENTS.map(
      (name) =>
        [
          `${name} to the Collector`,
          service(name).environment?.OTEL_EXPORTER_OTLP_ENDPOINT,
          `http://otel-collector:${PORT['otel-collector'].http}`,
        ] as [string, string | undefined, string],
    ),
  ])('from %s', (_, named, listened) => {
    expect(named).toEqual(listened);
  });

  it('that the agents use with HTTP is the one for HTTP', () => {
    for (const name of AGENTS) {
      expect(service(name).environment?.OTEL_EXPORTER_OTLP_PROTOCOL, name).toBe('http/protobuf');
    }
  });

  it('that other services reach are open on all addresses', () => {
    const addresses = [
      protocols.http.endpoint,
      protocols.grpc.endpoint,
      collector.exporters.prometheus.endpoint,
      collector.extensions.health_check.endpoint,
      tempo.distributor.receivers.otlp.protocols.grpc.endpoint,
    ];
    for (const address of addresses) expect(address).toMatch(/^0\.0\.0\.0:\d+$/);
    for (const name of [...AGENTS, 'console']) {
      const words = service(name).command ?? [];
      expect(words[words.indexOf('--host') + 1], name).toBe('0.0.0.0');
    }
  });

  describe.each([...listening])('%s', (name, ports) => {
    it('publishes only ports on which it listens, under the same number', () => {
      for (const published of service(name).ports ?? []) {
        const [, host, container] = published.split(':').map(Number);
        expect(ports, published).toContain(container);
        expect(host).toBe(container);
      }
    });

    it('is checked and linked at the port on which it listens', () => {
      const text = [...(service(name).healthcheck?.test ?? []), option(name, 'web.external-url') ?? ''].join(' ');
      for (const [, port] of text.matchAll(/(?:127\.0\.0\.1|localhost):(\d+)/g)) expect(ports).toContain(Number(port));
    });
  });

  it('in addresses for people are published', () => {
    const published = Object.values(compose.services).flatMap(({ ports }) => (ports ?? []).map(portOf));
    const text = ['stack/README.md', 'stack/prometheus/prometheus.yml'].map(readText).join('\n');
    const named = [...text.matchAll(/localhost:(\d+)/g)].map(([, port]) => Number(port));
    expect(named.length).toBeGreaterThan(5);
    expect(published).toEqual(expect.arrayContaining(named));
  });
});
