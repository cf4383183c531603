import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DCLinter } from 'dclint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { METRIC } from '../packages/core/src/telemetry/semconv.ts';
import {
  ROOT,
  readAlertmanager,
  readCollector,
  readCompose,
  readDataSources,
  readPrometheus,
  readText,
} from './files.ts';
import { runTool } from './tools.ts';

const compose = readCompose();
const services = Object.entries(compose.services);
const prometheus = readPrometheus();
const collector = readCollector();
const dataSources = readDataSources();

describe('docker-compose.yml', () => {
  it('follows the compose schema and good practice', () => {
    const off = ['service-keys-order', 'require-quotes-in-ports'];
    const rules = Object.fromEntries(off.map((name) => [name, 0 as const]));
    // dclint's own types don't resolve under nodenext.
    const results: readonly { readonly messages: readonly unknown[] }[] = new DCLinter({
      rules,
      quiet: true,
      debug: false,
      exclude: [],
    }).lintFiles([join(ROOT, 'docker-compose.yml')], false);
    expect(results).toHaveLength(1);
    expect(results.flatMap(({ messages }) => messages)).toEqual([]);
  });

  it('has the six services', () => {
    expect(services.map(([name]) => name)).toEqual([
      'alertmanager',
      'demo-agents',
      'grafana',
      'otel-collector',
      'prometheus',
      'tempo',
    ]);
  });

  describe.each(services)('%s', (name, service) => {
    it('has an image with an exact version, or a Dockerfile whose base has one', () => {
      const image =
        service.image ?? /^FROM (\S+)$/m.exec(readText(service.build?.dockerfile ?? 'no image and no build'))?.[1];
      expect(image).toMatch(/^[a-z0-9./-]+:v?\d+\.\d+\.\d+(-[a-z-]+)?$/);
    });

    it('mounts files that exist, read-only, and volumes that are declared', () => {
      for (const volume of service.volumes ?? []) {
        const [source = '', target, mode] = volume.split(':');
        expect(target).toMatch(/^\//);
        if (source.startsWith('.')) {
          expect(existsSync(resolve(ROOT, source)), `${source}, mounted by ${name}`).toBe(true);
          expect(mode, volume).toBe('ro');
        } else expect(Object.keys(compose.volumes)).toContain(source);
      }
    });

    it('publishes on 127.0.0.1 alone', () => {
      expect(service.ports?.length ?? 0).toBe(
        service.ports?.filter((port) => port.startsWith('127.0.0.1:')).length ?? 0,
      );
    });

    it('has a health check, or says why not; is restarted; has a memory limit', () => {
      const check = service.healthcheck?.test[0] === 'CMD' ? 'checked' : service['x-no-healthcheck'];
      expect(check).toBeTruthy();
      expect(service.restart).toBe('unless-stopped');
      expect(service.mem_limit).toMatch(/^\d+m$/);
    });

    it('waits for services that are there, and for health only where there is a check', () => {
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        expect(compose.services[other], other).toBeDefined();
        if (condition === 'service_healthy') expect(compose.services[other]?.healthcheck, other).toBeDefined();
      }
    });
  });

  it('lets nobody into Grafana without a password', () => {
    const environment = compose.services.grafana?.environment ?? {};
    expect(Object.keys(environment).filter((name) => /ANONYMOUS|DISABLE_LOGIN|AUTH_PROXY/.test(name))).toEqual([]);
    expect(environment.GF_SECURITY_ADMIN_PASSWORD).toMatch(/^\$\{GRAFANA_ADMIN_PASSWORD:-.+\}$/);
  });

  it('gives the metrics of the demo agents one way only', () => {
    expect(prometheus.scrape_configs[0]?.static_configs[0]?.targets).toEqual(['demo-agents:9464']);
    expect(compose.services['demo-agents']?.environment?.OTEL_METRICS_EXPORTER).toBe('prometheus');
  });
});

