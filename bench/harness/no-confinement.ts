import { type Confinement, openConfinement } from '@phalanx/confinement';

/** Opens the confinement as on a machine whose kernel can't confine programs. */
export const noConfinement = (): Promise<Confinement> => openConfinement({ launcher: '/no/launcher' });
