// The time left along the timelines of runs as the page sees them.
import { expect, test } from 'vitest'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import { plannedStretches } from '../../document/experiment/steered/planned.ts'
import { type Gaps, measuredPhases, type TimeLeft, timeLeft, withGap } from './time_left.ts'

function experimentOf(document: object) {
  const parsed = parseExperiment(document)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.experiment
}

interface Moment {
  readonly step: number
  readonly left: TimeLeft
  /** What the rest really takes, in seconds. */
  readonly truth: number
}

/** A run on a machine that takes the given ms for a step of each phase and for a validation. The
 * worker queues a step before the last one arrives, so a validation holds up the arrival of the
 * step before it. */
function ran(
  experiment: ReturnType<typeof experimentOf>,
  stepMs: readonly number[],
  validationMs: number,
): Moment[] {
  const stretches = plannedStretches(experiment)
  const { test_freq } = experiment.validation
  const isValidated = (step: number) => {
    const stretch = stretches.find(({ from, to }) => step > from && step <= to)
    if (!stretch || stretch.document.kind === 'reward_model' || test_freq === null) return false
    return step % test_freq === 0 || step === stretch.to
  }
  const last = stretches[stretches.length - 1].to
  const arrivals: number[] = []
  let now = 0
  for (let step = 1; step <= last; step++) {
    const phase = stretches.find(({ from, to }) => step > from && step <= to)?.phase ?? 0
    now += stepMs[phase] + (isValidated(step + 1) ? validationMs : 0)
    arrivals[step] = now
  }
  let gaps: Gaps = {}
  return stretches.flatMap(({ phase, from, to }) =>
    Array.from({ length: to - from }, (_, i) => {
      const step = from + i + 1
      const gap = { ms: arrivals[step] - arrivals[step - 1], isValidated: isValidated(step) }
      if (i > 0) gaps = withGap(gaps, phase, gap)
      const { phases } = experiment
      const left = timeLeft({
        toCome: stretches,
        step,
        test_freq,
        measured: measuredPhases(phases, gaps),
      })
      return { step, left, truth: (arrivals[last] - arrivals[step]) / 1000 }
    }),
  )
}

const PHASES = [
  { kind: 'sft', steps: 60 },
  { kind: 'rl', steps: 40, target_layer: 2 },
  { kind: 'rl', steps: 50, target_layer: 'final' },
] as const
const experiment = experimentOf({ phases: PHASES, validation: { test_freq: 10 } })

test('a validation moves the time left by no more than what is left to learn about it', () => {
  const moments = ran(
    experimentOf({ phases: [PHASES[0]], validation: { test_freq: 10 } }),
    [100],
    900,
  )
  // Two validations have been seen.
  for (const { step, left, truth } of moments.filter(({ step }) => step >= 22)) {
    expect(left, `step ${step}`).toMatchObject({ untimedSteps: 0, isAbout: false })
    expect(Math.abs((left.seconds ?? 0) - truth), `step ${step}`).toBeLessThan(1)
  }
  const seconds = moments.filter(({ step }) => step >= 22).map(({ left }) => left.seconds ?? 0)
  const rises = seconds.slice(1).map((now, i) => now - seconds[i])
  expect(Math.max(...rises)).toBeLessThan(0.5)
})

test('the speed of a warm start says nothing of reinforcement', () => {
  const moments = ran(experiment, [30, 2000, 4000], 500)
  for (const { step, left } of moments.filter(({ step }) => step >= 30 && step < 60)) {
    expect(left.untimedSteps, `step ${step}`).toBe(90)
    expect(left.seconds, `step ${step}`).toBeLessThan(10)
  }
  // Of what is left then, nothing.
  expect(moments[59].left.seconds).toBeUndefined()
  // Once one kind of reinforcement has run, the other takes its speed, and says that it is a guess.
  const inner = moments[70].left
  expect(inner).toMatchObject({ untimedSteps: 0, isAbout: true })
  // Then each has its own.
  for (const { step, left, truth } of moments.filter(({ step }) => step >= 115)) {
    expect(left.isAbout, `step ${step}`).toBe(false)
    expect(Math.abs((left.seconds ?? 0) - truth), `step ${step}`).toBeLessThan(0.2 * truth + 5)
  }
  expect(moments.at(-1)?.left).toEqual({ seconds: 0, untimedSteps: 0, isAbout: false })
})

test('phases that are alike share a speed, whatever their length and name', () => {
  const phases = [PHASES[1], { ...PHASES[1], steps: 9, name: 'again' }]
  const alike = experimentOf({ phases, validation: { test_freq: null } })
  const { left, truth } = ran(alike, [700, 700], 0)[20]
  expect(left.isAbout).toBe(false)
  expect(left.seconds).toBeCloseTo(truth, 6)
})

test('a phase that has not run is timed by its work, one that has by its own steps', () => {
  const toCome = plannedStretches(experiment)
  const of = (phase: number, step: number, ms: number) => {
    const gaps = Array.from({ length: 9 }, () => ({ ms, isValidated: false }))
    const measured = measuredPhases(experiment.phases, { [phase]: gaps })
    const timesAs = () => 3
    return timeLeft({ toCome, step, measured, test_freq: null, timesAs }).seconds
  }
  expect(of(1, 90, 1000)).toBe(10 + 50 * 3)
  expect(of(2, 100, 1000)).toBe(50)
})

test('nothing is said before anything was measured, and before a validation was, only about', () => {
  const [first, second] = ran(experiment, [200, 200, 200], 100)
  expect(first.left).toEqual({ seconds: undefined, untimedSteps: 149, isAbout: false })
  expect(second.left).toMatchObject({ isAbout: true, untimedSteps: 90 })
  expect(second.left.seconds).toBeCloseTo(58 * 0.2, 6)
})

test('steps that arrive together have no speed', () => {
  const { phases } = experiment
  const gaps = withGap(withGap({}, 0, { ms: 0, isValidated: false }), 0, {
    ms: 1,
    isValidated: false,
  })
  const toCome = plannedStretches(experiment)
  expect(
    timeLeft({ toCome, step: 3, measured: measuredPhases(phases, gaps), test_freq: 10 }).seconds,
  ).toBeUndefined()
})

test('a first validation that compiled counts no more once there is another', () => {
  const step = { ms: 100, isValidated: false }
  const slow = [step, { ms: 6000, isValidated: false }, { ms: 100, isValidated: true }]
  const quick = [step, { ms: 600, isValidated: false }, { ms: 100, isValidated: true }]
  const { phases } = experiment
  const paceOf = (...gaps: readonly (typeof step)[]) => measuredPhases(phases, { 0: gaps })[0].pace
  expect(paceOf(step, ...slow, step)).toEqual({
    step_ms: 100,
    validation_ms: 5900,
    isOfFirst: true,
  })
  expect(paceOf(step, ...slow, step, ...quick)).toEqual({ step_ms: 100, validation_ms: 500 })
  // One that was quicker than the others is as good a measure as they are.
  expect(paceOf(step, ...quick, step, ...slow).validation_ms).toBe(3200)
})
