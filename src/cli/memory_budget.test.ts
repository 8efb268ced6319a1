import { expect, test } from 'vitest'
import { parseExperiment, withField } from '../document/experiment/experiment.ts'
import { trainerConfig } from '../document/experiment/trainer_config.ts'
import { decodeLink } from '../document/links/link.ts'
import { PRESETS } from '../document/presets/presets.ts'
import { unopenedModel } from '../host/content/models/unopened.ts'
import {
  MemoryRefusal,
  memoryBudget,
  plannedBytes,
  plannedMemory,
  requireMemory,
  savingsOf,
} from '../host/worker/base/memory_budget.ts'
import { labError } from '../host/worker/base/session_host.ts'
import type { Gpu } from '../kernels/device/gpu.ts'
import { steeredEngine } from '../rl/train/engine.ts'
import { planMemory } from '../rl/train/parts/memory.ts'

const plan = (config: Parameters<typeof planMemory>[0]) => planMemory(config).total()

/** Some hundred characters; no single buffer of it is out of the ordinary. */
const HUGE =
  'v=1&p=two-skills-bupo&model.hidden_size=512&model.num_hidden_layers=48&model.intermediate_size=4096' +
  '&rollout.train_batch_size=1024&rollout.n=64&actor.ppo_mini_batch_size=1024&rollout.max_response_length=64'

test('what is allocated without asking: 4 GiB, or half of a smaller machine', () => {
  expect(memoryBudget(undefined)).toBe(4 * 2 ** 30)
  expect(memoryBudget(64)).toBe(4 * 2 ** 30)
  expect(memoryBudget(2)).toBe(2 ** 30)
})

test('every preset is far below it, and its kinds add up to it', () => {
  for (const { experiment } of PRESETS.filter(
    (one) => unopenedModel(one.experiment) === undefined,
  )) {
    const bytes = plannedBytes(experiment, plan)
    expect(bytes).toBeLessThan(memoryBudget(undefined) / 20)
    const kinds = Object.values(plannedMemory(experiment, planMemory))
    expect(kinds.reduce((sum, kind) => sum + kind, 0)).toBe(bytes)
  }
})

test('a link that adds up to more is refused with its total, though every buffer is small', () => {
  const { experiment, notices } = decodeLink(HUGE)
  expect(notices).toEqual([])
  const bytes = plannedBytes(experiment, plan)
  expect(bytes).toBeGreaterThan(memoryBudget(undefined))
  const refuse = () => requireMemory(experiment, memoryBudget(undefined), plan)
  expect(refuse).toThrow(MemoryRefusal)
  expect(refuse).toThrow(`would take ${(bytes / 2 ** 30).toPrecision(3)} GiB`)
  expect(refuse).toThrow(/[gG]radient checkpointing saves \d+(\.\d+)? [GM]iB, .* saves/)
  expect(refuse).toThrow(/With the first \d it takes [0-3]\.\d+ GiB|The first is enough/)
  // What is said of one change is what the plan says.
  for (const { path, value, bytes: saved } of savingsOf(experiment, plan)) {
    const changed = withField(experiment, path, value)
    if (!changed.ok) throw new Error(changed.message)
    expect(plannedBytes(changed.experiment, plan)).toBe(bytes - saved)
  }
  // Said so, it is allowed.
  requireMemory(experiment, bytes, plan)
})

test('a teacher that is larger is refused with its total, and told in bfloat16', () => {
  const large = {
    hidden_size: 1024,
    num_hidden_layers: 48,
    intermediate_size: 8192,
    num_attention_heads: 16,
    num_key_value_heads: 16,
    head_dim: 64,
    source: `sha256-${'1'.repeat(64)}`,
  }
  const taughtBy = (teacher: object) => {
    const phases = [{ kind: 'distill', distillation: { teacher: 'model' } }]
    const parsed = parseExperiment({ phases, teacher })
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
    return parsed.experiment
  }
  const experiment = taughtBy(large)
  const bytes = plannedBytes(experiment, plan)
  const layers = 48 * (4 * 1024 * 1024 + 3 * 1024 * 8192)
  expect(bytes).toBeGreaterThan(4 * layers)
  expect(() => requireMemory(experiment, memoryBudget(undefined), plan)).toThrow(
    `would take ${(bytes / 2 ** 30).toPrecision(3)} GiB`,
  )
  const half = savingsOf(experiment, plan).find(({ path }) => path === 'teacher.dtype')
  expect((half?.bytes ?? 0) / (2 * layers)).toBeCloseTo(1, 1)
  requireMemory(taughtBy({ ...large, num_hidden_layers: 4 }), memoryBudget(undefined), plan)
})

test('a refused run says what gradient checkpointing alone makes of it, where that fits', () => {
  const { experiment } = decodeLink(HUGE)
  const bytes = plannedBytes(experiment, plan)
  const changed = withField(experiment, 'model.enable_gradient_checkpointing', true)
  if (!changed.ok) throw new Error(changed.message)
  const least = plannedBytes(changed.experiment, plan)
  const refused = (allowed: number, of = experiment) => {
    try {
      requireMemory(of, allowed, plan)
    } catch (error) {
      return labError(error)
    }
    throw new Error('not refused')
  }
  expect(refused(least)).toMatchObject({ code: 'memory', bytes, checkpointed_bytes: least })
  expect(refused(least - 1)).not.toHaveProperty('checkpointed_bytes')
  expect(refused(least - 1, changed.experiment)).not.toHaveProperty('checkpointed_bytes')
})

test('what steering makes of a run counts too', () => {
  const { experiment } = decodeLink('p=tiny')
  const grown = parseExperiment({
    ...experiment,
    steering: [
      {
        step: 3,
        kind: 'append_phase',
        phase: { kind: 'rl', rollout: { train_batch_size: 1024, n: 64 } },
      },
    ],
  })
  if (!grown.ok) throw new Error(grown.issues[0].message)
  expect(plannedBytes(grown.experiment, plan)).toBeGreaterThan(10 * plannedBytes(experiment, plan))
})

test('a change of a current run that would take more than was allowed for it is refused with both numbers', () => {
  const facts = { max_binding_bytes: Number.MAX_SAFE_INTEGER }
  const { experiment } = decodeLink(HUGE)
  const config = trainerConfig(experiment)
  const refusal = (mostBytes?: number) =>
    steeredEngine({ facts } as Gpu, undefined, undefined, mostBytes).refusal(config)
  expect(refusal()).toBeUndefined()
  expect(refusal(plan(config))).toBeUndefined()
  expect(refusal(4 * 2 ** 30)).toMatch(
    /would take \d+(\.\d+)? GiB of GPU memory, and 4\.00 GiB are allowed/,
  )
})
