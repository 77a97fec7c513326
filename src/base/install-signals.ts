// main.ts imports this first, so it runs first. Evaluating the rest of the program takes so long
// that a reload after a restart could arrive earlier. In a file of its own, because tests import
// signals.ts without this effect.
import { signals } from './signals.ts';

signals.install();

export { signals };
