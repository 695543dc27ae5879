import type { Task } from '@phalanx/protocol';

const plain = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};
const cell = (value: unknown): string => {
  const text = plain(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fixed = ['number', 'status', 'device_id', 'run_id', 'attempts', 'error'] as const;

/** The inputs of tasks with what became of each: a column for each field of the inputs and the results. */
export function resultsAsCsv(tasks: readonly Task[]): string {
  const fieldsOf = (values: readonly unknown[]): string[] => [
    ...new Set(values.flatMap((value) => (isObject(value) ? Object.keys(value) : []))),
  ];
  const inputs = fieldsOf(tasks.map(({ input }) => input));
  const results = fieldsOf(tasks.map(({ result }) => result));
  const hasOther = tasks.some(({ result }) => result !== null && !isObject(result));
  const names = [
    ...fixed,
    ...inputs.map((name) => `input.${name}`),
    ...results.map((name) => `result.${name}`),
    ...(hasOther ? ['result'] : []),
  ];
  const rows = tasks.map((task) => [
    ...[task.number, task.status, task.device_id, task.run_id, task.attempts.length, task.error?.message],
    ...inputs.map((name) => task.input?.[name]),
    ...results.map((name) => (isObject(task.result) ? task.result[name] : undefined)),
    ...(hasOther ? [isObject(task.result) ? undefined : task.result] : []),
  ]);
  return [names, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

export const resultsAsLines = (tasks: readonly Task[]): string =>
  tasks.map((task) => `${JSON.stringify(task)}\n`).join('');
