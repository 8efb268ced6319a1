import { describe, expect, test } from 'vitest'
import { decodeLink, encodeLink } from '../../links/link.ts'
import { withField } from '../experiment.ts'
import { experimentFields } from '../form/form.ts'
import { resolvePhases } from '../resolve.ts'
import { issues, parsed } from '../testing.ts'
import { trainerConfig } from '../trainer_config.ts'

/** 80 training problems. */
const task = { id: 'two_skills_addition', digits: 1 }
const set = (size: number, phases: object[], rest: object = {}) => ({
  task,
  data: { train_max_samples: size },
  phases,
  ...rest,
})
const edited = (from: object, path: string, value: unknown) => {
  const result = withField(parsed(from), path, value)
  if (!result.ok) throw new Error(result.message)
  return result.experiment
}
const stepsOf = (document: object) => parsed(document).phases.map(({ steps }) => steps)
const fieldOf = (document: object, path: string) =>
  experimentFields(parsed(document)).find((field) => field.path === path)

test('draws are endless unless a set is asked for, which reaches the trainer', () => {
  expect(trainerConfig(parsed({})).data).toMatchObject({ train_max_samples: null, shuffle: true })
  const some = set(40, [{ kind: 'rl' }], { data: { train_max_samples: 40, shuffle: false } })
  expect(trainerConfig(parsed(some)).data).toMatchObject({ train_max_samples: 40, shuffle: false })
  expect(stepsOf(some)).toEqual([120])
})

describe('epochs', () => {
  const sft = { kind: 'sft', batch_size: 30, epochs: 4 }
  const own = { kind: 'rl', epochs: 5, rollout: { train_batch_size: 16 } }
  const phases = [sft, { kind: 'rl', epochs: 3 }, own, { kind: 'rl', steps: 7 }]
  const document = set(80, phases)

  test('are whole batches of the training set, as verl counts them', () => {
    expect(stepsOf(document)).toEqual([8, 6, 25, 7])
    const engine = resolvePhases(parsed(document))
    expect(engine.map(({ steps }) => steps)).toEqual([8, 6, 25, 7])
    expect(engine.some((phase) => 'epochs' in phase)).toBe(false)
  })

  test('follow the set and the batch, and end where a number of steps is said', () => {
    expect(edited(document, 'data.train_max_samples', 64).phases[1].steps).toBe(6)
    expect(edited(document, 'data.train_max_samples', 63).phases[1].steps).toBe(3)
    expect(edited(document, 'phases.1.epochs', 10).phases[1].steps).toBe(20)
    expect(edited(document, 'phases.2.rollout.train_batch_size', 80).phases[2].steps).toBe(5)
    const said = edited(document, 'phases.1.steps', 11)
    expect(said.phases[1]).toMatchObject({ steps: 11, epochs: null })
    expect(parsed(said).phases[1].steps).toBe(11)
  })

  test('a form says what they come to, where there is a set', () => {
    expect(fieldOf(document, 'phases.1.epochs')).toMatchObject({ hasEffect: true })
    expect(fieldOf(document, 'phases.1.epochs')?.help).toMatch(
      /An epoch of 80 problems is 2 steps of 32, so 3 × 2 = 6 steps\.$/,
    )
    expect(fieldOf(document, 'phases.3.epochs')?.help).toMatch(/is 2 steps of 32\.$/)
    expect(fieldOf(document, 'phases.0.epochs')?.help).toMatch(/so 4 × 2 = 8 steps\.$/)
    expect(fieldOf(document, 'data.shuffle')).toMatchObject({ hasEffect: true })
    expect(fieldOf(document, 'data.train_max_samples')).toMatchObject({ max: 80 })
    const endless = { phases: [{ kind: 'sft' }, { kind: 'rl' }] }
    for (const path of ['phases.0.epochs', 'phases.1.epochs', 'data.shuffle'])
      expect(fieldOf(endless, path), path).toMatchObject({ hasEffect: false })
  })

  test('a link carries them', () => {
    const experiment = parsed(document)
    const { experiment: back, notices } = decodeLink(encodeLink(experiment))
    expect(notices).toEqual([])
    expect(back).toEqual(experiment)
  })

  test('what is done to a run while it continues may change them, and where it is then follows', () => {
    const steered = (value: number) =>
      set(
        80,
        [
          { kind: 'rl', epochs: 2 },
          { kind: 'rl', steps: 5 },
        ],
        {
          steering: [
            { step: 1, kind: 'set', path: 'phases.0.epochs', value },
            { step: 8, kind: 'set', path: 'phases.0.actor.optim.lr', value: 0.001 },
          ],
        },
      )
    expect(issues(steered(4))).toEqual([])
    // The first phase ends at step 2 of its own then.
    expect(issues(steered(1))[0]).toMatch(/^steering.1.step: expected at most 7, because the run/)
  })
})

describe('what does not go together is refused with its reason', () => {
  test.for([
    [set(81, [{ kind: 'rl' }]), /^data.train_max_samples: .* 80 training problems; got 81/],
    [
      set(0, [{ kind: 'rl' }]),
      /^data.train_max_samples: expected a whole number from 1 to 100000, or null, got 0/,
    ],
    [set(80, [{ kind: 'sft' }]), /^phases.0.batch_size: expected at most 80, .*; got 256/],
    [set(20, [{ kind: 'rl' }]), /^rollout.train_batch_size: expected at most 20, .*; got 32/],
    [
      set(20, [{ kind: 'rl', rollout: { train_batch_size: 48 } }]),
      /^phases.0.rollout.train_batch_size: expected at most 20, .*; got 48/,
    ],
    [{ phases: [{ kind: 'rl', epochs: 1 }] }, /^phases.0.epochs: .* endless draws have no epochs/],
    [
      set(80, [{ kind: 'rl', epochs: 10000, rollout: { train_batch_size: 2 } }], {
        actor: { ppo_mini_batch_size: 2 },
      }),
      /^phases.0.epochs: expected at most 100000 steps, .* which are 400000 steps/,
    ],
    [
      set(80, [{ kind: 'rl', epochs: 1 }], { algorithm: { filter_groups: { enable: true } } }),
      /^phases.0.epochs: .*dynamic sampling/,
    ],
  ] as const)('%j', ([document, reason]) => {
    expect(issues(document)).toEqual([expect.stringMatching(reason)])
  })

  test('a task with fewer problems says what is in the way', () => {
    const large = { data: { train_max_samples: 500 }, phases: [{ kind: 'rl' }] }
    expect(withField(parsed(large), 'task.digits', 1)).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^data.train_max_samples: .*1 to 80/),
    })
  })
})
