import { describe, expect, it } from 'vitest';
import { checkSettings, RuleOptionsError } from './check-settings.ts';
import { durationOf, inWords, seconds, secondsOf } from './duration.ts';
import { grafanaAlerting } from './grafana.ts';
import { ruleFiles } from './prometheus.ts';
import { checkedSelector, inTemplate } from './selector.ts';
import { DEFAULT_SETTINGS, type RuleSettings } from './settings.ts';

describe('settings', () => {
  it('are the defaults, and what one says in place of some', () => {
    expect(checkSettings()).toEqual(DEFAULT_SETTINGS);
    expect(checkSettings({ openFor: '10m' })).toEqual({ ...DEFAULT_SETTINGS, openFor: '10m' });
    expect(ruleFiles({ settings: { openFor: '10m' } })[1]?.text).toContain('for: 10m');
  });

  it.each<[Partial<Record<keyof RuleSettings, unknown>>, RegExp]>([
    [
      { openFor: 'soon' },
      /settings\.openFor: is 'soon', and Prometheus would refuse it.*such as 2m30s.*default is '5m'/,
    ],
    [{ openFor: '1.5m' }, /openFor: is '1.5m'/],
    [{ openFor: '0s' }, /openFor: is '0s'/],
    [{ openFor: 300 }, /openFor: is 300/],
    [{ errorRatio: 25 }, /errorRatio: is 25, and it is a share.*Write 0.25 for 25 %/],
    [{ errorRatio: 0 }, /errorRatio: is 0/],
    [{ errorRatio: Number.NaN }, /errorRatio: is NaN, and nothing can be compared/],
    [{ errorRatio: '25%' }, /errorRatio: is '25%'/],
    [{ flappingOpenings: 0 }, /flappingOpenings: is 0, and it counts.*from 1 on/],
    [{ flappingOpenings: 2.5 }, /flappingOpenings: is 2.5/],
    [{ correlatedTools: 1 }, /correlatedTools: is 1, and one alone/],
    [{ slowFactor: 1 }, /slowFactor: is 1, and half of the time/],
    [{ slowFloor: -1 }, /slowFloor: is -1/],
    [{ gap: '5m' }, /settings\.openFor: is 5m, not longer than settings\.gap \(5m\): a single hole/],
    [{ afterOpen: '14m' }, /afterOpen: is 14m, shorter than 15m.*Write 15m or more/],
    [{ correlatedMemory: '2m' }, /correlatedMemory: is 2m, not longer than settings\.correlatedWithin/],
  ])('%j is refused, with what, why and how to mend it', (own, message) => {
    expect(() => checkSettings(own as Partial<RuleSettings>)).toThrow(message);
  });

  it('names a setting that there isn’t, and all that is wrong at once', () => {
    const own = { openfor: '5m', errorRatio: 2, openShare: -1 } as Partial<RuleSettings>;
    try {
      checkSettings(own);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(RuleOptionsError);
      const { code, issues } = error as RuleOptionsError;
      expect(code).toBe('BREAKERBOX_RULE_OPTIONS');
      expect(issues.map(({ path }) => path)).toEqual(['settings.openfor', 'settings.errorRatio', 'settings.openShare']);
      expect(issues[0]?.message).toMatch(/is no setting.*gap, openFor/);
    }
  });
});

describe('a selector', () => {
  it('is taken with braces and without, and set in order', () => {
    expect(checkedSelector('')).toBe('');
    expect(checkedSelector(' {job=~"a-.+",  cluster != "x"} ')).toBe('job=~"a-.+", cluster != "x"');
    expect(checkedSelector('job="a\\"b,c}",')).toBe('job="a\\"b,c}"');
  });

  it.each(['job', 'job=a', "job='a'", 'job="a" cluster="b"', 'job="a"} or up{x="y"', '{job="a"', 'job="a'])(
    '%s is refused',
    (text) => {
      expect(() => checkedSelector(text)).toThrow(/selector: .* is no list of matchers.*job=~"agents-\.\+"/);
    },
  );

  it('is safe in a template', () => {
    expect(inTemplate('a="50%`"')).toBe('a="50%%\\x60"');
  });
});

describe('options of Grafana', () => {
  it('are in the file', () => {
    const { text } = grafanaAlerting({ dataSourceUid: 'prometheus', folder: 'Agents' });
    expect(text).toContain('datasourceUid: prometheus');
    expect(text).toContain('folder: Agents');
  });

  it('are refused where Grafana would read something else', () => {
    expect(() => grafanaAlerting({ folder: '' })).toThrow(/folder: is "".*title of a folder/);
    expect(() => grafanaAlerting({ dataSourceUid: '$UID' })).toThrow(/dataSourceUid: is "\$UID"/);
  });
});

describe('durations', () => {
  it('are read, written, and said', () => {
    expect(secondsOf('2m30s')).toBe(150);
    expect(secondsOf('1w')).toBe(604_800);
    expect(secondsOf('5')).toBeUndefined();
    expect(() => seconds('soon')).toThrow(/'soon' is no duration/);
    expect(durationOf(150)).toBe('2m30s');
    expect(durationOf(0)).toBe('0s');
    expect(inWords('90m')).toBe('1 hour 30 minutes');
  });
});
