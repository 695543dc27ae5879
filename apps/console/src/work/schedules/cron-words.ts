const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;
const months = [
  ...(['January', 'February', 'March', 'April', 'May', 'June', 'July'] as const),
  ...(['August', 'September', 'October', 'November', 'December'] as const),
] as const;

const aliases: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

/** Describes a cron expression, such as `every day at 02:00`; undefined if no short sentence does. */
export function cronWords(cron: string): string | undefined {
  const text = cron.trim();
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...more] = (
    aliases[text.toLowerCase()] ?? text
  ).split(/\s+/);
  if (more.length > 0 || weekday === '') return undefined;
  const date = dateWords(day, month, weekday);
  const time = timeWords(minute, hour);
  if (date === undefined || time === undefined) return undefined;
  if (date !== '') return time.isOfDay ? `${date} at ${time.words}` : `${time.words}, ${date}`;
  return time.isOfDay ? `every day at ${time.words}` : time.words;
}

/**
 * Describes the time fields. `isOfDay` means a time of day, such as `02:00`; otherwise an interval, such as `every
 * hour`.
 */
function timeWords(minute: string, hour: string): { words: string; isOfDay: boolean } | undefined {
  const often = (words: string) => ({ words, isOfDay: false });
  const minuteStep = stepOf(minute, 60);
  if (minuteStep !== undefined && hour === '*')
    return often(minuteStep === 1 ? 'every minute' : `every ${minuteStep} minutes`);
  const at = numberIn(minute, 0, 59);
  if (at === undefined) return undefined;
  const hourStep = stepOf(hour, 24);
  if (hourStep !== undefined) {
    const hours = hourStep === 1 ? 'every hour' : `every ${hourStep} hours`;
    return often(at === 0 ? hours : `${hours} at minute ${at}`);
  }
  const hours = hour.split(',').map((one) => numberIn(one, 0, 23));
  if (!hours.every((one) => one !== undefined)) return undefined;
  return { words: listWords(hours.map((one) => `${twoDigits(one)}:${twoDigits(at)}`)), isOfDay: true };
}

/** Describes the date fields. Empty for every day. */
function dateWords(day: string, month: string, weekday: string): string | undefined {
  if (day === '*' && month === '*') return weekday === '*' ? '' : weekdayWords(weekday);
  const date = numberIn(day, 1, 31);
  if (date === undefined || weekday !== '*') return undefined;
  if (month === '*') return `on day ${date} of every month`;
  const number = numberIn(month, 1, 12);
  return number === undefined ? undefined : `every year on ${months[number - 1]} ${date}`;
}

function weekdayWords(weekday: string): string | undefined {
  const range = /^(\w+)-(\w+)$/.exec(weekday);
  if (range !== null) {
    const [from, to] = [dayOf(range[1] ?? ''), dayOf(range[2] ?? '')];
    return from === undefined || to === undefined ? undefined : `every ${from} to ${to}`;
  }
  const names = weekday.split(',').map(dayOf);
  return names.every((name) => name !== undefined) ? `every ${listWords(names)}` : undefined;
}

function dayOf(text: string): string | undefined {
  const number = numberIn(text, 0, 7);
  if (number !== undefined) return days[number % 7];
  return days.find((day) => day.slice(0, 3).toLowerCase() === text.toLowerCase());
}

/** Returns the step of a field if it divides the whole range evenly; otherwise undefined. */
function stepOf(text: string, count: number): number | undefined {
  if (text === '*') return 1;
  const step = numberIn(/^\*\/(\d+)$/.exec(text)?.[1] ?? '', 1, count - 1);
  return step !== undefined && count % step === 0 ? step : undefined;
}

function numberIn(text: string, min: number, max: number): number | undefined {
  const number = Number(text);
  return /^\d{1,2}$/.test(text) && number >= min && number <= max ? number : undefined;
}

const twoDigits = (number: number): string => String(number).padStart(2, '0');

const listWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
