// Forged checkpoints: right in form and checksum, and contradictory in what they say.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { CONTROL } from '../../../kernels/optimizer/control.ts'
import type { ModelState } from '../../../rl/train/state.ts'
import { EVERYTHING, madeCheckpoint, TINY, tinyExperiment } from '../testing.ts'
import type { Checkpoint } from './checkpoint.ts'
import { CheckpointError } from './checkpoint_error.ts'
import { decodeCheckpoint, encodeCheckpoint } from './checkpoint_file.ts'

const FILE = 'forged.safetensors'
const PLAIN = tinyExperiment({ phases: [{ kind: 'rl', steps: 9 }] })
const PHASES = tinyExperiment({
  phases: [
    { kind: 'sft', steps: 5 },
    { kind: 'rl', steps: 9 },
  ],
})

type Counts = Partial<Checkpoint['run']['trainer']>

const forged = (checkpoint: Checkpoint, counts: Counts, run: Partial<Checkpoint['run']> = {}) => ({
  ...checkpoint,
  run: { ...checkpoint.run, ...run, trainer: { ...checkpoint.run.trainer, ...counts } },
})

/** What is said of a checkpoint; undefined where it is taken. */
async function said(checkpoint: Checkpoint): Promise<string | undefined> {
  const bytes = await encodeCheckpoint(checkpoint)
  try {
    await decodeCheckpoint(bytes, FILE)
    return undefined
  } catch (error) {
    if (!(error instanceof CheckpointError)) throw error
    return error.message.slice(FILE.length + 2)
  }
}

const changed = (experiment: Experiment, fields: object) =>
  tinyExperiment({ phases: experiment.phases, ...fields })

describe('counts that no run reaches are refused by name', () => {
  const six = madeCheckpoint(PLAIN, 6, 0)
  const late = madeCheckpoint(PHASES, 8, 1)
  test.for<[name: string, checkpoint: Checkpoint, said: string]>([
    [
      'more steps than its phases have',
      forged(six, { step: 2 ** 53 - 1 }),
      'run.step: expected at most 6',
    ],
    [
      'the first phase after a step that is none of its own',
      forged(late, { phase: 0 }),
      'run.step: expected at most 3',
    ],
    [
      'a later phase without a step before it',
      forged(late, { step: 3 }),
      'run.step: expected at least 4',
    ],
    [
      'more steps of a phase than it has',
      forged(six, { step: 10, phase_step: 10, stage_step: 10 }),
      'run.phase_step: expected at most 9 (steps of its phase), found 10',
    ],
    [
      'a schedule behind its phase',
      forged(six, { stage_step: 2 }),
      'run.stage_step: expected at least 6',
    ],
    [
      'a critic ahead of its schedule',
      forged(six, { critic_step: 7 }),
      'run.critic_step: expected at most 6 (stage_step)',
    ],
    [
      'steps before the start',
      forged(six, { is_started: false }),
      'run.is_started: expected true after step 6',
    ],
    [
      'more left out than there were updates',
      forged(six, { skipped_updates: 2 ** 52 }),
      'run.skipped_updates: expected at most',
    ],
    [
      'problems without end',
      forged(six, { sample_index: 2 ** 53 - 1 }),
      'run.sample_index: expected at most',
    ],
    [
      'a coefficient of a phase that has none',
      forged(madeCheckpoint(PHASES, 3, 0), { kl_coef: 0.1 }),
      'run.kl_coef: expected none',
    ],
    [
      'a coefficient below zero',
      forged(six, { kl_coef: -1 }),
      'run.kl_coef: expected a number from 0',
    ],
    [
      'a parent that comes later',
      { ...six, parent: { record: 'x', step: 7 } },
      'parent.step: expected at most 6',
    ],
    [
      'a document of another model',
      forged(
        six,
        {},
        { document: changed(PLAIN, { model: { ...TINY.model, intermediate_size: 48 } }) },
      ),
      'document.model: expected what the experiment has',
    ],
    [
      'a document of another seed',
      forged(six, {}, { document: changed(PLAIN, { seed: 4 }) }),
      'document.seed: ',
    ],
    [
      'a document of another task',
      forged(six, {}, { document: changed(PLAIN, { task: { id: 'sort_digits', length: 3 } }) }),
      'document.task: ',
    ],
    [
      'something done that is still to come',
      forged(madeCheckpoint(EVERYTHING, 2, 0), {}, { done: 2 }),
      'document.steering.1.step: expected at most 2 (step)',
    ],
    [
      'something due that was not done',
      forged(madeCheckpoint(EVERYTHING, 6, 1), {}, { done: 1 }),
      'document.steering.1.step: expected at least 6 (step)',
    ],
    [
      'verdicts in a phase that asks nobody',
      { ...six, history: { ...six.history, verdicts: { 0: 'ab' } } },
      'verdicts.0: expected those of a reward_model or preference phase',
    ],
    [
      'something that was done after the last step',
      {
        ...six,
        history: {
          ...six.history,
          steered: [{ entry: { step: 7, kind: 'next_phase' }, refused: undefined }],
        },
      },
      'steered.0: expected a step up to 6, found 7',
    ],
  ])('%s', async ([, checkpoint, message]) => {
    expect(await said(checkpoint)).toContain(message)
  })

  test('a phase that a person made shorter than it had become is no contradiction', async () => {
    const document = changed(PLAIN, {
      phases: [{ kind: 'rl', steps: 9 }],
      steering: [{ step: 6, kind: 'set', path: 'phases.0.steps', value: 4 }],
    })
    const experiment = changed(PLAIN, { phases: [{ kind: 'rl', steps: 4 }] })
    expect(await said(forged(six, {}, { document, experiment, done: 1 }))).toBeUndefined()
  })

  test('whatever one counter holds, it is refused by its name or a count that a run reaches', async () => {
    const names = ['phase', 'step', 'phase_step', 'stage_step', 'critic_step'] as const
    const value = fc.oneof(fc.nat(12), fc.maxSafeNat(), fc.constant(2 ** 53 - 1))
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), value, async (name, count) => {
        const message = await said(forged(late, { [name]: count }))
        const { step, phase, phase_step, stage_step, critic_step } = {
          ...late.run.trainer,
          ...({ [name]: count } as Counts),
        }
        const before = phase === 1 ? 5 : 0
        const isPossible =
          phase <= 1 &&
          phase_step <= PHASES.phases[phase].steps &&
          step - phase_step >= phase &&
          step - phase_step <= before &&
          stage_step >= phase_step &&
          stage_step <= step &&
          critic_step <= stage_step &&
          // The history that comes with it reaches up to step 8.
          step >= 8
        expect(message === undefined, message).toBe(isPossible)
        if (message !== undefined) expect(message).toMatch(/^(run\.|tensor history|parent|steered)/)
      }),
      { numRuns: Number(process.env.HOSTILE_RUNS ?? 50), seed: 3 },
    )
  }, 3_600_000)
})

