import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResults {
  violations: { id: string; nodes: { target: unknown; failureSummary?: string }[] }[];
}

interface AxeOptions {
  resultTypes: readonly ['violations'];
  runOnly?: readonly string[];
}

const ofColours = ['color-contrast', 'link-in-text-block'];

/**
 * Returns the violations that axe finds on the current page, one line each: by all of its rules, or by those about
 * colors.
 */
export async function findViolations(page: Page, rules: 'all' | 'colours' = 'all'): Promise<string[]> {
  // Evaluates the script with the browser's privileges, which the page's policy does not restrict.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source);
  const options: AxeOptions = {
    // Skips the description of passing nodes.
    resultTypes: ['violations'],
    ...(rules === 'colours' && { runOnly: ofColours }),
  };
  const results = await page.evaluate(async (given) => {
    const { axe } = globalThis as unknown as { axe: { run: (options: AxeOptions) => Promise<AxeResults> } };
    return (await axe.run(given)).violations.map(({ id, nodes }) => ({
      id,
      nodes: nodes.map(({ target, failureSummary }) => `${JSON.stringify(target)} ${failureSummary ?? ''}`),
    }));
  }, options);
  return results.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node}`));
}

/** Returns the violations in both themes, which differ only in colors. The page uses the light theme afterwards. */
export async function findViolationsOfThemes(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await findViolations(page, 'colours');
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await findViolations(page);
  return [...dark.map((one) => `dark: ${one}`), ...light.map((one) => `light: ${one}`)];
}
