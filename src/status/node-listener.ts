// The only part of Hono's server for Node that viewlog uses, in a module of its own: the bundle then
// leaves out the rest, although this module is loaded later.
export { getRequestListener } from '@hono/node-server';
