// The floor of Deno: reads the body, answers 204.
const options = { hostname: '127.0.0.1', port: Number(Deno.args[0]), onListen() {} };

Deno.serve(options, async (request) => {
  await request.arrayBuffer();
  return new Response(undefined, { status: 204 });
});
