import { beforeAll, expect, test } from 'vitest'
import { presetOf } from '../../../document/presets/presets.ts'
import { Series } from '../../../host/columns/series.ts'
import { importedRun } from '../../../jobs/logs/imported_run.ts'
import { logReader, readLogs } from '../../../jobs/logs/read_log.ts'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { begun, recorderOn, stepEvent, told } from '../../../page/runs/testing.ts'
import { metricsFileName, runFileStem } from '../../../record/files/file_names.ts'
import { metricsJsonl } from '../../../record/files/metrics_file.ts'
import { runName } from '../../../record/run/names.ts'
import { NO_LABELS, type RunHeader } from '../../../record/run/record.ts'
import { memoryStorage } from '../../../record/run/storage.ts'
import { extendSummary } from '../../../record/run/summary.ts'
import { REWARD, TASK_SCORE } from '../../shown/metrics.ts'
import { differenceText, endText, plannedOf, statusWord, tookText } from '../../shown/run_words.ts'
import { VERL_LOG } from '../../shown/testing.ts'
import { choiceLabel, comparedChoices } from './choices.ts'
import {
  boundsOfRuns,
  cellOf,
  cellText,
  isShare,
  METRIC_CHOICES,
  metricNames,
  metricOf,
  toldBy,
} from './columns.ts'
import { type Filter, filterProblem } from './filters.ts'
import { FIRST_VIEW, type TableView, tableRows } from './table.ts'

const GREEDY = 'val-aux/sort_digits/acc/greedy'
const view = FIRST_VIEW
let header: RunHeader

beforeAll(async () => {
  const storage = memoryStorage()
  const { recorder } = recorderOn(storage)
  recorder.see(
    told(begun(1), stepEvent(1, 0, { [GREEDY]: 0.5 }), stepEvent(1, 1, { [GREEDY]: 0.25 })),
  )
  await recorder.flush()
  header = (await storage.list()).headers[0] as RunHeader
})

const entry = (
  id: string,
  labels: Partial<RunEntry['labels']> = {},
  said: Partial<RunHeader> = {},
): RunEntry => ({
  id,
  header: { ...header, id, started_at: id.charCodeAt(0), ...said },
  labels: { ...NO_LABELS, id, color: 0, name: id, ...labels },
})
const idsOf = (entries: readonly RunEntry[], change: Partial<TableView> = {}) =>
  tableRows(entries, { ...view, ...change })
    .map(({ entry: { id } }) => id)
    .join('')

test('the newest run comes first, pinned ones above it, hidden ones only on request', () => {
  const runs = [entry('a', { pinned: true }), entry('b'), entry('c', { hidden: true }), entry('d')]
  expect(idsOf(runs)).toBe('adb')
  expect(idsOf(runs, { withHidden: true })).toBe('adcb')
  expect(idsOf(runs, { isDescending: false })).toBe('abd')
})

test('runs are sorted by the number that is asked for, those without one last', () => {
  const summary = header.summaries[GREEDY]
  const runs = [
    entry('a', {}, { summaries: { [GREEDY]: { ...summary, last: 0.1, highest: 0.9 } } }),
    entry('b', {}, { summaries: {} }),
    entry('c', {}, { summaries: { [GREEDY]: { ...summary, last: 0.3, highest: 0.4 } } }),
  ]
  expect(idsOf(runs, { sort: 'metric' })).toBe('cab')
  expect(idsOf(runs, { sort: 'metric', isDescending: false })).toBe('acb')
  expect(idsOf(runs, { sort: 'metric', statistic: 'highest' })).toBe('acb')
  expect(tableRows(runs, view).map(({ value }) => value)).toEqual([0.3, undefined, 0.1])
})

test('every word of a search has to be found', () => {
  const runs = [entry('a', { notes: 'Warm restart' }), entry('b', { name: 'lower lr' })]
  expect(idsOf(runs, { search: 'restart' })).toBe('a')
  expect(idsOf(runs, { search: 'LR low' })).toBe('b')
  expect(idsOf(runs, { search: 'lower restart' })).toBe('')
  expect(idsOf(runs, { search: 'sort_digits seed 1' })).toBe('ba')
  // What a row says below the name, whatever the name is.
  const log = entry('c', { name: 'mine' }, { source: { ...VERL_LOG, kind: 'trl' } })
  for (const search of ['TRL', 'trainer_state'])
    expect(idsOf([...runs, log], { search }), search).toBe('c')
  expect(idsOf(runs, { search: 'grpo' })).toBe('ba')
})

