import { Link } from '@tanstack/react-router';

interface CodePlace {
  readonly file: string;
  readonly line: number;
}

/** Finds the location in the user's files in a line of a stack trace: `at pay (flows/pay.ts:12:5)`. */
function findPlace(text: string): CodePlace | undefined {
  const [, file, line] = /^\s*at (?:.* \()?([^()\s]+):(\d+):\d+\)?$/.exec(text) ?? [];
  return file === undefined || line === undefined ? undefined : { file, line: Number(line) };
}

/** Returns the location of the failure in the user's code. */
export const placeOfStack = (stack: string | null | undefined): CodePlace | undefined =>
  stack?.split('\n').map(findPlace).find(Boolean);

interface Failed {
  readonly message: string;
  readonly stack?: string | null;
}

/** Returns the stack without its first lines, which repeat the message shown above it. */
export function stackWithoutMessage({ message, stack }: Failed): string {
  const text = stack ?? '';
  const at = text.indexOf(message);
  return (at < 0 ? text : text.slice(at + message.length)).replace(/^\s*\n/, '');
}

interface StackProps {
  stack: string;
  /** Project of the code; undefined for direct code. */
  projectId: string | undefined;
  className: string | undefined;
}

/** Stack trace whose lines link to the code. */
export const Stack = ({ stack, projectId, className }: StackProps) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
  <pre className={className} tabIndex={0} role="region" aria-label="Stack">
    {stack.split('\n').map((text, index) => {
      const place = projectId === undefined ? undefined : findPlace(text);
      return (
        // oxlint-disable-next-line react/no-array-index-key -- lines never move
        <span key={index}>
          {place === undefined || projectId === undefined ? (
            text
          ) : (
            <Link to="/projects/$projectId" params={{ projectId }} search={{ ...place }}>
              {text.trim()}
            </Link>
          )}
          {'\n'}
        </span>
      );
    })}
  </pre>
);
