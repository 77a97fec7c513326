// Put into the bundle wherever these are used: Deno's own timers were numbers without `unref`
// until 2.8.
export { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
