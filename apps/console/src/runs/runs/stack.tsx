import { Link } from '@tanstack/react-router';

interface CodePlace {
  readonly file: string;
  readonly line: number;
}

/** Finds the place in the user's files in a line of a stack: `at pay (flows/pay.ts:12:5)`. */
function findPlace(text: string): CodePlace | undefined {
  const [, file, line] = /^\s*at (?:.* \()?([^()\s]+):(\d+):\d+\)?$/.exec(text) ?? [];
  return file === undefined || line === undefined ? undefined : { file, line: Number(line) };
}

/** Place in the code at which it failed. */
export const placeOfStack = (stack: string | null | undefined): CodePlace | undefined =>
  stack?.split('\n').map(findPlace).find(Boolean);

interface Failed {
  readonly message: string;
  readonly stack?: string | null;
}

/** The stack of an error whose message stands above it. JavaScript repeats the message in the stack's first lines. */
export function stackWithoutMessage({ message, stack }: Failed): string {
  const text = stack ?? '';
  const at = text.indexOf(message);
  return (at < 0 ? text : text.slice(at + message.length)).replace(/^\s*\n/, '');
}

interface StackProps {
  stack: string;
  /** Undefined for code that is no project's. */
  projectId: string | undefined;
  className: string | undefined;
}

/** A stack whose lines open the code. */
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
