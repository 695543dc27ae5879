import { defineConfig } from 'oxfmt';

/** How `npm run format` writes the files of this repository. */
export const formatting = defineConfig({
  printWidth: 110,
  singleQuote: true,
  ignorePatterns: ['package-lock.json', 'packages/automation/starter/screens', 'data'],
});
