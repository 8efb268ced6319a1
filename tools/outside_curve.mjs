// Gathers what another trainer logged of one job with several seeds, and what the lab's runs of it
// logged, into a curve.json such as those of conformance/trl/tiny_grpo and
// conformance/bupo/sort_digits:
//   node tools/outside_curve.mjs curve.json NAME jobs/1,jobs/2,… runs/1,runs/2,…
// A job is a folder in which train_trl.py has written trained/trl_log.json, or that holds what
// BuPO's fork of verl printed as console.log; a run is a folder of `npm run lab -- train … --out`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [out, name, jobs, runs] = process.argv.slice(2)
if (!runs) {
  console.error(
    'outside_curve: a file, a name, the folders of jobs and the folders of runs are needed',
  )
  process.exit(2)
}

/** Names of the lab and of verl. */
const METRICS = {
  reward: 'critic/score/mean',
  mean_length: 'response_length/mean',
  entropy: 'actor/entropy',
  grad_norm: 'actor/grad_norm',
  ppo_kl: 'actor/ppo_kl',
  clipfrac: 'actor/pg_clipfrac',
}
/** Windows of steps, and floors of the spreads, which may be small by chance where seeds are
 * few. */
const JUDGES = {
  trl: {
    windows: 10,
    sd_floor: { reward: 0.03, mean_length: 0.05, entropy: 0.05, grad_norm: 0.2 },
  },
  // The first two windows are the inner phase.
  fork: {
    windows: [
      [1, 5],
      [6, 10],
      [11, 18],
      [19, 26],
      [27, 34],
      [35, 42],
      [43, 50],
    ],
    sd_floor: {
      reward: 0.02,
      mean_length: 0.03,
      entropy: 0.02,
      grad_norm: 0.2,
      ppo_kl: 0.003,
      clipfrac: 0.0025,
    },
  },
}

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

const columns = (steps, names) =>
  Object.fromEntries(names.map((key) => [key, steps.map((data) => short(data[METRICS[key]]))]))
const isTraining = (data) => METRICS.grad_norm in data

/** verl prints `step:1 - name:value - …` on a line, behind the process that printed it. */
function forkSeries(folder, names) {
  const lines = readFileSync(join(folder, 'console.log'), 'utf8').split('\n')
  const steps = lines
    .map((line) => line.match(/step:\d+ - .*/)?.[0] ?? '')
    .map((line) =>
      Object.fromEntries(
        [...line.matchAll(/([\w/@-]+):(?:np\.float64\()?([-+.\de]+)/g)].map(([, key, value]) => [
          key,
          Number(value),
        ]),
      ),
    )
  return columns(steps.filter(isTraining), names)
}

function labSeries(folder, names) {
  const lines = readFileSync(join(folder, 'metrics.jsonl'), 'utf8').trim().split('\n')
  return columns(lines.map((line) => JSON.parse(line).data).filter(isTraining), names)
}

const isTrl = (folder) => existsSync(join(folder, 'trained/trl_log.json'))
const folders = jobs.split(',')
const judge = {
  ...JUDGES[isTrl(folders[0]) ? 'trl' : 'fork'],
  allowed_beyond_3: 2,
  never_beyond: 5,
}
const names = Object.keys(judge.sd_floor)
const per_seed = folders.map((job) => (isTrl(job) ? trlSeries(job) : forkSeries(job, names)))
const lab_per_seed = runs.split(',').map((run) => labSeries(run, names))
const seeds = (list) => list.map((seed) => `        ${JSON.stringify(seed)}`).join(',\n')
writeFileSync(
  out,
  `{
  "runs": [
    {
      "name": ${JSON.stringify(name)},
      "judge": ${JSON.stringify(judge)},
      "per_seed": [
${seeds(per_seed)}
      ],
      "lab_per_seed": [
${seeds(lab_per_seed)}
      ]
    }
  ]
}
`,
)
