// npm run studies [-- NAME … --jobs N]: trains what is missing of the studies in bench/studies, or of those named, and writes their
// reports, tables and pictures into docs/studies. A finished run is in results.jsonl there and is not trained again, so without a
// missing run this writes the reports alone.
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from './project.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: '1' },
    out: { type: 'string', default: 'docs/studies' },
  },
})
const all = readdirSync(join(ROOT, 'bench/studies')).map((file) => basename(file, '.json'))
const unknown = positionals.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  console.error(`There is no study ${unknown.join(', ')}. Studies: ${all.join(', ')}.`)
  process.exit(2)
}
for (const name of positionals.length > 0 ? positionals : all.filter((one) => one !== 'smoke')) {
  console.log(name)
  const file = join(ROOT, 'bench/studies', `${name}.json`)
  const out = join(ROOT, values.out, name)
  const args = ['study', file, '--out', out, '--resume', '--jobs', values.jobs]
  const child = spawn(process.execPath, [join(ROOT, 'scripts/lab.mjs'), ...args], {
    stdio: 'inherit',
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  if (code !== 0) process.exit(code ?? 1)
}
