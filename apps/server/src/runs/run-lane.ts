/** What is stored of runs that have begun, one after another: see `GroupCommit`. */
export const runLane = 'runs';
