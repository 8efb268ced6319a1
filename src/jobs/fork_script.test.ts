// The start script for BuPO's fork of verl.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { experimentIn, parseExperiment } from '../document/experiment/experiment.ts'
import { presetOf } from '../document/presets/presets.ts'
import { checkJob } from './job_files.ts'
import { proposals, scaleValues } from './scale/scale.ts'
import { experimentOf, filesOf, sourceOf } from './testing.ts'

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
    const klExperiment = experimentOf({
      phases: [{ ...RL, target_layer: 2, steps: 3 }, RL],
      actor: { use_kl_loss: true },
    })
    const withKl = filesOf(klExperiment, { target: 'bupo' }).text.get('run_bupo.sh')
    for (const line of [
      '+actor_rollout_ref.ref.internal_policy_interative=True',
      '+actor_rollout_ref.ref.internal_layer=1',
      '+actor_rollout_ref.ref.iterative_steps=3',
      'actor_rollout_ref.ref.strategy=fsdp2',
    ])
      expect(withKl).toContain(`  ${line}\n`)
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

  describe('a final norm that is decayed in the inner phase', () => {
    const inner = { ...RL, target_layer: 2, steps: 3, decay_final_norm: true }
    const document = { phases: [inner, RL], actor: { use_kl_loss: true } }

    test('is what FSDP 1 does on several GPUs', () => {
      const { text } = filesOf(experimentOf(document), { target: 'bupo' })
      const script = text.get('run_bupo.sh') ?? ''
      for (const line of [
        'actor_rollout_ref.actor.strategy=fsdp',
        'actor_rollout_ref.ref.strategy=fsdp',
        'trainer.n_gpus_per_node=2',
        // Half of 16 prompts times 8 responses.
        'actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=64',
        'actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=64',
      ])
        expect(script.split(`  ${line}\n`), line).toHaveLength(2)
      expect(script).toContain('on two GPUs.\n')
      const readme = text.get('README.md') ?? ''
      expect(readme).toContain('flash-attention), and two GPUs:')
      expect(readme).toContain('Do not start it on one GPU')
      expect(readme).toContain('each GPU divides the loss of its own responses')
    })

    test('comes back from understory.json', () => {
      const experiment = experimentOf({
        ...document,
        actor: { entropy_coeff: 0.01, entropy_of: 'final' },
      })
      const { text } = filesOf(experiment, { target: 'bupo' })
      const read = parseExperiment(experimentIn(JSON.parse(text.get('understory.json') ?? '')))
      expect(read.ok && read.experiment).toEqual(experiment)
    })

    test('needs two GPUs that share a mini-batch', () => {
      const odd = { ...document, rollout: { n: 3, train_batch_size: 3 } }
      const actor = { ppo_mini_batch_size: 3 }
      expect(() => filesOf(experimentOf({ ...odd, actor }), { target: 'bupo' })).toThrow(
        /actor.ppo_mini_batch_size is 3: with decay_final_norm two GPUs share the 9 responses/,
      )
      const experiment = experimentOf(document)
      const { chosen } = checkJob(sourceOf(experiment), { target: 'bupo', verl: '0.9' })
      if (!chosen) throw new Error('no phase of reinforcement')
      const one = { model: 'Qwen/Qwen3-4B', gpus: 1, nodes: 1 }
      const values = scaleValues(proposals(chosen, 6, one), {})
      expect(() => filesOf(experiment, { target: 'bupo', scale: { ...one, values } })).toThrow(
        /GPUs: expected at least 2, because decay_final_norm is what FSDP 1 does/,
      )
    })
  })

  test('whose entropy the bonus is of is said where it differs', () => {
    const phases = [{ ...RL, target_layer: 2 }, RL]
    const told = (actor: object) =>
      filesOf(experimentOf({ phases, actor }), { target: 'bupo' }).text.get('README.md') ?? ''
    const said = /actor.entropy_of \(target_layer\): its bonus in the inner phase is of the whole/
    expect(told({ entropy_coeff: 0.01 })).toMatch(said)
    for (const actor of [{}, { entropy_coeff: 0.01, entropy_of: 'final' }])
      expect(told(actor)).not.toContain('actor.entropy_of')
  })
})
