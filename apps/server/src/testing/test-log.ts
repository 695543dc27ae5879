import { pino, type Logger } from 'pino';

interface LogLine {
  level: number;
  msg: string;
}

const errorLevel = 50;

const isLogLine = (value: unknown): value is LogLine =>
  typeof value === 'object' && value !== null && 'level' in value && 'msg' in value;

/** Log lines that the operator of a server in a test would see. */
export class TestLog {
  readonly lines: LogLine[] = [];
  readonly logger: Logger = pino(
    { level: 'info' },
    {
      write: (text: string) => {
        const line: unknown = JSON.parse(text);
        if (isLogLine(line)) this.lines.push(line);
      },
    },
  );

  get errors(): string[] {
    return this.lines.filter(({ level }) => level >= errorLevel).map(({ msg }) => msg);
  }
}
