import { describe, expect, it } from 'vitest';
import { checkSettings, RuleOptionsError } from './check-settings.ts';
import { durationOf, inWords, seconds, secondsOf } from './duration.ts';
import { grafanaAlerting } from './grafana.ts';
import { ruleFiles } from './prometheus.ts';
import { checkedSelector, inTemplate } from './selector.ts';
import { DEFAULT_SETTINGS, type RuleSettings } from './settings.ts';

describe('settings', () => {
  it('are the defaults, with your own values in place of some', () => {
    expect(checkSettings()).toEqual(DEFAULT_SETTINGS);
    expect(checkSettings({ openFor: '10m' })).toEqual({ ...DEFAULT_SETTINGS, openFor: '10m' });
    expect(ruleFiles({ settings: { openFor: '10m' } })[1]?.text).toContain('for: 10m');
  });

  it.each<[Partial<Record<keyof RuleSettings, unknown>>, RegExp]>([
    [{ openFor: 'soon' }, /settings\.openFor: is 'soon'.*such as 2m30s.*default is '5m'/],
    [{ openFor: '1.5m' }, /openFor: is '1.5m'/],
    [{ openFor: '0s' }, /openFor: is '0s'/],
    [{ openFor: 300 }, /openFor: is 300/],
    [{ errorRatio: 25 }, /errorRatio: is 25, .*share.*Write 0.25 for 25 %/],
    [{ errorRatio: 0 }, /errorRatio: is 0/],
    [{ errorRatio: Number.NaN }, /errorRatio: is NaN, .*Write a number/],
    [{ errorRatio: '25%' }, /errorRatio: is '25%'/],
    [{ flappingOpenings: 0 }, /flappingOpenings: is 0, .*count.*1 or more/],
    [{ onFallbackLeastAnswers: 0 }, /onFallbackLeastAnswers: is 0, .*count/],
    [{ modelsDownLeastCalls: 0.5 }, /modelsDownLeastCalls: is 0\.5, .*count/],
    [{ flappingOpenings: 2.5 }, /flappingOpenings: is 2.5/],
    [{ correlatedTools: 1 }, /correlatedTools: is 1, .*2 or more/],
    [{ slowFactor: 1 }, /slowFactor: is 1, .*above 1/],
    [{ slowFloor: -1 }, /slowFloor: is -1/],
    [{ openFor: '0m5m' }, /openFor: is '0m5m'.*the longest first/],
    [{ openFor: '30s5m' }, /openFor: is '30s5m'/],
    [{ openFor: '5m5m' }, /openFor: is '5m5m'/],
    [{ openFor: '' }, /openFor: is ''/],
    [{ openFor: '9999999999999d' }, /openFor: is '9999999999999d', which/],
    [{ absentHabit: '200w' }, /absentHabit: is '200w', .*365d/],
    [{ openFor: ['5m'] }, /openFor: is a list/],
    [{ openFor: { of: '5m' } }, /openFor: is a map of names/],
    [{ openFor: null }, /openFor: is nothing/],
    [{ gap: '5m' }, /settings\.gap: is 5m, not shorter than settings\.openFor \(5m\): a single gap.*lengthen openFor/],
    [
      { gap: '6m', openFor: '6m', absentFor: '7m', systemicWithin: '7m', exhaustedWithin: '7m' },
      /settings\.openFor: is 6m, not longer than settings\.gap \(6m\)/,
    ],
    [{ gap: '6m' }, /settings\.gap: is 6m, longer than 5m: .*one sample.*Write 5m or less/],
    [{ starvedFor: '4m' }, /starvedFor: is 4m, not longer than twice settings\.gap/],
    [{ exhaustedWithin: '1m' }, /exhaustedWithin: is 1m, not longer than settings\.gap/],
    [{ limitWithin: '2m' }, /limitWithin: is 2m, not longer than settings\.gap/],
    [{ spendFactor: 1 }, /spendFactor: is 1, .*above 1/],
    [{ spendCriticalCost: -1 }, /spendCriticalCost: is -1, .*never below 0/],
    [{ spendLeastHistory: '2w' }, /spendLeastHistory: is 2w, longer than 1w/],
    [{ systemicWithin: '2m' }, /systemicWithin: is 2m, not longer than settings\.gap/],
    [{ correlatedRecent: '30s' }, /correlatedRecent: is 30s, not longer than settings\.gap/],
    [{ absentLeastReported: '1h' }, /absentLeastReported: is 1h\..*settings\.absentFor \(5m\).* more than 45m/],
    [{ absentFor: '50m' }, /absentFor: is 50m\..*settings\.absentLeastReported \(15m\).*never fire/],
    [{ absentHabitShare: 1 }, /absentHabitShare: is 1\. With settings\.absentHabit \(2d\).*less than one hour/],
    [{ absentHabit: '1h' }, /absentHabit: is 1h\. With settings\.absentHabitShare \(0\.5\)/],
    [{ slowLeastHistory: '8d' }, /slowLeastHistory: is 8d, longer than 1w/],
    [{ slowFor: '4d', slowLeastHistory: '5d' }, /slowFor: is 4d, longer than 3d/],
    [{ slowFor: '2d' }, /slowFor: is 2d, not shorter than settings\.slowLeastHistory \(1d\)/],
    [{ slowFloor: 81.92 }, /slowFloor: is 81\.92, .*histogram ends at 81\.92/],
    [{ errorRatio: 1 }, /errorRatio: is 1, .*share.*the alert would never fire/],
    [{ burnFastRatio: 1 }, /burnFastRatio: is 1, .*share/],
    [{ burnSlowRatio: 1 }, /burnSlowRatio: is 1, .*share/],
    [{ burnSlowRatio: 0.5 }, /burnSlowRatio: is 0\.5, not less than settings\.burnFastRatio \(0\.5\)/],
    [{ burnFastRatio: 0.2 }, /burnFastRatio: is 0\.2, not more than settings\.burnSlowRatio \(0\.25\)/],
    [{ burnFastLeastSessions: 0 }, /burnFastLeastSessions: is 0, .*count/],
    [{ burnSlowLeastSessions: 2.5 }, /burnSlowLeastSessions: is 2\.5, .*count/],
    [{ afterOpen: '14m' }, /afterOpen: is 14m, shorter than 15m.*Write 15m or more/],
    [{ openKeep: '5m' }, /openKeep: is 5m, not shorter than settings\.correlatedKeep \(5m\): muted alerts/],
    [{ systemicKeep: '2m' }, /systemicKeep: is 2m, not longer than settings\.openKeep \(2m\)/],
    [{ correlatedMemory: '2m' }, /correlatedMemory: is 2m, not longer than settings\.correlatedWithin/],
  ])('%j is rejected; the message says what is wrong, why, and how to fix it', (own, message) => {
    expect(() => checkSettings(own as Partial<RuleSettings>)).toThrow(message);
  });

  it.each<Partial<RuleSettings>>([
    {
      gap: '5m',
      openFor: '6m',
      starvedFor: '11m',
      absentFor: '6m',
      degradedFor: '6m',
      onFallbackFor: '6m',
      modelsDownFor: '6m',
      systemicWithin: '6m',
      exhaustedWithin: '6m',
      limitWithin: '6m',
      correlatedRecent: '6m',
    },
    { absentFor: '30m' },
    { absentLeastReported: '40m' },
    { absentHabit: '1w', absentHabitShare: 0.9 },
    { slowLeastHistory: '1w' },
    { openShare: 1, correlatedShare: 1 },
    { openFor: '1h30m', correlatedHold: '1w2d3h4m5s' },
  ])('%j is accepted', (own) => {
    expect(checkSettings(own)).toEqual({ ...DEFAULT_SETTINGS, ...own });
  });

  it('names an unknown setting, and reports all faults at once', () => {
    const own = { openfor: '5m', errorRatio: 2, openShare: -1 } as Partial<RuleSettings>;
    try {
      checkSettings(own);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(RuleOptionsError);
      const { code, issues } = error as RuleOptionsError;
      expect(code).toBe('BREAKERBOX_RULE_OPTIONS');
      expect(issues.map(({ path }) => path)).toEqual(['settings.openfor', 'settings.errorRatio', 'settings.openShare']);
      expect(issues[0]?.message).toMatch(/is not a setting.*gap, openFor/);
    }
  });
});

