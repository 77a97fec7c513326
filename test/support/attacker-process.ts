// Attackers in a process of their own, so that they slow down only the server: PORT CLIENTS WAY…
import { attack, WAYS } from './attacker.ts';

const [port, clients, ...ways] = process.argv.slice(2);
for (const way of ways) attack(Number(port), WAYS[way]!, Number(clients));
console.log(`attacking: ${ways.join('; ')}`);
