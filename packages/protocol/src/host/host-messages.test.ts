import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { describe, expect, it } from 'vitest';

import { HostFrameHeader, HostMessage, ServerMessage, WireLogEntries } from './host-messages.ts';

const schemas = {
  HostMessage: Compile(HostMessage),
  HostFrameHeader: Compile(HostFrameHeader),
  ServerMessage: Compile(ServerMessage),
  WireLogEntries: Compile(WireLogEntries),
};

describe('what comes over the wire of a host', () => {
  it.each(Object.entries(schemas))('%s refuses JSON that means nothing', (_name, schema) => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(schema.Check(value)).toBe(false);
      }),
    );
  });

  it('takes keys of any name in the inputs of a launch', () => {
    const inputs: unknown = JSON.parse('{"__proto__": {"a": 1}, "constructor": [], "": null}');
    const launch = {
      type: 'launch',
      automation_id: 'a',
      bundle: { hash: '0'.repeat(64), content: { code: '', source_map: null } },
      automation_parameters: inputs,
      job_variables: {},
      runs: [],
    };
    expect(schemas.ServerMessage.Check(launch)).toBe(true);
    expect(schemas.ServerMessage.Check({ ...launch, job_variables: [] })).toBe(false);
    expect(schemas.ServerMessage.Check({ ...launch, job_variables: null })).toBe(false);
  });

  it.each([
    [[[1, 0, 0, 'x']], true],
    [[[1, 2, 7, '']], true],
    [[[1.5, 0, 0, 'x']], false],
    [[[-1, 0, 0, 'x']], false],
    [[[1, -1, 0, 'x']], false],
    [[[1, 0, -1, 'x']], false],
    [[[1, 0, 0]], false],
    [[[1, 0, 0, 'x', 'main.ts']], true],
    [[[1, 0, 0, 'x', 'main.ts', 'y']], false],
    [[[1, 0, 0, 'x', 5]], false],
    [[['1', 0, 0, 'x']], false],
    [[], false],
  ])('judges the log entries %j as %j', (entries, isGood) => {
    expect(schemas.WireLogEntries.Check(entries)).toBe(isGood);
  });
});
