// The first thing that main.ts imports, and so the first that runs. The rest of the program takes
// long enough to evaluate for a reload to arrive that follows a restart.
import { signals } from './signals.ts';

signals.heed();

export { signals };
