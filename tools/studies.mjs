// npm run studies [-- NAME … --jobs N | --report]: trains what is missing of the studies in
// bench/studies, or of those named, and writes their reports, tables and pictures into
// docs/studies. A finished run is in results.jsonl there and is not trained again, so without a
// missing run, or with --report, this writes the reports alone. At the end it writes what
// docs/results.md and the page say of them.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../scripts/project.mjs'
import { galleryEntry, withStudies } from './study_said.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: '1' },
    out: { type: 'string', default: 'docs/studies' },
    report: { type: 'boolean', default: false },
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
  const args = [
    'study',
    file,
    '--out',
    out,
    '--resume',
    '--jobs',
    values.jobs,
    ...(values.report ? ['--report'] : []),
  ]
  const child = spawn(process.execPath, [join(ROOT, 'scripts/lab.mjs'), ...args], {
    stdio: 'inherit',
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  if (code !== 0) process.exit(code ?? 1)
}

const kept = (name, file) => join(ROOT, 'docs/studies', name, file)
const results = join(ROOT, 'docs/results.md')
const reportOf = (name) => {
  const file = kept(name, 'report.md')
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
writeFileSync(results, withStudies(readFileSync(results, 'utf8'), reportOf))
const gallery = all
  .filter((name) => existsSync(kept(name, 'report.md')))
  .map((name) => galleryEntry(name, readFileSync(kept(name, 'report.md'), 'utf8')))
writeFileSync(
  join(ROOT, 'src/page/study/gallery.json'),
  `${JSON.stringify(gallery, undefined, 2)}\n`,
)
