// The floor of Bun: reads the body, answers 204.
Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.argv[2]),
  async fetch(request) {
    await request.arrayBuffer();
    return new Response(undefined, { status: 204 });
  },
});
