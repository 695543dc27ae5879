/** Descriptions by error code or outcome of a run. */
const words: Readonly<Record<string, string>> = {
  uncaught_error: 'The code threw an error',
  out_of_memory: 'Out of memory',
  cpu_limit: 'Out of processor time',
  sandbox_crashed: 'The code crashed its sandbox',
  start_timed_out: 'The start took too long',
  not_started: 'The host never received the code',
  host_restarted: 'The host restarted',
  host_stopped: 'The host stopped',
  phone_lost: 'The phone was offline for too long',
  setting_unsupported: 'The phone lacks a setting',
  setting_refused: 'The phone rejected a setting',
  result_dropped: 'The result could not be read',
  lost: 'The host was offline for too long',
  out_of_steps: 'Out of steps',
  timed_out: 'The run took too long',
  stopped: 'A user stopped the run',
};

/** Describes why a run did not succeed. */
export function failureWords(code: string): string {
  const known = words[code];
  if (known !== undefined) return known;
  const text = code.replaceAll('_', ' ');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
