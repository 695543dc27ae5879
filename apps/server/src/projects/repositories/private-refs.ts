/** Refs under this prefix are the service's own: clients neither see nor push them. */
export const privateRefs = 'refs/phalanx';
