/** The Alertmanager part of a bundle, installed as its README says. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runTool } from '../../../../stack/tools.ts';
import { runBundle, type TestFolder, testFolder } from './test-support.ts';

let at: TestFolder;
let files: Readonly<Record<string, string>>;
beforeAll(async () => {
  at = await testFolder();
  expect(await runBundle('--out', at.out, '--only', 'rules')).toMatchObject({ code: 0, err: '' });
  files = await at.files();
});
afterAll(() => at.remove());

const file = (path: string): string => files[`out/${path}`] ?? '';

describe('the Alertmanager part of a bundle', () => {
  it('loads into Alertmanager when it is installed as the README says', async () => {
    const [, snippet = ''] = /```yaml\n(route:[^`]*)```/.exec(file('README.md')) ?? [];
    const added = parse(snippet.replace('/etc/alertmanager/templates/', join(at.out, 'alertmanager/')));
    const { receivers } = parse(file('alertmanager/receivers.yml'));
    const team = { route: { receiver: 'team' }, receivers: [{ name: 'team' }] };
    const [{ receiver, matchers }] = added.route.routes;
    expect(receivers.map(({ name }: { name: string }) => name)).toContain(receiver);
    expect(matchers).toEqual(['alertname=~"Breakerbox.+"']);
    const config = {
      route: { ...team.route, ...added.route },
      receivers: [...team.receivers, ...receivers],
      templates: added.templates,
      ...parse(file('alertmanager/inhibit_rules.yml')),
    };
    expect(Object.keys(config)).toHaveLength(4);
    const path = join(at.folder, 'alertmanager.yml');
    await writeFile(path, JSON.stringify(config));
    const { code, output } = await runTool('amtool', ['check-config', path]);
    expect(code, output).toBe(0);
    expect(output).toMatch(/SUCCESS[\s\S]*3 receivers\s[\s\S]*1 templates/);
    const routed = ['config', 'routes', 'test', '--config.file', path, 'alertname=BreakerboxCircuitOpen'];
    expect((await runTool('amtool', routed)).output).toMatch(new RegExp(`^${receiver}$`, 'm'));
  });

  it('has receivers whose templates exist', () => {
    const defined = new Set(
      [...file('alertmanager/breakerbox.tmpl').matchAll(/define "([\w.]+)"/g)].map(([, name]) => name),
    );
    const used = [...file('alertmanager/receivers.yml').matchAll(/template "([\w.]+)"/g)].map(([, name]) => name);
    expect(new Set(used).size).toBeGreaterThan(4);
    for (const name of used) expect(defined).toContain(name);
  });

  it('equals the configuration of this repository', async () => {
    const url = new URL('../../../../stack/alertmanager/alertmanager.yml', import.meta.url);
    const { inhibit_rules, route } = parse(await readFile(url, 'utf8'));
    expect(parse(file('alertmanager/inhibit_rules.yml'))).toEqual({ inhibit_rules });
    expect(file('README.md')).toContain(`group_by: [${route.group_by.join(', ')}]`);
  });
});
