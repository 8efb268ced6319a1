// npm run transplants [-- --jobs N --out DIR | --report]: trains the arms of bench/transplants.json
// with every seed, exchanges parts between their states and the start, and writes the numbers and
// the page of docs/studies/transplants. What is there already is not trained or exchanged again.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../scripts/project.mjs'
import { transplantsReport } from './transplants_report.mjs'

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '1' },
    out: { type: 'string', default: 'docs/studies/transplants' },
    report: { type: 'boolean', default: false },
  },
})
const plan = JSON.parse(readFileSync(join(ROOT, 'bench/transplants.json'), 'utf8'))
const out = resolve(ROOT, values.out)
const runs = join(ROOT, 'runs/transplants')
const file = join(out, 'results.json')
mkdirSync(out, { recursive: true })

const lab = (args) =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [join(ROOT, 'scripts/lab.mjs'), ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    child.on('close', resolve)
  })

const name = (arm, seed) => join(runs, `${arm}-s${seed}`)
const state = (arm, seed, step) =>
  join(name(arm, seed), 'checkpoints', `step_${String(step).padStart(6, '0')}.safetensors`)

/** A step whose rate is a thousandth of the others’: the start as a state of a run, which
 * brings problems. */
const START = [{ kind: 'rl', steps: 1, actor: { optim: { lr: 1e-6 } } }]
const withStart = { ...plan.arms, start: START }

async function train(arm, seed) {
  const folder = name(arm, seed)
  const steps = arm === 'start' ? [1] : plan.steps
  if (steps.every((step) => existsSync(state(arm, seed, step)))) return
  mkdirSync(runs, { recursive: true })
  const document = `${folder}.json`
  writeFileSync(document, JSON.stringify({ ...plan.base, seed, phases: withStart[arm] }))
  const how = ['--force', '--observe-parts', '--checkpoint-every', `${steps[0]}`]
  const code = await lab(['train', document, '--out', folder, ...how])
  if (code !== 0) throw new Error(`${folder}: lab train ended with ${code}`)
}

/** Each arm beside the start, and the arms beside one another, after every step of the plan. */
const pairsOf = (seed) =>
  plan.steps.flatMap((step) => {
    const arms = Object.keys(plan.arms)
    return [
      ...arms.map((arm) => ({ seed, step, of: arm, and: 'start' })),
      { seed, step, of: arms[0], and: arms[1] },
    ]
  })

const placeOf = ({ seed, step }, which) => state(which, seed, which === 'start' ? 1 : step)

async function exchange(pair) {
  const json = join(runs, `${pair.of}-${pair.and}-s${pair.seed}-${pair.step}.json`)
  if (!existsSync(json)) {
    const both = [placeOf(pair, pair.of), placeOf(pair, pair.and)]
    const code = await lab(['transplant', ...both, '--problems', `${plan.problems}`, '--out', json])
    if (code !== 0) throw new Error(`${json}: lab transplant ended with ${code}`)
  }
  const { transplants } = JSON.parse(readFileSync(json, 'utf8'))
  // First the host is the first of the pair, then the second.
  return { ...pair, into_first: transplants[0], into_second: transplants[1] }
}

/** What switching each part off costs, as the run measured it at the end of the first phase and at
 * its own. */
function partsOf(arm, seed) {
  const text = readFileSync(join(name(arm, seed), 'observations.jsonl'), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter(({ step }) => plan.steps.includes(step))
    .map(({ step, observation: { parts } }) => ({ arm, seed, step, parts }))
    .filter(({ parts }) => parts !== undefined)
}

async function each(list, work) {
  const waiting = [...list]
  const found = []
  const one = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) found.push(await work(next))
  }
  await Promise.all(Array.from({ length: Number(values.jobs) }, one))
  return found
}

if (!values.report) {
  const all = plan.seeds.flatMap((seed) => Object.keys(withStart).map((arm) => ({ arm, seed })))
  await each(all, ({ arm, seed }) => train(arm, seed))
  const { adapter } = JSON.parse(
    readFileSync(join(name(all[0].arm, all[0].seed), 'run.json'), 'utf8'),
  )
  const exchanges = await each(plan.seeds.flatMap(pairsOf), exchange)
  const parts = all
    .filter(({ arm }) => arm !== 'start')
    .flatMap(({ arm, seed }) => partsOf(arm, seed))
  writeFileSync(file, `${JSON.stringify({ adapter: adapter.description, exchanges, parts })}\n`)
  rmSync(runs, { recursive: true })
}
writeFileSync(
  join(out, 'report.md'),
  transplantsReport(plan, JSON.parse(readFileSync(file, 'utf8'))),
)
