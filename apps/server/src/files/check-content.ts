import { readProjectSettings, settingsPath } from '../compile/project-settings.ts';
import { summaryOf } from '../compile/require-compiled.ts';
import { ApiError } from '../http/api-error.ts';
import type { NewContent } from './new-content.ts';

/** Longer lines make git take the repository for damaged. */
const maxAttributeLine = 2048;
const maxAttributeBytes = 1024 * 1024;

/** Throws for content that a file of this name can't have. */
export async function requireContent(path: string, content: NewContent): Promise<void> {
  if (path === settingsPath) await requireSettings(content);
  if (path === '.gitattributes' || path.endsWith('/.gitattributes')) await requireAttributes(content);
}

async function requireSettings(content: NewContent): Promise<void> {
  const read = readProjectSettings(await content.readText());
  if (read.ok) return;
  const { errors } = read;
  throw ApiError.of('invalid_tsconfig', { summary: summaryOf(errors) }, { errors });
}

async function requireAttributes(content: NewContent): Promise<void> {
  if (content.sizeBytes > maxAttributeBytes)
    throw ApiError.of('invalid_content', {
      problem: `of a .gitattributes has at most ${maxAttributeBytes} bytes`,
    });
  const isLong = (line: string): boolean => Buffer.byteLength(line) >= maxAttributeLine;
  if ((await content.readText()).split('\n').some(isLong))
    throw ApiError.of('invalid_content', {
      problem: `of a .gitattributes has lines of less than ${maxAttributeLine} bytes`,
    });
}
