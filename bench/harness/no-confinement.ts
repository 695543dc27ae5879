import { type Confinement, openConfinement } from '@phalanx/confinement';

/** Opens the confinement of a machine whose kernel has no means to confine programs. */
export const noConfinement = (): Promise<Confinement> => openConfinement({ launcher: '/no/launcher' });
