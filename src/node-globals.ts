// The bundle uses these everywhere: until 2.8, Deno's own timers were numbers without `unref`.
export { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
