/** Inside of the page's main part, so that what pops up belongs to a landmark. */
export const popupRoot = (): HTMLElement => document.getElementById('popups') ?? document.body;
