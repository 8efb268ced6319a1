// Every lesson against real runs of its own experiments: records.json holds what they measured on
// software adapters, seed 1.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { resolvePhases } from '../../document/experiment/resolve.ts'
import { decodeLink } from '../../document/links/link.ts'
import { moreCharts } from '../learning/more/more_charts.ts'
import type { Question, TryIt } from './base/lesson.ts'
import { type RunFacts, stillTraining } from './base/run_facts.ts'
import { LESSONS } from './lessons.ts'

interface Recorded {
  readonly steps: number
  /** Steps of each phase. */
  readonly phases: readonly number[]
  readonly columns: Readonly<Record<string, { steps: number[]; values: number[] }>>
}
const RECORDS: Readonly<Record<string, Recorded>> = JSON.parse(
  readFileSync('src/ui/lessons/records.json', 'utf8'),
)

/** Checks that one step can meet. */
const AT_ONCE = ['layer-policies/measured', 'ppo/traced']

/** Checks whose words speak of a whole run, or of its end. */
const AT_THE_END = [
  'policy-and-reward/words',
  'sft-against-rl/train',
  'grpo-by-hand/train',
  'dapo/sampled',
  'which-layer/learned',
  'steering/learned',
]

/** A run as it was after some of its steps. */
function runAt(name: string, of: TryIt, step: number): RunFacts {
  const { phases, columns } = RECORDS[name]
  const { experiment } = decodeLink(of.link)
  const begins = phases.map((_, i) => phases.slice(0, i).reduce((sum, steps) => sum + steps, 0))
  const switches = begins.map((begin, phase) => ({ step: begin, phase }))
  const series = Object.entries(columns).map(([metric, { steps, values }]) => {
    const length = steps.filter((one) => one <= step).length
    return [metric, { steps, values, length }] as const
  })
  return {
    experiment,
    document: experiment,
    step,
    switches: switches.filter((one) => one.step <= step),
    series: new Map(series),
    traced: step > begins[1] ? [experiment.phases[1].kind === 'rl' ? traceOf(experiment) : ''] : [],
    verdicts: step > begins[1] ? 20 : 0,
  }
}

const traceOf = ({ phases }: RunFacts['experiment']): string =>
  phases.flatMap((phase) => (phase.kind === 'rl' ? phase.adv_estimator : []))[0]

const contents = await Promise.all(
  LESSONS.map(async (lesson) => ({ lesson, content: await lesson.load() })),
)
const tries = contents.flatMap(({ lesson, content }) =>
  Object.entries(content.parts).flatMap(([name, part]) =>
    part.kind === 'try' ? [{ name: `${lesson.id}/${name}`, part }] : [],
  ),
)

test('answers are checked against what the lessons say', async () => {
  const keys = contents.map(({ lesson, content }) => {
    const parts = Object.entries(content.parts)
    const questions = parts.flatMap(([name, part]) => {
      if (part.kind !== 'question') return []
      const { asks, choices } = part
      const right = choices.findIndex(({ is_right }) => is_right)
      return [[name, { asks, right, choices: choices.length }] as const]
    })
    const tries = parts.flatMap(([name, part]) =>
      part.kind === 'try' ? [[name, part.link] as const] : [],
    )
    const { id, title } = lesson
    return [
      id,
      { title, questions: Object.fromEntries(questions), tries: Object.fromEntries(tries) },
    ]
  })
  // `npx vitest run src/ui/lessons --project unit --update` writes it again.
  const text = `${JSON.stringify(Object.fromEntries(keys), undefined, 2)}\n`
  await expect(text).toMatchFileSnapshot('../../document/course/lesson_keys.json')
})

test('each has a try-it, two questions and a source, and no id is there twice', () => {
  expect(new Set(LESSONS.map(({ id }) => id)).size).toBe(LESSONS.length)
  for (const { lesson, content } of contents) {
    const kinds = Object.values(content.parts).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'try').length, lesson.id).toBeGreaterThan(0)
    expect(
      kinds.filter((kind) => kind === 'question'),
      lesson.id,
    ).toHaveLength(2)
    expect(content.sources.length, lesson.id).toBeGreaterThan(0)
  }
})

test.each(
  contents.flatMap(({ lesson, content }) =>
    Object.entries(content.parts).flatMap(([name, part]): [string, Question][] =>
      part.kind === 'question' ? [[`${lesson.id}/${name}`, part]] : [],
    ),
  ),
)('the question %s has one right choice, and does not tell it in its hint', (_, part) => {
  const right = part.choices.filter(({ is_right }) => is_right)
  expect(right).toHaveLength(1)
  expect(part.hint).not.toContain(right[0].text)
  expect(new Set(part.choices.map(({ text }) => text)).size).toBe(part.choices.length)
})

test('a text that counts the steps to train counts those of every phase, as the button does', () => {
  const counted = tries.filter(({ part }) => /Train .* for \d+ steps/.test(part.does))
  expect(counted.length).toBeGreaterThan(0)
  for (const { name, part } of counted)
    for (const { steps } of resolvePhases(decodeLink(part.link).experiment))
      expect(part.does, name).toMatch(new RegExp(`\\b${steps}\\b`))
})

test('a chart that an experiment pins is one behind “More charts” that its run measures', () => {
  const pinned = tries.filter(({ part }) => part.pins !== undefined)
  expect(pinned.map(({ name }) => name)).toContain('zero-loss/train')
  for (const { name, part } of pinned) {
    const charts = moreCharts(Object.keys(RECORDS[name].columns), false)
    expect(
      charts.flatMap((group) => group.charts.map(({ id }) => id)),
      name,
    ).toContain(part.pins)
  }
})

test.each(tries.map(({ name, part }) => [name, part] as const))(
  'the experiment of %s opens without a notice, and its own run meets the check',
  (name, part) => {
    expect(decodeLink(part.link).notices).toEqual([])
    const { steps, phases } = RECORDS[name]
    const planned = resolvePhases(decodeLink(part.link).experiment)
    expect(phases).toEqual(planned.map((phase) => phase.steps))
    const met = part.check(runAt(name, part, steps))
    expect(met.says).not.toMatch(/NaN|undefined|–/)
    expect(met).toMatchObject({ is_done: true })
    // Neither the warm start nor the first step of reinforcement is enough.
    const warm = phases.length > 1 ? phases[0] : 0
    for (const step of [0, 1, warm, warm + 1]) {
      const early = part.check(runAt(name, part, step))
      if (!AT_ONCE.includes(name)) expect(early.is_done, `after step ${step}`).toBe(false)
      expect(early.says).not.toMatch(/NaN|undefined/)
    }
  },
)

test.each(tries.filter(({ name }) => AT_THE_END.includes(name)))(
  'what $name says of the end of a run holds no step before it',
  ({ name, part }) => {
    const { steps } = RECORDS[name]
    const before = part.check(runAt(name, part, steps - 1))
    expect(before).toEqual(stillTraining(`The run has taken ${steps - 1} of ${steps} steps.`))
  },
)

test('a run of another experiment is no reason to throw', () => {
  for (const { name, part: other } of new Map(tries.map((one) => [one.name, one])).values()) {
    const run = runAt(name, other, RECORDS[name].steps)
    for (const { part, name: own } of tries)
      if (own !== name) expect(typeof part.check(run).is_done).toBe('boolean')
  }
})
