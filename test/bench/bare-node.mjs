// The floor of Node: reads the body, answers 204.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    Buffer.concat(pieces);
    response.writeHead(204).end();
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1');
