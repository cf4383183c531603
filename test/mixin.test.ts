/** The mixin of a bundle, built by Jsonnet as mixins are. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { bundleFiles } from '../packages/cli/src/bundle/contents.ts';
import { PARTS, readFlags } from '../packages/cli/src/bundle/options.ts';
import { goProgram, NO_GO } from './go-programs.ts';

it.skipIf(NO_GO !== undefined)(
  'Jsonnet builds the mixin: all dashboards, and the rules of the files',
  async () => {
    const only = PARTS.filter((one) => one !== 'grafana-alerting').join();
    const files = bundleFiles({
      ...readFlags({ folder: 'Agents', only }).options,
      settings: {},
      levels: [],
      ruleObject: {},
    });
    const text = (path: string): string => files.find((file) => file.path === path)?.text ?? '';
    const folder = await mkdtemp(join(tmpdir(), 'breakerbox-mixin-'));
    try {
      for (const file of files) {
        await mkdir(dirname(join(folder, file.path)), { recursive: true });
        await writeFile(join(folder, file.path), file.text);
      }
      const program =
        "local own = (import 'mixin.libsonnet'); { dashboards: own.grafanaDashboards, rules: own.prometheusRules, alerts: own.prometheusAlerts }";
      const { stdout } = await promisify(execFile)(await goProgram('jsonnet'), ['-e', program], {
        cwd: folder,
        maxBuffer: 2 ** 24,
      });
      const built = JSON.parse(stdout);
      const dashboards = files.filter(({ path }) => /^dashboards\/[\w-]+\.json$/.test(path));
      expect(dashboards).toHaveLength(4);
      expect(built.dashboards).toEqual(
        Object.fromEntries(dashboards.map((file) => [file.path.replace('dashboards/', ''), JSON.parse(file.text)])),
      );
      expect(built.rules).toEqual(parse(text('prometheus/rules/breakerbox.recording.yml')));
      expect(built.alerts).toEqual(parse(text('prometheus/rules/breakerbox.alerts.yml')));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  900_000,
);
