import { Agent, request } from 'node:http';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { BODY, ORIGIN } from '../bench/request.mjs';

const CONNECTIONS = 32;

/**
 * Sends views with the `pid`s view-0, view-1 and so on, at most this many per second.
 * @param fault called when the last view is sent.
 * @returns the numbers of the acknowledged views.
 */
export async function sendViews(port, { views, perSecond }, fault = () => {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const acknowledged = [];
  const startedMs = performance.now();
  let next = 0;
  const post = (number) =>
    new Promise((resolve) => {
      const body = JSON.stringify({ ...BODY, pid: `view-${number}` });
      const headers = {
        Origin: ORIGIN,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
      };
      const options = { port, host: '127.0.0.1', path: '/view', method: 'POST', agent, headers };
      const sent = request(options, (answer) => {
        if (answer.statusCode >= 200 && answer.statusCode < 300) acknowledged.push(number);
        answer.resume().on('close', resolve);
      });
      sent.on('error', resolve).end(body);
    });
  const client = async () => {
    while (next < views) {
      const number = next++;
      await setTimeout(startedMs + (1000 * number) / perSecond - performance.now());
      const answered = post(number);
      if (number === views - 1) {
        await setImmediate(); // the request leaves first
        fault();
      }
      await answered;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  agent.destroy();
  return acknowledged;
}