test('a number of a filter is read in the unit that the table shows', () => {
  const summaries = { [GREEDY]: extendSummary(undefined, [0.9453125]) }
  const runs = [entry('a', {}, { summaries }), entry('b', {}, { summaries: {} })]
  const found = (operator: Filter['operator'], value: string, column = 'metric:greedy') =>
    idsOf(runs, { filters: [{ column, operator, value }] })
  for (const value of ['94', '94 %', '94%', '94\u00a0%', '0.94'])
    expect([value, found('at least', value), found('at most', value)]).toEqual([value, 'a', ''])
  expect(found('at least', '95')).toBe('')
  expect(found('is', '94.5 %')).toBe('a')
  expect(found('is not', '94.5 %')).toBe('b')
  // What is no share is as it is written.
  expect(found('at least', '1', 'setting:seed')).toBe('ba')
  expect(found('at least', '94', 'setting:seed')).toBe('')
})

test('a bound that is no number is refused', () => {
  const problem = (operator: Filter['operator'], value: string, column = 'metric:greedy') =>
    filterProblem({ column, operator, value })
  expect(problem('at least', 'abc')).toContain('got “abc”')
  expect(problem('is', 'abc')).toContain('got “abc”')
  expect(problem('at most', '')).toContain('got nothing')
  expect(problem('at most', '%')).toContain('got “%”')
  expect(problem('at least', '94 %')).toBeUndefined()
  expect(problem('is', 'abc', 'fact:tags')).toBeUndefined()
})

test('metrics are those of the run’s own task and model', () => {
  const run = entry('a')
  expect(metricOf(run, '')).toBe(GREEDY)
  expect(metricOf(run, 'sampled')).toMatch(/^val-core\/sort_digits\/acc\/mean@/)
  expect(metricOf(run, 'entropy')).toBe('layer/entropy/3')
  expect(metricOf(run, 'actor/lr')).toBe('actor/lr')
  expect(metricNames([run])).toEqual([GREEDY])
})

test('how a run ended is said with its steps and its time', () => {
  const at = { step: 66, phase: 0, reason: 'next_phase' } as const
  expect(plannedOf(header)).toBe(120)
  const later = { step: 12, phase: 1, phase_step: 2 }
  const phase_switches = [{ ...at, step: 10, phase: 1 }]
  expect(plannedOf({ ...header, ...later, phase_switches })).toBe(64)
  const done = { step: 120, phase: 2, phase_step: header.experiment.phases[2].steps } as const
  expect(endText({ ...header, ...done, status: 'finished' })).toBe('finished, 120 steps')
  expect(endText({ ...header, status: 'stopped' })).toBe('stopped at step 1 of 120')
  const left = { ...header, status: 'stopped', was_left: true } as const
  expect([statusWord(left), endText(left)]).toEqual(['interrupted', 'interrupted at step 1 of 120'])
  expect(statusWord({ ...header, status: 'failed' })).toBe('failed')
  const cut = {
    ...header,
    ...done,
    status: 'finished',
    source: { ...VERL_LOG, is_cut: true },
  } as const
  expect([statusWord(cut), endText(cut)]).toEqual(['cut off', 'cut off after step 120'])
  expect(endText({ ...cut, ...later })).toBe('cut off at step 12 of 64')
  // A condition ended its last phase.
  const early = { step: 95, phase: 2, phase_step: 25 } as const
  expect(endText({ ...header, ...early, status: 'finished' })).toBe(
    'finished early at step 95 of 120',
  )
  expect(tookText({ ...header, status: 'running' })).toBeUndefined()
  expect(tookText({ ...header, status: 'stopped', started_at: 0, ended_at: 65_000 })).toBe(
    '1 min 05 s',
  )
})

