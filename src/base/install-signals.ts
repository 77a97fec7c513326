// main.ts imports this file first, so that viewlog handles signals before it evaluates the rest of
// the program: that takes so long that a reload soon after a restart could come first. The file is
// separate because tests import signals.ts without this effect.
import { signals } from './signals.ts';

signals.install();

export { signals };
