import { describe, expect, it } from 'vitest';
import { batteryFacts } from './battery-facts.ts';

const printed = (values: Record<string, string>): string => {
  const defaults = {
    'AC powered': 'false',
    'USB powered': 'true',
    status: '2',
    health: '2',
    present: 'true',
    level: '63',
  };
  const lines = { ...defaults, voltage: '4320', temperature: '271', ...values };
  return `Current Battery Service state:\n${Object.entries(lines)
    .map(([name, value]) => `  ${name}: ${value}\n`)
    .join('')}`;
};

const none = {
  battery_percent: null,
  temperature_celsius: null,
  charging: null,
  battery_health: null,
  battery_volts: null,
  battery_capacity_percent: null,
  battery_cycles: null,
};

describe('what a phone tells of its battery', () => {
  it('is all that it has measured', () => {
    expect(batteryFacts(printed({}))).toMatchObject({
      battery_present: true,
      battery_percent: 63,
      charging: true,
      battery_health: 'good',
      battery_volts: expect.closeTo(4.32),
      temperature_celsius: expect.closeTo(27.1),
    });
  });

  it.each([
    [
      'has none and tells zeros',
      { present: 'false', level: '0', voltage: '0', temperature: '0', health: '1' },
    ],
    [
      'has none and tells made-up values',
      { present: 'false', level: '100', voltage: '4200', temperature: '250' },
    ],
    ['has none and is plugged in', { present: 'false', 'AC powered': 'true', health: '2' }],
  ])('is nothing for a device that %s', (_, values) => {
    expect(batteryFacts(printed(values))).toEqual({ battery_present: false, ...none });
  });

  it('is unknown when the phone prints nothing', () => {
    expect(batteryFacts('')).toEqual({ battery_present: null, ...none });
  });

  it('has no zeros that nobody has measured', () => {
    const zeros = { level: '0', voltage: '0', temperature: '0', health: '1' };
    expect(batteryFacts(printed(zeros))).toMatchObject({
      battery_present: true,
      battery_percent: null,
      temperature_celsius: null,
      battery_health: null,
      battery_volts: null,
    });
    expect(batteryFacts(printed({ level: '0', temperature: '0' }))).toMatchObject({
      battery_percent: 0,
      temperature_celsius: 0,
    });
  });

  it.each(['-1', '255', 'null', ''])('has no level of "%s"', (level) => {
    expect(batteryFacts(printed({ level })).battery_percent).toBeNull();
  });
});
