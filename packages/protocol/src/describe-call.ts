import type { RecordedCall } from './runs/records.ts';

/** A call of a record in words, such as `tap at 540, 1200`. */
export function describeCall({
  name,
  key,
  package: app,
  text_length: length,
  ...place
}: RecordedCall): string {
  const { x, y, to_x: toX, to_y: toY } = place;
  const from = x === undefined || y === undefined ? '' : `${x}, ${y}`;
  const to = toX === undefined || toY === undefined ? '' : `${toX}, ${toY}`;
  const parts = [
    wordsOf(name),
    from !== '' && (to === '' ? `at ${from}` : `from ${from} to ${to}`),
    key !== undefined && key,
    app !== undefined && `of ${app}`,
    length !== undefined && `of ${length} characters`,
  ];
  return parts.filter((part) => part !== false).join(' ');
}

/** `input.longPress` is a long press, `app.launch` a launch of an app. */
function wordsOf(name: string): string {
  const [group = '', call = group] = name.split('.');
  const words = call.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return group === 'input' || group === 'alert' || group === call ? words : `${group} ${words}`;
}
