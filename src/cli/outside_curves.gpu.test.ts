// Jobs that TRL and BuPO's fork of verl trained, trained by the lab: are the curves the same within
// the spread of seeds? The rule is that of repeat_digit's README. Three seeds take minutes on a
// software adapter.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesOf } from '../jobs/testing.ts'
import { readExperiment } from './input/experiment_source.ts'
import { train } from './train/train.ts'

const REPEAT = 'conformance/fixtures/trl/repeat_digit'
const TINY = 'conformance/trl/tiny_grpo'
const FORK = 'conformance/bupo/sort_digits'
const SEEDS = [1, 2, 3]

/** The lab's name of each series that can be judged. */
const METRICS = {
  reward: 'critic/score/mean',
  mean_length: 'response_length/mean',
  entropy: 'actor/entropy',
  grad_norm: 'actor/grad_norm',
  ppo_kl: 'actor/ppo_kl',
  clipfrac: 'actor/pg_clipfrac',
} as const
type Name = keyof typeof METRICS
type Series = Readonly<Partial<Record<Name, readonly number[]>>> &
  Readonly<Record<'reward', readonly number[]>>

interface Curve {
  readonly runs: readonly {
    readonly name: string
    readonly per_seed: readonly Series[]
    /** The lab's own, where they were kept. */
    readonly lab_per_seed?: readonly Series[]
    readonly judge: {
      /** So many of equal size, or the first and last step of each, from 1. */
      readonly windows: number | readonly (readonly [first: number, last: number])[]
      /** Of what is judged. */
      readonly sd_floor: Readonly<Partial<Record<Name, number>>>
      readonly allowed_beyond_3: number
      readonly never_beyond: number
    }
  }[]
}

const runs = [REPEAT, TINY, FORK].flatMap(
  (job) => (JSON.parse(readFileSync(`${job}/curve.json`, 'utf8')) as Curve).runs,
)

/** What the lab trains: the experiment, the weights that the other trainer began with, and its rows
 * where they are a file's. */
function startOf(name: string): readonly string[] {
  const warmed: Readonly<Record<string, string>> = { tiny_grpo: TINY, fork_sort_digits: FORK }
  const folder = warmed[name]
  return folder !== undefined
    ? [`${folder}/experiment.json`, '--warm-start', `${folder}/warm`]
    : [
        `conformance/trl/${name}.json`,
        '--model',
        `${REPEAT}/model`,
        '--data',
        `${REPEAT}/data/train.jsonl`,
        '--val-data',
        `${REPEAT}/data/val.jsonl`,
      ]
}

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
}

/** The steps of each window, as a slice takes them. */
const windowsOf = ({ windows }: Curve['runs'][number]['judge'], steps: number) =>
  typeof windows === 'number'
    ? Array.from({ length: windows }, (_, i) => [
        (i * steps) / windows,
        ((i + 1) * steps) / windows,
      ])
    : windows.map(([first, last]) => [first - 1, last])

/** The largest differences between our seeds and theirs, in standard errors, largest first. */
function scores(ours: readonly Series[], { per_seed, judge }: Curve['runs'][number]): number[] {
  const floors = Object.entries(judge.sd_floor) as [Name, number][]
  const windows = windowsOf(judge, per_seed[0].reward.length)
  const all = floors.flatMap(([name, floor]) =>
    windows.map(([first, end]) => {
      const windowValue = (series: Series) => {
        const part = (series[name] ?? []).slice(first, end)
        return name === 'grad_norm' ? median(part) : mean(part)
      }
      const [own, theirs] = [ours.map(windowValue), per_seed.map(windowValue)]
      const centre = mean(theirs)
      const variance = theirs.reduce((sum, x) => sum + (x - centre) ** 2, 0) / (theirs.length - 1)
      const sd = Math.max(Math.sqrt(variance), floor)
      const error = sd * Math.sqrt(1 / theirs.length + 1 / own.length)
      return Math.abs(mean(own) - centre) / error
    }),
  )
  return all.sort((a, b) => b - a)
}

