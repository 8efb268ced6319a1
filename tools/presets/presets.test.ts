import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { projectRoot } from '../../src/cli/base/project_root.ts'
import { parseExperiment } from '../../src/document/experiment/experiment.ts'
import type { Experiment } from '../../src/document/experiment/schema/schema.ts'
import { PRESETS } from '../../src/document/presets/presets.ts'
import { SUMMARIES } from '../../src/document/presets/summaries.ts'
import { unopenedModel } from '../../src/host/content/models/unopened.ts'
import { higherThan, of, percent, went } from './card_text.ts'
import { CARDS } from './cards.ts'
import { catalogue, measuredExperiment, sourceOf } from './catalogue.ts'
import { type PresetRows, type PresetRun, reduceRun, settingsOf } from './preset_run.ts'
import { finishedRuns, presets, readRows, rowsText, saidFiles, trainArguments } from './presets.ts'

const ROOT = projectRoot()
const ROWS = readRows(ROOT)
const IDS = PRESETS.map(({ id }) => id)
/** Those of models from elsewhere are measured by nobody yet, and their cards say so. */
const OWN = PRESETS.filter(({ experiment }) => unopenedModel(experiment) === undefined)

const MAKE = 'npm run presets -- --from runs/presets'

test('every preset of the lab’s own models has rows of at least one run', () => {
  expect(OWN.filter(({ id }) => !ROWS.has(id))).toEqual([])
  for (const { preset, runs } of ROWS.values()) {
    const seeds = runs.map(({ seed }) => seed)
    expect(seeds.length, preset).toBeGreaterThan(0)
    expect(seeds, preset).toEqual([...new Set(seeds)].sort((a, b) => a - b))
  }
})

test.for([...ROWS])(
  'rows of %s are of the preset as it is now, and are written as rows are',
  ([id, rows]) => {
    expect(rows.settings).toEqual(settingsOf(measuredExperiment(id)))
    const file = join(ROOT, 'bench/results/presets', `${id}.json`)
    expect(readFileSync(file, 'utf8')).toBe(rowsText(rows))
  },
)

test('cards and tables say what the rows say', () => {
  for (const [file, text] of saidFiles(ROOT, ROWS))
    expect(readFileSync(file, 'utf8'), `${file} is old: ${MAKE}`).toBe(text)
})

const NUMBER_WORD =
  /\d|\b(two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|hundred|half|dozen)\b/i

test('no card states a number in its words: figures are computed', () => {
  expect(Object.keys(CARDS).sort()).toEqual([...IDS].sort())
  for (const [id, { words }] of Object.entries(CARDS))
    for (const text of words) expect(text, id).not.toMatch(NUMBER_WORD)
})

test('a card follows its rows', () => {
  const rows = ROWS.get('tiny')
  if (!rows) throw new Error('tiny has no rows')
  const [run] = rows.runs
  const one = { ...run, seed: 7, greedy: [[0, 0.111] as const, [54, 0.222] as const] }
  const { tiny } = catalogue(new Map([['tiny', { ...rows, runs: [one] }]]))
  expect(tiny.what_you_should_see).toContain('11 % greedy accuracy')
  expect(tiny.what_you_should_see).toContain('(1 seed)')
  expect(tiny.measured).toMatch(/^1 run, seed 7, on /)
  expect([tiny.usual_accuracy, tiny.seeds]).toEqual(['22 %', 1])
  const [low, high] = [one, { ...one, seed: 8, greedy: [[0, 0.333] as const, [54, 0.4] as const] }]
  const both = catalogue(new Map([['tiny', { ...rows, runs: [low, high] }]])).tiny
  expect(both.what_you_should_see).toContain('11–33 % greedy accuracy')
  expect([both.usual_accuracy, both.seeds]).toEqual(['22–40 %', 2])
  expect(catalogue(new Map()).tiny.what_you_should_see).toMatch(/^No run/)
})

const CURVE = [0, 10, 20, 40, 120].map((step) => [step, step / 200] as const)
const entropies = [3, 2.5, 2, 1.5, 1, 0.9, 0.8]

/** A run that has every figure there is. */
const full = (seed: number, { phases }: Experiment): PresetRun => ({
  seed,
  adapter: 'a test',
  steps: 120,
  from_warm_start: false,
  greedy: CURVE,
  sampled: CURVE,
  greedy_mean: 0.5,
  reward: CURVE,
  reward_first: 0.25,
  reward_last: 0.5,
  lost_at: 9,
  task_score_first: 0.25,
  task_score_last: 0.5,
  reward_model_accuracy: 0.9,
  preference_accuracy: 0.9,
  kl_last: 0.1,
  teacher_first: 0.4,
  teacher_last: 0.1,
  whole_task_at: 80,
  admitted_min: 0.2,
  admitted_last: 0.3,
  parts: Object.fromEntries(
    ['happy_end', 'coherence', 'mentions', 'distinct_ngrams'].map((name) => [
      name,
      { first: 0.25, last: 0.5 },
    ]),
  ),
  entropy_coeff_max: 0.2,
  explained_first: -0.1,
  explained_last: 0.2,
  gen_batches: 2.25,
  tool_calls_first: 0.4,
  tool_calls_last: 0.98,
  clipfrac_max: 0.04,
  phases: phases
    .filter(({ kind }) => kind === 'rl')
    .map(() => ({ target_layer: 2, steps: 10, first: entropies, last: entropies })),
})