describe('numbers that no optimizer leaves are refused by name', () => {
  const PARTS = ['weights', 'adam_m', 'adam_v', 'corrections'] as const
  const MODELS = ['actor', 'critic', 'reward_model'] as const

  /** The checkpoint with one value of one array replaced. */
  function spoilt(
    model: (typeof MODELS)[number],
    part: keyof ModelState,
    at: number,
    value: number,
  ) {
    const checkpoint = madeCheckpoint(EVERYTHING, 8, 2)
    const array = checkpoint.run.trainer[model]?.[part]
    if (!array) throw new Error(`no ${model}.${part}`)
    // Between parameters lies padding, which is no part of a file.
    const places = [...array.keys()].filter((i) => array[i] !== 0)
    array[places[at % places.length]] = value
    return checkpoint
  }

  test('a value of any array', async () => {
    const value = fc.constantFrom(
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      -0.5,
      1.5,
    )
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...MODELS),
        fc.constantFrom(...PARTS),
        fc.nat(),
        value,
        async (model, part, at, bad) => {
          const isSound =
            Number.isFinite(bad) &&
            (part === 'corrections' ? bad >= 0 && bad <= 1 : part !== 'adam_v' || bad >= 0)
          const message = await said(spoilt(model, part, at, bad))
          if (isSound) expect(message).toBeUndefined()
          else
            expect(message).toMatch(
              new RegExp(`^${model}\\.${part}: expected .*found -?[\\w.]+ at \\d`),
            )
        },
      ),
      { numRuns: Number(process.env.HOSTILE_RUNS ?? 40), seed: 3 },
    )
  }, 3_600_000)

  const control = (values: Partial<Record<(typeof CONTROL)[number], number>>) => {
    const checkpoint = madeCheckpoint(PLAIN, 6, 0)
    const sound = {
      grad_norm: 1,
      clip_coef: 0.5,
      is_finite: 1,
      skipped_steps: 0,
      optimizer_steps: 6,
    }
    checkpoint.run.trainer.actor.control.set(CONTROL.map((name) => ({ ...sound, ...values })[name]))
    return checkpoint
  }

  test.for<[values: Parameters<typeof control>[0], name: string | undefined]>([
    [{}, undefined],
    [{ is_finite: 0, grad_norm: Number.NaN, clip_coef: 0, skipped_steps: 1 }, undefined],
    [{ grad_norm: Number.NaN }, 'grad_norm'],
    [{ grad_norm: -1 }, 'grad_norm'],
    [{ is_finite: Number.NaN }, 'is_finite'],
    [{ is_finite: 0 }, 'clip_coef'],
    [{ clip_coef: Number.NaN }, 'clip_coef'],
    [{ clip_coef: 2 }, 'clip_coef'],
    [{ skipped_steps: -1 }, 'skipped_steps'],
    [{ optimizer_steps: 0.5 }, 'optimizer_steps'],
    [{ optimizer_steps: Number.NaN }, 'optimizer_steps'],
  ])('control with %o', async ([values, name]) => {
    const message = await said(control(values))
    if (name === undefined) expect(message).toBeUndefined()
    else expect(message).toMatch(new RegExp(`^actor\\.control\\.${name}: expected .*, found `))
  })

  test('a frozen reference that is no number', async () => {
    const checkpoint = madeCheckpoint(EVERYTHING, 8, 2)
    checkpoint.run.trainer.reference?.fill(Number.NaN, 0, 1)
    expect(await said(checkpoint)).toMatch(/^reference: expected finite numbers, found NaN at 0/)
  })
})