test('differences carry their sign, shares in points', () => {
  expect(differenceText(0.031, true)).toBe('+3.1 points')
  expect(differenceText(-0.031, true)).toBe('−3.1 points')
  expect(differenceText(0, true)).toBe('0.0 points')
  expect(differenceText(-0.25, false)).toBe('−0.25')
  expect(differenceText(1e-5, false)).toBe('+1.0e-5')
})

test('an imported verl log is described by what it says, and by no setting of the lab', async () => {
  const lines = [1, 2].map((step) =>
    JSON.stringify({ step, data: { 'val-core/gsm8k/acc/mean@1': 0.35 * step } }),
  )
  const bytes = new TextEncoder().encode(`${lines.join('\n')}\n`)
  const pieces = async function* () {
    yield bytes
  }
  const reader = logReader('verl.jsonl', bytes)
  if (!reader) throw new Error('verl.jsonl: expected a log')
  const [log] = await readLogs(reader, [{ name: 'verl.jsonl', pieces }])
  const { header } = importedRun('verl.jsonl', log, { id: 'i', now: 0, version: '0.0.0' })
  const entry = { id: 'i', labels: { ...NO_LABELS, id: 'i', color: 0 }, header }
  const said = (column: string) => cellText(cellOf(entry, column, FIRST_VIEW), column, entry)
  // It is told by this number, which is a mean of answers and no greedy accuracy.
  expect(['', 'sampled', 'greedy'].map((choice) => said(`metric:${choice}`))).toEqual([
    '70.0\u00a0%',
    '70.0\u00a0%',
    '–',
  ])
  expect(choiceLabel('', [entry])).toBe('held-out accuracy, gsm8k')
  expect(toldBy(entry, '')).toBe('accuracy, gsm8k')
  // Where logs have several sets of problems, each says its own.
  const [series] = log.series.values()
  const math = new Map([['val-core/math/reward/mean@1', series]])
  const own = importedRun('b', { ...log, series: math }, { id: 'b', now: 0, version: '0.0.0' })
  const both = [entry, { ...entry, id: 'b', header: own.header }]
  expect(choiceLabel('', both)).toBe('held-out mean of answers')
  expect(both.map((one) => toldBy(one, ''))).toEqual(['accuracy, gsm8k', 'reward, math'])
  const unknown = ['fact:task', 'fact:preset', 'setting:actor.optim.lr', 'setting:seed']
  expect(unknown.map(said)).toEqual(unknown.map(() => '–'))
  expect(runName(entry)).toMatchObject({ name: 'verl', differs: 'verl' })
  // The times of the record are those of the import.
  expect(said('fact:took')).toBe('–')
  expect(tookText(header)).toBeUndefined()
})

test('a log that the lab wrote says what its run says, in every column of both', async () => {
  const { experiment } = header
  const judged = presetOf('rlhf-tiny')?.experiment
  for (const own of [experiment, judged ?? experiment]) {
    const run = entry('a', {}, { experiment: own })
    const layers = own.model.num_hidden_layers
    const columns = METRIC_CHOICES.map(({ key }) => metricOf(run, key))
    // Beside them what could be mistaken for one: it is of another policy, or of a reward model.
    const others = ['actor/entropy', REWARD, TASK_SCORE, 'layer/entropy/0']
    const model = own === judged ? ['reward_model/grad_norm'] : []
    const values = new Map([...others, ...columns, ...model].map((name, i) => [name, (i + 1) / 7]))
    const summaries = Object.fromEntries(
      [...values].map(([name, value]) => [name, extendSummary(undefined, [1, value])]),
    )
    const text = metricsJsonl(
      new Map(
        [...values].map(([name, value]) => [
          name,
          Series.of(Float64Array.of(1, 2), Float64Array.of(1, value)),
        ]),
      ),
    )
    const bytes = new TextEncoder().encode(text)
    const pieces = async function* () {
      yield bytes
    }
    const name = metricsFileName(runFileStem({ name: 'Mine', seed: 3 }), 'jsonl')
    const reader = logReader(name, bytes)
    const [log] = reader ? await readLogs(reader, [{ name, pieces }]) : []
    const imported = importedRun(name, log, { id: 'i', now: 0, version: '0.0.0' })
    const again = entry('i', {}, imported.header)
    const numbers = (one: RunEntry) =>
      METRIC_CHOICES.map(({ key }) => cellOf(one, `metric:${key}`, FIRST_VIEW))
    expect(numbers(again)).toEqual(numbers({ ...run, header: { ...run.header, summaries } }))
    expect(again.header.experiment.model.num_hidden_layers).toBe(layers)
    expect(again.header.source).toMatchObject({ kind: 'lab', seed: 3, setting: 'mine' })
    expect(runName({ ...again, labels: { ...again.labels, name: '' } }).name).toBe('mine-seed-3')
  }
})

