// A runtime's own server without viewlog: reads the body, answers 204.
import { createServer } from 'node:http';

const [port, hostname] = [Number(process.argv[2]), '127.0.0.1'];

async function fetch(request) {
  await request.arrayBuffer();
  return new Response(undefined, { status: 204 });
}

if (globalThis.Bun) Bun.serve({ hostname, port, fetch });
else if (globalThis.Deno) Deno.serve({ hostname, port, onListen() {} }, fetch);
else {
  const server = createServer((request, response) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      Buffer.concat(pieces);
      response.writeHead(204).end();
    });
  });
  server.listen(port, hostname);
}
