// oxfmt looks for its settings here.
export { formatting as default } from './scripts/formatting.ts';
