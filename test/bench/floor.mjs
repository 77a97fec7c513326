// The floor of the runtime: a server that discards the body and answers 204.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(204).end());
});
server.listen(Number(process.argv[2]), '127.0.0.1');
