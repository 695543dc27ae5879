import type { Run } from '@phalanx/protocol';

import { describeEnd } from '../output/describe-run.ts';

interface Report {
  /** Of the project, or of the file. */
  readonly name: string;
  readonly runs: readonly Run[];
  readonly deviceName: (run: Run) => string;
}

/** What CI servers read: a suite with a test case for each device. */
export function junitReport({ name, runs, deviceName }: Report): string {
  const cases = runs.map((run) => testCase(name, deviceName(run), run));
  const failures = runs.filter((run) => !isSuccess(run)).length;
  const counts = `tests="${runs.length}" failures="${failures}" time="${seconds(Math.max(0, ...runs.map(durationMs)))}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${counts}>
  <testsuite name="${escaped(name)}" ${counts}>
${cases.join('\n')}
  </testsuite>
</testsuites>
`;
}

function testCase(name: string, device: string, run: Run): string {
  const start = `    <testcase classname="${escaped(name)}" name="${escaped(device)}" time="${seconds(durationMs(run))}"`;
  if (isSuccess(run)) return `${start}/>`;
  const text = [`Run ${run.run_id} ${describeEnd(run)}`, run.error?.message, run.error?.stack].filter(
    Boolean,
  );
  return `${start}>
      <failure type="${run.error?.code ?? run.outcome ?? run.status}" message="${escaped(describeEnd(run))}">${escaped(text.join('\n'))}</failure>
    </testcase>`;
}

const isSuccess = ({ outcome }: Run): boolean => outcome === 'succeeded';

const durationMs = ({ started_at: startedAt, ended_at: endedAt }: Run): number =>
  startedAt === null || endedAt === null ? 0 : endedAt - startedAt;

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** XML 1.0 holds no control characters, escaped or not. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '\uFFFD')
    .replaceAll(/[&<>"]/g, (character) => entities[character] ?? character);
