const paths = {
  fleet: 'M5.5 1.5h5a1 1 0 0 1 1 1v11a1 1 0 0 1-1 1h-5a1 1 0 0 1-1-1v-11a1 1 0 0 1 1-1zM7.2 12.2h1.6',
  projects:
    'M2 4.5A1.5 1.5 0 0 1 3.5 3H6l1.5 2h5A1.5 1.5 0 0 1 14 6.5v5a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 2 11.5z',
  runs: 'M5 3.5v9l7-4.5z',
  jobs: 'M2.5 4h7M2.5 8h7M2.5 12h4.5M11.5 9.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM11.5 11v1.2l.8.6',
  records: 'M3 2.5h10v11H3zM5.5 6h5M5.5 8.5h5M5.5 11h2.5',
  settings: 'M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M10.5 3v3M5.5 10v3',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.5 10.5 14 14',
  close: 'M4 4l8 8M12 4l-8 8',
  plus: 'M8 3v10M3 8h10',
  rename: 'M3 13l.6-2.6 7.2-7.2 2 2-7.2 7.2zM9.2 4.8l2 2M9 13h4.5',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9',
  check: 'M3 8.5l3.2 3.2L13 4.8',
  refresh: 'M13 8a5 5 0 1 1-1.6-3.7M13 2.5V5h-2.5',
  copy: 'M5.5 5.5h7v7h-7zM3.5 10.5v-7h7',
  down: 'M4 6l4 4 4-4',
  right: 'M6 4l4 4-4 4',
  left: 'M10 4L6 8l4 4',
  stop: 'M4.5 4.5h7v7h-7z',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  help: 'M6 6a2 2 0 1 1 2.8 1.8c-.5.3-.8.6-.8 1.4M8 11.8v.01',
  bookmark: 'M4.5 2.5h7v11L8 10.8 4.5 13.5z',
  file: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3',
  pause: 'M5.5 4v8M10.5 4v8',
  clock: 'M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 0 1 0-11zM8 5v3.2l2.2 1.4',
  wrap: 'M2.5 4h11M2.5 8h8.5a2.2 2.2 0 0 1 0 4.4H8M9.6 10.4L7.6 12.4l2 2M2.5 12h2.5',
  sun: 'M8 5.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1',
  out: 'M6.5 13.5h-3v-11h3M10 5l3 3-3 3M13 8H6',
  link: 'M6.5 9.5l3-3M7 4.8l1.2-1.2a2.6 2.6 0 0 1 3.7 3.7L10.7 8.5M9 11.2l-1.2 1.2a2.6 2.6 0 0 1-3.7-3.7L5.3 7.5',
} as const;

export type IconName = keyof typeof paths;

/** Icon on a 16-unit grid, always next to a word that says its meaning. */
export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth={name === 'more' ? 2 : 1.4}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={paths[name]} />
  </svg>
);
