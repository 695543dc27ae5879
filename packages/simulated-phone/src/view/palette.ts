/** Colors of the simulated phone: Material 3, light. */
export const palette = {
  primary: '#3f5f90',
  onPrimary: '#ffffff',
  primaryContainer: '#d6e3ff',
  background: '#f9f9ff',
  surface: '#eeeef6',
  onSurface: '#191c20',
  secondaryText: '#44474e',
  outline: '#74777f',
  divider: '#dcdde4',
  switchOff: '#e0e2ec',
  scrim: 'rgba(0,0,0,0.45)',
  error: '#ba1a1a',
} as const;
