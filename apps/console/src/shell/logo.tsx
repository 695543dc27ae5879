/** Three bones of a finger, and where they meet. */
export const Logo = () => (
  <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
    <rect width="32" height="32" rx="7" fill="var(--ink)" />
    <g fill="var(--on-ink)">
      <rect x="7" y="6" width="5" height="20" rx="2.5" />
      <rect x="14" y="6" width="5" height="13" rx="2.5" />
      <rect x="21" y="6" width="5" height="13" rx="2.5" />
      <circle cx="23.5" cy="23.5" r="2.5" />
    </g>
    <circle cx="16.5" cy="23.5" r="2.5" fill="light-dark(#8daeff, #2450c8)" />
  </svg>
);
