import { describe, expect, test } from 'vitest'
import { makeJob } from './job_files.ts'
import { experimentOf, taughtDocument, taughtSource, textsOf } from './testing.ts'

const VERL = { target: 'verl', verl: '0.9' } as const
/** Reinforcement in which a model of three layers teaches one of two. */
const reinforced = (change: object = {}) =>
  experimentOf({
    ...taughtDocument(),
    phases: [{ kind: 'rl', steps: 3 }],
    algorithm: { opd_kl_coef: 0.7 },
    ...change,
  })
const jobOf = (change: object, options: object = VERL) =>
  textsOf(makeJob(taughtSource(reinforced(change)), { ...VERL, ...options }))

describe('a job of verl with a teacher', () => {
  test('serves the teacher on a GPU of its own, and has verl’s names', () => {
    const { text } = jobOf({ actor: { clip_ratio_high: 0.28 } })
    const script = text.get('run_verl.sh') ?? ''
    for (const line of [
      'distillation.enabled=True',
      'distillation.n_gpus_per_node=1',
      'distillation.nnodes=1',
      'distillation.teacher_models.teacher_model.inference.tensor_model_parallel_size=1',
      'distillation.distillation_loss.loss_mode=k1',
      'distillation.distillation_loss.use_policy_gradient=True',
      'distillation.distillation_loss.clip_ratio_low=0.2',
      'distillation.distillation_loss.clip_ratio_high=0.28',
      'distillation.distillation_loss.distillation_loss_coef=0.7',
      'distillation.distillation_loss.use_task_rewards=True',
      'trainer.n_gpus_per_node=1',
    ])
      expect(script).toContain(`  ${line}\n`)
    expect(script).toContain('teacher_model.model_path=\\"$JOB/teacher\\"')
    const config = JSON.parse(text.get('teacher/config.json') ?? '{}')
    expect([config.hidden_size, config.num_hidden_layers]).toEqual([24, 3])
    expect(text.get('sky.yaml')).toContain('accelerators: "L4:2"')
    expect(text.get('slurm.sh')).toContain('#SBATCH --gpus=2\n')
    const readme = text.get('README.md') ?? ''
    expect(readme).toContain('- `teacher/`: large, with the tokenizer of the student.')
    expect(readme).toContain('and two GPUs.')
    expect(readme).toContain('GRPOTrainer cannot run this experiment: algorithm.opd_kl_coef is 0.7')
  })

  test('without a teacher it has none of that', () => {
    const { text } = jobOf({ algorithm: {} })
    expect(text.get('run_verl.sh')).not.toContain('distillation')
    expect(text.has('teacher/config.json')).toBe(false)
    expect(text.get('sky.yaml')).toContain('accelerators: "L4:1"')
  })

  test('what comes after the first update of a step is said', () => {
    const once = 'after the first update of a step it takes the KL of the policy as it is by then'
    const whole = { ppo_mini_batch_size: 32 }
    expect(jobOf({ actor: whole }).text.get('README.md')).not.toContain(once)
    const { text } = jobOf({ actor: { ppo_epochs: 2, clip_ratio_c: 5 } })
    expect(text.get('README.md')).toContain(once)
    expect(text.get('README.md')).toContain('actor.clip_ratio_c (5): the teacher’s part')
  })

  test.for<[object, string]>([
    [{ actor: { loss_mode: 'gspo' } }, 'expected 0, or actor.loss_mode vanilla'],
    [{ rollout: { temperature: 0.8 } }, 'expected 0, or rollout.temperature 1'],
    [
      { algorithm: { opd_kl_coef: 0.7, rollout_correction: { bypass_mode: true } } },
      'expected 0, or no bypass_mode',
    ],
    [{ algorithm: { opd_kl_coef: 0.7, use_task_rewards: false } }, 'expected 1, which is what'],
    [
      { algorithm: { opd_kl_coef: 1, use_task_rewards: false }, actor: { entropy_coeff: 0.01 } },
      'expected 0, or no KL loss and no entropy bonus',
    ],
    [
      { algorithm: { opd_kl_coef: 1, use_task_rewards: false }, actor: { use_kl_loss: true } },
      'expected 0, or no KL loss and no entropy bonus',
    ],
  ])('%j is refused by name', ([change, why]) => {
    expect(() => jobOf(change)).toThrow(`verl cannot run this experiment: `)
    expect(() => jobOf(change)).toThrow(`algorithm.opd_kl_coef is `)
    expect(() => jobOf(change)).toThrow(why)
  })

  test('older systems, a larger model and a teacher without weights are refused', () => {
    expect(() => jobOf({}, { verl: '0.7' })).toThrow('its teachers came with 0.9')
    expect(() => jobOf({}, { target: 'trl' })).toThrow('its GRPO has no teacher')
    const source = { ...taughtSource(reinforced()), teacher: undefined }
    expect(() => makeJob(source, VERL)).toThrow(/^teacher\.source is large: .*--teacher PATH/)
  })
})
