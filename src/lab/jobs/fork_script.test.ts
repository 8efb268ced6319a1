// The start script for BuPO's fork of verl.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { presetOf } from '../presets/presets.ts'
import { experimentOf, filesOf } from './testing.ts'

const preset = (id: string) => presetOf(id)?.experiment ?? experimentOf({})
const RL = { kind: 'rl', steps: 5 }

describe('run_bupo.sh', () => {
  test('the fork counts layers from 0, and its first steps are those of the inner phase', () => {
    const { text } = filesOf(preset('two-skills-bupo'), { target: 'bupo' })
    const script = text.get('run_bupo.sh') ?? ''
    for (const line of [
      'actor_rollout_ref.actor.internal_policy_interative=True',
      'actor_rollout_ref.actor.internal_layer=4',
      'actor_rollout_ref.model.override_config.internal_layer=4',
      'actor_rollout_ref.actor.iterative_steps=12',
      'trainer.total_training_steps=120',
      'actor_rollout_ref.actor.strategy=fsdp2',
    ])
      expect(script).toContain(`  ${line}\n`)
    // The reference is there with a KL alone.
    expect(script).not.toContain('actor_rollout_ref.ref.')
    const kl_experiment = experimentOf({
      phases: [{ ...RL, target_layer: 2, steps: 3 }, RL],
      actor: { use_kl_loss: true },
    })
    const with_kl = filesOf(kl_experiment, { target: 'bupo' }).text.get('run_bupo.sh')
    for (const line of [
      '+actor_rollout_ref.ref.internal_policy_interative=True',
      '+actor_rollout_ref.ref.internal_layer=1',
      '+actor_rollout_ref.ref.iterative_steps=3',
      'actor_rollout_ref.ref.strategy=fsdp2',
    ])
      expect(with_kl).toContain(`  ${line}\n`)
  })

  test('the fork’s script starts in a checkout alone, with the fork’s models on PYTHONPATH', () => {
    const { text } = filesOf(preset('two-skills-bupo'), { target: 'bupo' })
    const folder = mkdtempSync(join(tmpdir(), 'understory-fork-'))
    const run = () => {
      const env = { PATH: `${folder}:${process.env.PATH}`, JOB: folder }
      return execFileSync('bash', ['run_bupo.sh'], {
        cwd: folder,
        encoding: 'utf8',
        env,
        stdio: 'pipe',
      })
    }
    try {
      writeFileSync(join(folder, 'run_bupo.sh'), text.get('run_bupo.sh') ?? '')
      writeFileSync(join(folder, 'python3'), '#!/bin/sh\necho "$PYTHONPATH"\n', { mode: 0o755 })
      expect(run).toThrow(/Start this in a checkout of github.com.Trae1ounG.BuPO/)
      mkdirSync(join(folder, 'verl', 'models', 'custom_model'), { recursive: true })
      expect(run()).toBe(`${folder}/verl/models/custom_model:${folder}\n`)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