test('an interval ends at 0 and 1 only where the score is the task’s own, and never cuts what was measured', () => {
  const share = { low: 0, high: 1 }
  const any = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }
  const bounds = (run: RunEntry, metric: string) => boundsOfRuns([run], () => metric)
  const own = entry('a')
  expect(bounds(own, REWARD)).toEqual(share)

  const { experiment } = header
  const parts = [{ id: 'exact_match', weight: 2 }]
  const composed = { ...experiment, reward: { ...experiment.reward, parts } }
  expect(bounds(entry('b', {}, { experiment: composed }), REWARD)).toEqual(any)

  const [first] = experiment.phases
  const phases = [
    { ...first, kind: 'reward_model' },
    ...experiment.phases,
  ] as typeof experiment.phases
  const learned = entry('c', {}, { experiment: { ...experiment, phases } })
  expect(bounds(learned, REWARD)).toEqual(any)
  expect(bounds(learned, TASK_SCORE)).toEqual(share)

  const summaries = { [REWARD]: extendSummary(undefined, [0.5, 1.5]) }
  const beyond = entry('d', {}, { summaries })
  expect(boundsOfRuns([own, beyond], () => REWARD)).toEqual(any)
  // Runs that are told by different measures have bounds where both have the same.
  const told = (of: string) => (run: RunEntry) => (run === own ? 'val-core/a/acc/mean@1' : of)
  expect(boundsOfRuns([own, learned], told('val-core/b/acc/mean@1'))).toEqual(share)
  expect(boundsOfRuns([own, learned], told('val-core/b/reward/mean@1'))).toEqual(any)
})

test('a reward that can exceed 1 is no share, and is not written in per cent', () => {
  const { experiment } = header
  const parts = [{ id: 'exact_match', weight: 2 }]
  const composed = { ...experiment, reward: { ...experiment.reward, parts } }
  const own = entry('b', {}, { experiment: composed })
  expect(isShare('score', [own])).toBe(false)
  expect(cellText(1.5, 'metric:score', own)).toBe('1.5')
  expect(cellText(0.5, 'metric:score', entry('a'))).toBe('50.0\u00a0%')
  expect(isShare('score', [entry('a'), own])).toBe(false)
  expect(isShare('greedy', [entry('a'), own])).toBe(true)
})

test('a run that was rewarded for one thing of a text is told by that, and another by its accuracy', () => {
  const stories = presetOf('story-ends')
  if (!stories) throw new Error('no preset')
  const story = entry('s', {}, { experiment: stories.experiment })
  expect(metricOf(story, '')).toBe('val-aux/story/happy_end/mean@1')
  expect(metricOf(story, 'greedy')).toBe('val-aux/story/acc/greedy')
  expect(metricOf(entry('a'), '')).toBe(metricOf(entry('a'), 'greedy'))
  expect(choiceLabel('', [entry('a')])).toBe('held-out accuracy, greedy')
  expect(choiceLabel('', [story])).toBe('held-out happy end, sampled')
  expect(choiceLabel('', [entry('a'), story])).toBe(
    'held-out happy end, sampled, or accuracy, greedy',
  )
  expect(cellText(1, 'metric:score', story)).toBe('100.0\u00a0%')
  expect(comparedChoices([story])[0].key).toBe('main')
  expect(comparedChoices([entry('a'), story])[0].key).toBe('greedy')
})
