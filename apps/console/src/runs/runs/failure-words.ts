/** By the code of a run's error, or by its outcome. */
const words: Readonly<Record<string, string>> = {
  uncaught_error: 'The code threw an error',
  out_of_memory: 'Out of memory',
  cpu_limit: 'Out of processor time',
  sandbox_crashed: 'The code crashed its sandbox',
  start_timed_out: 'The start took too long',
  not_started: 'The host never received the code',
  host_restarted: 'The host restarted',
  host_stopped: 'The host stopped',
  phone_lost: 'The phone was away for too long',
  setting_unsupported: 'The phone does not have a setting',
  setting_refused: 'The phone did not take a setting',
  result_dropped: 'The result could not be read',
  lost: 'The host was away for too long',
  out_of_steps: 'Out of steps',
  timed_out: 'The run took too long',
  stopped: 'Somebody stopped the run',
};

/** Why a run did not succeed, for people. */
export function failureWords(code: string): string {
  const known = words[code];
  if (known !== undefined) return known;
  const text = code.replaceAll('_', ' ');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
