// Put into the bundle wherever these are used: Deno's own timers were numbers without `unref`
// until 2.8, and it had no global Buffer or setImmediate until 2.4.
export { Buffer } from 'node:buffer';
export {
  clearImmediate,
  clearInterval,
  clearTimeout,
  setImmediate,
  setInterval,
  setTimeout,
} from 'node:timers';
