import { type Confinement, openConfinement } from '@phalanx/confinement';

/** As on a machine whose kernel has nothing to confine programs with. */
export const noConfinement = (): Promise<Confinement> => openConfinement({ launcher: '/no/launcher' });
