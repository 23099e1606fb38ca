// The conformance suite names `fs.globSync`, which Node 20 lacks, and so does not even load there.
// The scenarios never call it. `node --import` this file first: `fs` then has a stand-in for the name.
import { register } from "node:module";

const standIn =
  'export * from "node:fs"; export { default } from "node:fs";' +
  'export function globSync() { throw new Error("globSync needs Node 22"); }';
const hook =
  `const url = ${JSON.stringify("data:text/javascript," + encodeURIComponent(standIn))};` +
  'export async function resolve(name, context, next) {' +
  '  return name === "fs" ? { url, shortCircuit: true } : next(name, context); }';

if (Number(process.versions.node.split(".")[0]) < 22) {
  register("data:text/javascript," + encodeURIComponent(hook));
}
