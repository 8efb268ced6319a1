// npm run studies [-- NAME … --jobs N --budget 2h | --report]: trains what is missing of the
// studies in bench/studies, or of those named, and writes their reports, tables and pictures into
// docs/studies. A finished run is in results.jsonl there and is not trained again, so without a
// missing run, or with --report, this writes the reports alone. With --budget it takes what fits
// into that time, and stops there; the next call trains the rest. At the end it writes what
// docs/results.md and the page say of them.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../scripts/project.mjs'
import { chosen, missingOf, secondsOf } from './studies_budget.mjs'
import { galleryOf, withStudies } from './study_said.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: '1' },
    out: { type: 'string', default: 'docs/studies' },
    report: { type: 'boolean', default: false },
    budget: { type: 'string' },
  },
})
const all = readdirSync(join(ROOT, 'bench/studies')).map((file) => basename(file, '.json'))
const unknown = positionals.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  console.error(`There is no study ${unknown.join(', ')}. Studies: ${all.join(', ')}.`)
  process.exit(2)
}
const budget = values.budget === undefined ? undefined : secondsOf(values.budget)
if (values.budget !== undefined && !(budget > 0)) {
  console.error(`--budget: expected a time such as 2h, 90m or 45s, got ${values.budget}`)
  process.exit(2)
}
/** There is nothing to report of a study before its first run. */
const isAsked = (name) =>
  name !== 'smoke' && (!values.report || existsSync(join(ROOT, values.out, name, 'results.jsonl')))
const asked = positionals.length > 0 ? positionals : all.filter(isAsked)

/** lab study of one study. Ends it as Ctrl-C would after `seconds`. Exit code and what it said. */
function labStudy(name, more, { stdio = 'inherit', seconds } = {}) {
  const places = [
    join(ROOT, 'bench/studies', `${name}.json`),
    '--out',
    join(ROOT, values.out, name),
  ]
  const args = ['study', ...places, '--resume', '--jobs', values.jobs, ...more]
  const child = spawn(process.execPath, [join(ROOT, 'scripts/lab.mjs'), ...args], { stdio })
  const clock = seconds && setTimeout(() => child.kill('SIGTERM'), 1000 * seconds)
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  return new Promise((resolve) =>
    child.on('close', (code) => {
      clearTimeout(clock)
      resolve({ code: code ?? 1, text })
    }),
  )
}

/** The studies that the budget has room for, each with what is missing of it. */
async function fitting() {
  const known = []
  for (const name of asked) {
    const { code, text } = await labStudy(name, ['--dry-run'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (code !== 0) process.exit(code)
    known.push({ name, ...missingOf(text) })
  }
  return chosen(known, budget).map(({ name }) => name)
}

const STOPPED = 130
const began = performance.now()
for (const name of budget === undefined ? asked : await fitting()) {
  const seconds = budget && budget - (performance.now() - began) / 1000
  if (seconds <= 0) break
  console.log(name)
  const { code } = await labStudy(name, values.report ? ['--report'] : [], { seconds })
  if (code === STOPPED && budget !== undefined) break
  if (code !== 0) process.exit(code)
}

const kept = (name, file) => join(ROOT, 'docs/studies', name, file)
const results = join(ROOT, 'docs/results.md')
const reportOf = (name) => {
  const file = kept(name, 'report.md')
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
writeFileSync(results, withStudies(readFileSync(results, 'utf8'), reportOf))
const reports = all.map((name) => [name, reportOf(name)])
const gallery = galleryOf(reports.filter(([, report]) => report !== undefined))
writeFileSync(
  join(ROOT, 'src/page/study/gallery.json'),
  `${JSON.stringify(gallery, undefined, 2)}\n`,
)
