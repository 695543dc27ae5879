import { createStore } from '../api/store.ts';

const storageKey = 'phalanx.theme';
export const themes = ['system', 'light', 'dark'] as const;
export const themeNames = { system: 'As the system', light: 'Light', dark: 'Dark' } as const;
export type Theme = (typeof themes)[number];

const stored = localStorage.getItem(storageKey);
export const theme = createStore<Theme>(themes.find((one) => one === stored) ?? 'system');

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.get();
}

export function setTheme(next: Theme): void {
  localStorage.setItem(storageKey, next);
  theme.set(next);
  applyTheme();
}