test('every card can be written from runs of every preset', () => {
  const rows = OWN.map(({ id, experiment }): [string, PresetRows] => [
    id,
    { preset: id, settings: {}, runs: [full(1, experiment), full(2, experiment)] },
  ])
  for (const [id, { what_you_should_see }] of Object.entries(catalogue(new Map(rows)))) {
    if (!OWN.some((own) => own.id === id)) continue
    expect(what_you_should_see, id).toMatch(/2 seeds.*\.$/)
    expect(what_you_should_see, id).not.toMatch(/NaN|undefined|not measured/)
  }
})

test('figures compare seed with seed', () => {
  const [{ experiment }] = PRESETS
  const run = (seed: number, reward_first: number, reward_last: number): PresetRun => ({
    ...full(seed, experiment),
    reward_first,
    reward_last,
  })
  const runs = [run(1, 0.5, 0.25), run(2, 0.5, 0.75), run(3, 0.25, 0.125)]
  const other = [run(1, 0, 0.2), run(2, 0, 0.8), run(9, 0, 0)]
  const measured = { experiment, runs, runsOf: (id: string) => (id === 'other' ? other : []) }
  const first = ({ reward_first }: PresetRun) => reward_first
  const last = ({ reward_last }: PresetRun) => reward_last
  expect(went(first, last)(measured)).toBe(
    'fell in 2 of 3 seeds and rose in 1 (0.25–0.50 → 0.13–0.75)',
  )
  expect(went(first, last)({ ...measured, runs: runs.slice(0, 1) })).toBe('fell (0.50 → 0.25)')
  expect(higherThan('other', last)(measured)).toBe('in 1 of 2 seeds')
  expect(higherThan('nobody', last)(measured)).toBe('(not measured)')
  expect(of('other', percent(last))(measured)).toBe('0–80 %')
  expect(() => percent(() => undefined)(measured)).toThrow(/no run has this figure/)
})

test('the numbers in the summary of a preset are settings of it', () => {
  expect(Object.keys(SUMMARIES).sort()).toEqual([...IDS].sort())
  for (const { id, experiment } of PRESETS) {
    const values = JSON.stringify(experiment).match(/\d+/g) ?? []
    for (const number of SUMMARIES[id].match(/\d+/g) ?? []) expect(values, id).toContain(number)
  }
})

test('a preset that asks a person is measured with the task in their stead', () => {
  expect(sourceOf('tiny')).toBe('tiny')
  const asked = PRESETS.filter(({ experiment }) =>
    JSON.stringify(experiment).includes('"source":"human"'),
  )
  for (const { id } of asked)
    expect(JSON.stringify(measuredExperiment(id)), id).not.toContain('"source":"human"')
})

const parsed = (document: unknown): Experiment => {
  const result = parseExperiment(document)
  if (!result.ok) throw new Error(result.issues[0].message)
  return result.experiment
}

/** Two steps of imitation, two of layer 1, ten of the whole model. */
const EXPERIMENT = parsed({
  seed: 5,
  task: { id: 'sort_digits', length: 3 },
  model: { hidden_size: 16, num_hidden_layers: 2, num_attention_heads: 2, num_key_value_heads: 2 },
  phases: [
    { kind: 'sft', steps: 2 },
    { kind: 'rl', steps: 2, target_layer: 1 },
    { kind: 'rl', steps: 10 },
  ],
})
const FACTS = {
  adapter: { description: 'a test' } as never,
  steps: 14,
}
const GREEDY = 'val-aux/sort_digits/acc/greedy'
/** The metrics of a run that has `sft` steps before its reinforcement. */
const metrics = (sft: number) =>
  Array.from({ length: sft + 13 }, (_, step) => {
    const k = step - sft
    const data: Record<string, number> = {}
    if (k === 0 || k === 8 || k === 12) data[GREEDY] = k / 20
    if (k >= 1) {
      data['critic/score/mean'] = k <= 6 ? k / 100 : 0
      data['actor/pg_clipfrac'] = k === 3 ? 0.25 : 0.01
      data['layer/entropy/0'] = 3
      data['layer/entropy/1'] = 2 - k / 10
      data['layer/entropy/2'] = 1 + k / 10
    } else data['layer/entropy/1'] = 9
    return [step, data] as const
  })