function seriesOf(folder: string): Series {
  const lines = readFileSync(join(folder, 'metrics.jsonl'), 'utf8').trim().split('\n')
  const rows = lines.map((line) => JSON.parse(line).data as Readonly<Record<string, number>>)
  const steps = rows.filter((row) => METRICS.grad_norm in row)
  const column = (name: string) => steps.map((row) => row[name])
  return Object.fromEntries(
    Object.entries(METRICS).map(([name, metric]) => [name, column(metric)]),
  ) as unknown as Series
}

test.for(runs)('the rule knows a wrong run of $name', (run) => {
  const [first, ...others] = run.per_seed
  expect(scores([first], { ...run, per_seed: others })[0]).toBeLessThan(run.judge.never_beyond)
  const wrong = { ...first, reward: first.reward.map((x) => x / 2) }
  expect(scores([wrong], { ...run, per_seed: others })[0]).toBeGreaterThan(run.judge.never_beyond)
})

const longTest = test.skipIf(!process.env.LONG_TESTS)

longTest.for(runs)(
  'the curve of $name is that of its outside trainer',
  { timeout: 3_600_000 },
  async (run) => {
    const folder = mkdtempSync(join(tmpdir(), 'understory-trl-'))
    const ours: Series[] = []
    try {
      for (const seed of SEEDS) {
        const out = join(folder, `${seed}`)
        expect(await train.run([...startOf(run.name), '--seed', `${seed}`, '--out', out])).toBe(0)
        ours.push(seriesOf(out))
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
    expectAgreement(ours, run)
  },
)

function expectAgreement(ours: readonly Series[], run: Curve['runs'][number]): void {
  const [worst, , third] = scores(ours, run)
  expect(worst).toBeLessThanOrEqual(run.judge.never_beyond)
  // At most two of the windows beyond 3.
  expect(run.judge.allowed_beyond_3).toBe(2)
  expect(third).toBeLessThanOrEqual(3)
}

test('the seeds of the lab that were kept agree with the other trainer’s, together and any three of them', () => {
  const kept = runs.filter(({ lab_per_seed }) => lab_per_seed)
  expect(kept.map(({ name }) => name)).toEqual(['tiny_grpo', 'fork_sort_digits'])
  for (const run of kept) {
    const ours = run.lab_per_seed ?? []
    expectAgreement(ours, run)
    for (let i = 0; i + 3 <= ours.length; i += 3) expectAgreement(ours.slice(i, i + 3), run)
  }
})

test('what the lab trains is the preset that was exported, under TRL’s rules', () => {
  const leaves = (value: unknown, path = ''): string[] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, below]) => leaves(below, `${path}${name}.`))
      : [`${path.slice(0, -1)}: ${JSON.stringify(value)}`]
  const preset = new Set(leaves(readExperiment('tiny-grpo')))
  const changed = leaves(readExperiment(`${TINY}/experiment.json`)).filter(
    (leaf) => !preset.has(leaf),
  )
  expect(changed.sort()).toEqual([
    'actor.clip_ratio_c: 100',
    'actor.optim.decay_norms: false',
    'actor.shuffle: true',
    'algorithm.norm_adv_epsilon: 0.0001',
    'model.padding_idx: 0',
    'name: "Tiny: GRPO, as TRL trains it"',
  ])
})

test('what the lab trains is the job that the fork trained', () => {
  const { text } = filesOf(readExperiment(`${FORK}/experiment.json`), { target: 'bupo' })
  const argumentsOf = (script: string) => script.match(/^ {2}\S*=.*$/gm) ?? []
  const trained = argumentsOf(
    readFileSync('conformance/fixtures/bupo_fork/job/run_bupo.sh', 'utf8'),
  )
  const exported = new Set(argumentsOf(text.get('run_bupo.sh') ?? ''))
  expect(trained.length).toBeGreaterThan(60)
  expect(trained.filter((line) => !exported.has(line))).toEqual([])
})
