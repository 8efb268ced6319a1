// Takes the suite `encoding` of scripts/bench.mjs: a process of its own, because Dawn's backend is
// chosen once in a process.
import { spawnSync } from 'node:child_process'
import { buildForNode } from './bench_node.mjs'

/** What bench/encoding.ts measures for a preset. Throws Error with what it prints where it
 * fails. */
export async function measureEncoding(preset) {
  const file = await buildForNode('encoding')
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, preset], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (status !== 0) throw new Error(`bench/encoding.ts: ${stderr}`)
  return JSON.parse(stdout)
}