describe('the image of the demo agents', () => {
  const dockerfile = readText('stack/demo-agents/Dockerfile');

  it('has the Node of package.json', () => {
    const { devDependencies }: { devDependencies: Record<string, string> } = JSON.parse(readText('package.json'));
    expect(dockerfile).toContain(`FROM node:${devDependencies.node}-`);
  });

  it('starts a file that exists, not as root', () => {
    const entry = /"(packages\/\S+\.ts)"/.exec(dockerfile)?.[1] ?? '';
    expect(existsSync(resolve(ROOT, entry)), entry).toBe(true);
    expect(dockerfile).toMatch(/^USER node$/m);
  });
});

describe('the parts of the files', () => {
  it('believes the job label of what the Collector exports', () => {
    const job = prometheus.scrape_configs.find(({ job_name }) => job_name === 'otel-collector');
    expect(job?.honor_labels).toBe(true);
  });

  it('has every part of the Collector’s pipelines', () => {
    expect(Object.keys(collector.service.pipelines).sort()).toEqual(['logs', 'metrics', 'traces']);
    for (const pipeline of Object.values(collector.service.pipelines)) {
      expect(Object.keys(collector.receivers)).toEqual(expect.arrayContaining([...pipeline.receivers]));
      expect(Object.keys(collector.processors)).toEqual(expect.arrayContaining([...pipeline.processors]));
      expect(Object.keys(collector.exporters)).toEqual(expect.arrayContaining([...pipeline.exporters]));
    }
    expect(collector.service.extensions).toEqual(Object.keys(collector.extensions));
  });

  it('tells Grafana the interval that Prometheus has', () => {
    const source = dataSources.find(({ type }) => type === 'prometheus');
    expect(source?.jsonData.timeInterval).toBe(prometheus.global.scrape_interval);
  });

  it('has the data sources that links and dashboards name', () => {
    const uids = dataSources.map(({ uid }) => uid);
    expect(uids).toEqual(['breakerbox-prometheus', 'breakerbox-tempo', 'breakerbox-alertmanager']);
    const folder = compose.services.grafana?.volumes
      ?.find((volume) => volume.includes('/dashboards:ro'))
      ?.split(':')[0];
    const dashboards = readdirSync(resolve(ROOT, folder ?? '')).map((name) => readText(join(folder ?? '', name)));
    const named = [readText('stack/grafana/provisioning/datasources/breakerbox.yml'), ...dashboards].flatMap((text) =>
      [...text.matchAll(/breakerbox-(?:prometheus|tempo|alertmanager|loki)\b/g)].map(([uid]) => uid),
    );
    expect(uids).toEqual(expect.arrayContaining(named));
  });

  it('asks for series that the code emits, from a span', () => {
    const names = Object.values(METRIC).map(({ prometheus: name }): string => name);
    const text = readText('stack/grafana/provisioning/datasources/breakerbox.yml');
    const used = [...text.matchAll(/breakerbox_\w+(?=\{)/g)].map(([name]) => name);
    expect(used).toHaveLength(3);
    expect(names).toEqual(expect.arrayContaining(used));
  });
});

describe('the files, by the programs that read them', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'breakerbox-stack-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('prometheus.yml, with the rules of alerts/', async () => {
    const file = join(folder, 'prometheus.yml');
    writeFileSync(file, stringify({ ...prometheus, rule_files: [resolve(ROOT, 'alerts/rules/*.yml')] }));
    const { code, output } = await runTool('promtool', ['check', 'config', file]);
    expect(code, output).toBe(0);
    expect(output).toContain('2 rule files found');
  });

  it('alertmanager.yml', async () => {
    const { code, output } = await runTool('amtool', ['check-config', 'stack/alertmanager/alertmanager.yml'], ROOT);
    expect(code, output).toBe(0);
    expect(readAlertmanager().receivers.map(({ name }) => name)).toEqual([readAlertmanager().route.receiver]);
  });

  it.each([
    'docker-compose.yml',
    'stack/tempo/tempo.yaml',
    'stack/otel-collector/config.yaml',
    'stack/grafana/provisioning/dashboards/breakerbox.yml',
  ])('%s is YAML without duplicate keys', (path) => {
    const documents = parseAllDocuments(readText(path), { merge: true });
    expect(documents).toHaveLength(1);
    for (const { errors, warnings } of documents) expect([...errors, ...warnings]).toEqual([]);
  });
});