describe('a selector', () => {
  it('is accepted with and without braces, and normalised', () => {
    expect(checkedSelector('')).toBe('');
    expect(checkedSelector(' {job=~"a-.+",  cluster != "x"} ')).toBe('job=~"a-.+", cluster != "x"');
    expect(checkedSelector('job="a\\"b,c}",')).toBe('job="a\\"b,c}"');
  });

  it.each(['job', 'job=a', "job='a'", 'job="a" cluster="b"', 'job="a"} or up{x="y"', '{job="a"', 'job="a'])(
    '%s is rejected',
    (text) => {
      expect(() => checkedSelector(text)).toThrow(/selector: .* is not a list of matchers.*job=~"agents-\.\+"/);
    },
  );

  it('is safe inside a template', () => {
    expect(inTemplate('a="50%`"')).toBe('a="50%%\\x60"');
  });
});

describe('options of Grafana', () => {
  it('are written to the file', () => {
    const { text } = grafanaAlerting({ dataSourceUid: 'prometheus', folder: 'Agents' });
    expect(text).toContain('datasourceUid: prometheus');
    expect(text).toContain('folder: Agents');
  });

  it('are rejected if Grafana would read them differently', () => {
    expect(() => grafanaAlerting({ folder: '' })).toThrow(/folder: is "".*title of a folder/);
    expect(() => grafanaAlerting({ dataSourceUid: '$UID' })).toThrow(/dataSourceUid: is "\$UID"/);
  });
});

describe('durations', () => {
  it('are parsed, written, and put in words', () => {
    expect(secondsOf('2m30s')).toBe(150);
    expect(secondsOf('1w')).toBe(604_800);
    for (const text of ['5', '', '0m5m', '5m30s10s', '15251w', '9999999999999d'])
      expect(secondsOf(text)).toBeUndefined();
    expect(secondsOf('15250w')).toBe(15_250 * 604_800);
    expect(() => seconds('soon')).toThrow(/'soon' is not a duration/);
    expect(durationOf(150)).toBe('2m30s');
    expect(durationOf(0)).toBe('0s');
    expect(inWords('90m')).toBe('1 hour 30 minutes');
  });
});