test('a run is reduced to figures that count from the end of its warm start', () => {
  const run = reduceRun(EXPERIMENT, FACTS, metrics(2))
  expect(run).toMatchObject({ seed: 5, adapter: 'a test', steps: 14, from_warm_start: false })
  // 10 lies between 8 and 12, and has the value between theirs.
  expect(run.greedy).toEqual([
    [0, 0],
    [10, 0.5],
    [12, 0.6],
  ])
  expect(run.sampled).toEqual([])
  expect(run.reward).toEqual([
    [10, 0.012],
    [12, 0],
  ])
  expect(run.reward_first).toBeCloseTo(0.21 / 8, 3)
  expect(run.reward_last).toBeCloseTo(0.11 / 8, 3)
  expect(run.lost_at).toBe(7)
  expect(run.clipfrac_max).toBe(0.25)
  expect(run.phases).toEqual([
    { target_layer: 1, steps: 2, first: [3, 1.9, 1.1], last: [3, 1.8, 1.2] },
    { target_layer: 2, steps: 10, first: [3, 1.7, 1.3], last: [3, 0.8, 2.2] },
  ])
})

test('a run from saved weights has the figures of a whole one', () => {
  const warm = reduceRun(EXPERIMENT, { ...FACTS, warm_start: 'somewhere' }, metrics(0))
  expect({ ...warm, from_warm_start: false }).toEqual(reduceRun(EXPERIMENT, FACTS, metrics(2)))
  expect(warm.from_warm_start).toBe(true)
})

test('settings are what differs from the defaults, with the kinds of phases', () => {
  expect(settingsOf(EXPERIMENT)).toMatchObject({
    'task.id': 'sort_digits',
    'phases.1.kind': 'rl',
    'phases.1.target_layer': 1,
    'model.hidden_size': 16,
  })
  expect(Object.keys(settingsOf(EXPERIMENT))).not.toContain('seed')
  expect(Object.keys(settingsOf(EXPERIMENT))).not.toContain('actor.optim.lr')
})

function runFolder(name: string, experiment: Experiment, status: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'presets-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const own = join(folder, name)
  mkdirSync(own)
  writeFileSync(join(own, 'experiment.json'), JSON.stringify(experiment))
  writeFileSync(join(own, 'run.json'), JSON.stringify({ ...FACTS, status }))
  const lines = metrics(66).map(([step, data]) => JSON.stringify({ step, data }))
  writeFileSync(join(own, 'metrics.jsonl'), `${lines.join('\n')}\n`)
  return folder
}

test('of a folder of runs the finished ones count, and one of another experiment is refused', () => {
  const own = { ...measuredExperiment('tiny-collapse'), seed: 2 }
  const done = runFolder('tiny-collapse-2', own, 'finished')
  expect(finishedRuns(done, 'tiny-collapse', [1, 2, 3]).map(({ seed }) => seed)).toEqual([2])
  const cut = runFolder('tiny-collapse-2', own, 'running')
  expect(finishedRuns(cut, 'tiny-collapse', [2])).toEqual([])
  const other = parsed({ ...own, actor: { ...own.actor, clip_ratio_low: 0.1 } })
  const wrong = runFolder('tiny-collapse-2', other, 'finished')
  expect(() => finishedRuns(wrong, 'tiny-collapse', [2])).toThrow(/no run of tiny-collapse/)
})

test('a run that is done is left alone, one that was cut short continues, another begins', () => {
  const own = measuredExperiment('tiny')
  const name = 'tiny-1'
  expect(trainArguments('tiny', 1, join(runFolder(name, own, 'finished'), name))).toBeUndefined()
  const cut = join(runFolder(name, own, 'stopped'), name)
  expect(trainArguments('tiny', 1, cut)).toEqual(['tiny', '--seed', '1', '--out', cut])
  mkdirSync(join(cut, 'checkpoints'))
  writeFileSync(join(cut, 'checkpoints', 'step_000010.safetensors'), '')
  expect(trainArguments('tiny', 1, cut)).toEqual(['--resume', cut])
  const asked = trainArguments('rlhf-clicks', 2, join(cut, 'none'))
  expect(asked?.[0]).toBe('?v=1&p=rlhf-clicks&phases.1.pairs.source=judge')
})

test('what cannot be meant is refused before anything is trained or written', async () => {
  await expect(presets.run(['chess'])).rejects.toThrow(/no preset 'chess'/)
  await expect(presets.run(['tiny', '--seeds', '1,x'])).rejects.toThrow(/--seeds: expected/)
  await expect(presets.run(['tiny', '--form', 'x'])).rejects.toThrow(/form/)
  await expect(presets.run(['tiny', '--from', 'no/such/folder'])).rejects.toThrow(/no folder/)
})
