// Gathers what TRL's trainer logged of one job with several seeds, and what the lab's runs of it logged, into a curve.json such as that of
// conformance/trl/tiny_grpo:
//   node scripts/trl_curve.mjs curve.json jobs/1,jobs/2,… runs/1,runs/2,…
// A job is a folder in which train_trl.py has written trained/trl_log.json; a run is a folder of `npm run lab -- train … --out`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [out, jobs, runs] = process.argv.slice(2)
if (!runs) {
  console.error('trl_curve: a file, the folders of jobs and the folders of runs are needed')
  process.exit(2)
}
const WINDOWS = 10
/** Spreads of few seeds may be small by chance; the same floors as of the other job. */
const SD_FLOOR = { reward: 0.03, mean_length: 0.05, entropy: 0.05, grad_norm: 0.2 }

const short = (value) => Number(value.toPrecision(4))
const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length

/** TRL logs every update; what belongs to the whole batch is logged with its first. */
function trlSeries(folder) {
  const log = JSON.parse(readFileSync(join(folder, 'trained/trl_log.json'), 'utf8'))
  const updates = log.filter((entry) => 'grad_norm' in entry)
  const starts = updates.flatMap((entry, i) => ('reward' in entry ? [i] : []))
  const batches = starts.map((start, i) => updates.slice(start, starts[i + 1]))
  const column = (read) => batches.map((batch) => short(read(batch)))
  return {
    reward: column(([first]) => first.reward),
    mean_length: column(([first]) => first['completions/mean_length']),
    entropy: column(([first]) => first.entropy),
    grad_norm: column((batch) => mean(batch.map((update) => update.grad_norm))),
  }
}

function labSeries(folder) {
  const lines = readFileSync(join(folder, 'metrics.jsonl'), 'utf8').trim().split('\n')
  const steps = lines
    .map((line) => JSON.parse(line).data)
    .filter((data) => 'actor/grad_norm' in data)
  const column = (name) => steps.map((data) => short(data[name]))
  return {
    reward: column('critic/score/mean'),
    mean_length: column('response_length/mean'),
    entropy: column('actor/entropy'),
    grad_norm: column('actor/grad_norm'),
  }
}

const run = {
  name: 'tiny_grpo',
  judge: { windows: WINDOWS, sd_floor: SD_FLOOR, allowed_beyond_3: 2, never_beyond: 5 },
  per_seed: jobs.split(',').map(trlSeries),
  lab_per_seed: runs.split(',').map(labSeries),
}
const seeds = (list) => list.map((seed) => `        ${JSON.stringify(seed)}`).join(',\n')
writeFileSync(
  out,
  `{
  "runs": [
    {
      "name": ${JSON.stringify(run.name)},
      "judge": ${JSON.stringify(run.judge)},
      "per_seed": [
${seeds(run.per_seed)}
      ],
      "lab_per_seed": [
${seeds(run.lab_per_seed)}
      ]
    }
  ]
}
`,
)
