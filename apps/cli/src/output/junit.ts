/** One test of a report. */
export interface JunitCase {
  suite: string;
  name: string;
  durationMs?: number;
  failure?: { type: string; message: string; text: string };
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Returns a JUnit report for CI servers, with a suite for each suite name, in order. */
export function junitReport(cases: readonly JunitCase[]): string {
  const suites = [...Map.groupBy(cases, ({ suite }) => suite)];
  const texts = suites.map(([name, members]) =>
    [
      `  <testsuite name="${escaped(name)}" ${countsOf(members)}>`,
      ...members.map(caseText),
      '  </testsuite>',
    ].join('\n'),
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${countsOf(cases)}>
${texts.join('\n')}
</testsuites>
`;
}

/** Returns the counts as attributes. Tests may have run in parallel, so the longest one gives the time. */
function countsOf(cases: readonly JunitCase[]): string {
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const longestMs = Math.max(0, ...cases.map(({ durationMs = 0 }) => durationMs));
  return `tests="${cases.length}" failures="${failures}" time="${seconds(longestMs)}"`;
}

function caseText({ suite, name, durationMs = 0, failure }: JunitCase): string {
  const start = `    <testcase classname="${escaped(suite)}" name="${escaped(name)}" time="${seconds(durationMs)}"`;
  if (failure === undefined) return `${start}/>`;
  const { type, message, text } = failure;
  return `${start}>
      <failure type="${escaped(type)}" message="${escaped(message)}">${escaped(text)}</failure>
    </testcase>`;
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

/** Escapes a text for XML 1.0, which allows no control characters, even escaped. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '\uFFFD')
    .replaceAll(/[&<>"]/g, (character) => entities[character] ?? character);
