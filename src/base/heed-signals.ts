// main.ts imports this first, so it runs first. The rest of the program takes long enough to
// evaluate for a reload to arrive that follows a restart. A file of its own, because tests import
// signals.ts without this effect.
import { signals } from './signals.ts';

signals.heed();

export { signals };
