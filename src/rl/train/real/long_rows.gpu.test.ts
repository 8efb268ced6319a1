// The longest rows that an experiment may have: prompts and responses of 1,024 tokens, decoded and
// trained on, where LONG_TESTS is set.
import { expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { TINY } from '../../../model/testing.ts'
import { planMemory } from '../parts/memory.ts'
import { Trainer } from '../trainer.ts'
import { grpo, LORA } from './testing.ts'

test.skipIf(!process.env.LONG_TESTS)(
  'a step of GRPO on prompts of 1,024 tokens and responses of 1,024',
  { timeout: 60 * 60_000 },
  async () => {
    const size = { prompts: 1, n: 2, prompt: 1024, response: 1024 }
    const plain = grpo({ ...TINY, vocab_size: 97, lora: LORA }, size)
    const phases = plain.phases.map((phase) =>
      phase.kind === 'rl'
        ? { ...phase, rollout: { ...phase.rollout, calculate_log_probs: true } }
        : phase,
    )
    const config = { ...plain, phases }
    const gpu = await Gpu.open()
    const held = gpu.counts.live_bytes
    const trainer = await Trainer.create(gpu, config)
    expect(gpu.counts.live_bytes - held).toBe(planMemory(config).total())
    await trainer.next()
    const { metrics } = await trainer.next()
    expect(metrics['response_length/mean']).toBe(1024)
    expect(metrics['prompt_length/mean']).toBe(1024)
    expect(metrics['actor/grad_norm']).toBeGreaterThan(0)
    // Token by token with a cache, and all at once: the same policy.
    expect(metrics['training/rollout_probs_diff_max']).toBeLessThan(1e-4)
    trainer.destroy()
    gpu.destroy()
  },
)
