import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { presetOf } from '../document/presets/presets.ts'
import { createTask, TASKS } from '../tasks/index.ts'
import { rewardOf } from './reward/rewards.ts'
import { hydraValue, pythonValue, shellQuoted } from './settings/shell.ts'
import { experimentOf, filesOf } from './testing.ts'

const preset = (id: string) => presetOf(id)?.experiment ?? experimentOf({})
const RL = { kind: 'rl', steps: 5 }

describe('a job that is refused names the setting, what is expected and a way out', () => {
  test.for<[string, object, 'verl' | 'bupo' | 'trl', string]>([
    [
      'no reinforcement',
      { phases: [{ kind: 'sft' }] },
      'verl',
      'expected a phase of reinforcement',
    ],
    [
      'a phase of distillation for verl',
      { phases: [{ kind: 'sft' }, { kind: 'distill', target_layer: 2 }] },
      'verl',
      'phase 2 (distillation of layer 2, 100 steps): verl distils from a teacher that runs on servers of its own',
    ],
    [
      'a phase of distillation for TRL',
      { phases: [{ kind: 'distill', target_layer: 2 }] },
      'trl',
      'phases.0.target_layer is 2: TRL trains the whole model’s policy alone',
    ],
    ['two phases of the whole model', { phases: [RL, RL] }, 'verl', 'Say which when you export'],
    [
      'an inner layer',
      { phases: [{ ...RL, target_layer: 2 }] },
      'verl',
      'the phase’s target_layer is 2: only BuPO’s fork trains the policy of an inner layer; export for BuPO’s fork of verl',
    ],
    ['no inner layer', { phases: [RL] }, 'bupo', 'Without an inner phase export for verl'],
    [
      'an inner layer with other settings',
      { phases: [{ ...RL, target_layer: 2, rollout: { temperature: 0.5 } }, RL] },
      'bupo',
      'has settings of its own',
    ],
    [
      'two inner layers',
      { phases: [{ ...RL, target_layer: 1 }, { ...RL, target_layer: 2 }, RL] },
      'bupo',
      'expected one phase of reinforcement before',
    ],
    [
      'an inner layer through the norm',
      { phases: [{ ...RL, target_layer: 2, target_readout: 'normed' }, RL] },
      'bupo',
      'target_readout: expected raw',
    ],
    [
      'a loss that exists in bypass mode alone',
      { phases: [RL], actor: { loss_mode: 'reinforce' } },
      'verl',
      'actor.loss_mode is reinforce: expected vanilla, gspo',
    ],
    [
      'an estimator of another trainer',
      { phases: [{ ...RL, adv_estimator: 'rloo' }] },
      'trl',
      'the phase’s adv_estimator is rloo: expected grpo, grpo_vectorized, grpo_batch_std',
    ],
    [
      'frozen layers',
      { phases: [{ ...RL, freeze: { layers: '1,2' } }] },
      'verl',
      'the phase’s freeze.layers is 1,2: it trains all layers at one learning rate',
    ],
    [
      'a KL at the last token',
      { phases: [RL], algorithm: { use_kl_in_reward: true, kl_at_last_token: true } },
      'verl',
      'algorithm.kl_at_last_token is true',
    ],
    [
      'a filter on what is added to the reward later',
      { phases: [RL], algorithm: { filter_groups: { enable: true, metric: 'seq_reward' } } },
      'verl',
      'algorithm.filter_groups.metric is seq_reward: expected acc, score',
    ],
    [
      'stale samples',
      { phases: [RL], rollout: { staleness: 1 } },
      'verl',
      'rollout.staleness is 1: this job samples and trains in turn; verl trains on older samples by its programs one_step_off_policy',
    ],
    [
      'a curriculum',
      { phases: [RL], data: { curriculum: { param: 'digits' } } },
      'trl',
      'data.curriculum.param is digits: its data loader takes every row in turn',
    ],
    [
      'a gate for problems',
      { phases: [{ ...RL }], data: { train_max_samples: 64, admission: { max_rate: 0.9 } } },
      'verl',
      'data.admission.max_rate is 0.9: its data loader takes every row in turn; verl takes a sampler of your own (data.sampler.class_path)',
    ],
    [
      'Muon',
      { phases: [RL], actor: { optim: { optimizer: 'Muon' } } },
      'trl',
      'actor.optim.optimizer is Muon: torch.optim.Muon takes matrices alone',
    ],
    [
      'an entropy target',
      { phases: [RL], actor: { use_adaptive_entropy: true } },
      'verl',
      'actor.use_adaptive_entropy is true: its entropy bonus has a constant weight',
    ],
    [
      'steering vectors',
      { phases: [RL], model: { steering_vectors: { trainable: true } } },
      'verl',
      'model.steering_vectors.trainable is true: it trains no steering vectors on a frozen model; set it to false',
    ],
    [
      'steering vectors',
      { phases: [RL], model: { steering_vectors: { trainable: true } } },
      'trl',
      'model.steering_vectors.trainable is true: it trains no steering vectors on a frozen model; set it to false',
    ],
    [
      'an entropy target with several updates a step',
      { phases: [RL], actor: { use_adaptive_entropy: true } },
      'trl',
      'one update per step, because TRL changes the weight after every update',
    ],
  ])('%s', ([, document, target, said]) => {
    const write = () => filesOf(experimentOf(document), { target })
    expect(write).toThrow(said)
    // How it is said on the command line is said there.
    expect(write).not.toThrow(/(^|[\s(])--\w/)
  })

  test('a number of a phase that is none of reinforcement', () => {
    expect(() => filesOf(preset('tiny'), { phase: 0 })).toThrow(
      'phase: expected the number of a phase of reinforcement (2, 3), found 1',
    )
    const both = experimentOf({ phases: [{ kind: 'distill', target_layer: 2 }, RL] })
    expect(() => filesOf(both, { phase: 0 })).toThrow('phase 1 (distillation')
  })
})

describe('what a job holds', () => {
  test('verl trains the phase of the whole model, and the README says what it leaves out', () => {
    const { text, warnings } = filesOf(preset('tiny'))
    expect(text.get('run_verl.sh')).toContain('  trainer.total_training_steps=50\n')
    const readme = text.get('README.md') ?? ''
    expect(readme).toContain('Phase 1 (warm start, 66 steps): not in the job.')
    expect(readme).toContain('Phase 2 (reinforcement of layer 2, 4 steps): not in the job.')
    expect(readme).toContain('Phase 3 (reinforcement, 50 steps): the job, with 50 steps.')
    expect(readme).toContain('- probe.freq (1): it measures no entropies of inner layers.')
    expect(warnings.join(' ')).toMatch(/untrained.*head_dim is 16/)
  })

  test('a head that vLLM serves is not warned of, and a model without a warm start neither', () => {
    const experiment = experimentOf({ phases: [RL], model: { head_dim: 32 } })
    expect(filesOf(experiment).warnings).toEqual([])
  })

  test('TRL has the entropy target where a step is one update', () => {
    const actor = { use_adaptive_entropy: true, entropy_target: 0.5, ppo_mini_batch_size: 32 }
    const script = filesOf(experimentOf({ phases: [RL], actor }), { target: 'trl' }).text
    const python = [...script.values()].join('\n')
    for (const line of [
      'use_adaptive_entropy=True',
      'entropy_target=0.5',
      'entropy_coef_delta=0.005',
    ])
      expect(python).toContain(line)
  })

  test('old names of the reward function are for old versions', () => {
    const now = filesOf(preset('tiny-grpo')).text.get('run_verl.sh') ?? ''
    const before = filesOf(preset('tiny-grpo'), { verl: '0.7' }).text.get('run_verl.sh') ?? ''
    expect(now).toContain('  "reward.custom_reward_function.path=')
    expect(before).toContain('  "custom_reward_function.path=')
    expect(before).not.toContain('  "reward.custom')
    expect(before).not.toContain('use_v1')
  })

  test('a critic and a penalty for length bring their keys', () => {
    const ppo = filesOf(preset('tiny-ppo')).text.get('run_verl.sh') ?? ''
    expect(ppo).toContain('  "critic.model.path=\\"$JOB/model\\""\n')
    expect(ppo).toContain('  critic.optim.lr=0.001\n')
    const grpo = filesOf(preset('tiny-grpo')).text.get('run_verl.sh') ?? ''
    expect(grpo).not.toContain('critic.model')
    const overlong = experimentOf({ phases: [RL], algorithm: { overlong_buffer: { len: 2 } } })
    const script = filesOf(overlong).text.get('run_verl.sh') ?? ''
    expect(script).toContain('  reward.reward_manager.name=dapo\n')
    expect(script).toContain('  +reward.reward_kwargs.overlong_buffer_cfg.len=2\n')
    expect(script).toContain('  +reward.reward_kwargs.max_resp_len=4\n')
  })

  test('TRL counts responses and optimizer steps', () => {
    const script = filesOf(preset('tiny-grpo'), { target: 'trl' }).text.get('train_trl.py') ?? ''
    for (const line of [
      'per_device_train_batch_size=64,',
      'steps_per_generation=2,',
      'num_generations=4,',
      'max_steps=200,',
      // Two updates a step: 11 updates of a ramp lose as much of the full rate as 5 steps of two.
      'warmup_steps=11,',
      'loss_type="bnpo",',
      'bf16=False,',
    ])
      expect(script).toContain(`    ${line}\n`)
  })

  test('TRL’s loss types are losses and means of the lab, and its delta is the dual clip', () => {
    const scriptOf = (actor: object) => {
      const experiment = experimentOf({ phases: [RL], actor })
      return filesOf(experiment, { target: 'trl' }).text.get('train_trl.py') ?? ''
    }
    const level = { importance_sampling_level: 'sequence' }
    const sums = { loss_agg_mode: 'seq-mean-token-sum', clip_ratio_c: 1.5 }
    const luspo = scriptOf({ ...level, ...sums })
    expect(luspo).toContain('    loss_type="luspo",\n')
    expect(luspo).toContain('    importance_sampling_level="sequence",\n')
    expect(luspo).toContain('    mask_truncated_completions=False,\n')
    expect(() => filesOf(experimentOf({ phases: [RL], actor: level }))).toThrow(
      /importance_sampling_level is sequence/,
    )
    const masked = { algorithm: { mask_truncated_completions: true } }
    expect(() => filesOf(experimentOf({ phases: [RL], ...masked }))).toThrow(
      /mask_truncated_completions is true: it trains on responses that did not end/,
    )
    expect(luspo).toContain('    delta=1.5,\n')
    const vespo = scriptOf({ loss_mode: 'vespo', policy_loss: { vespo_k_pos: 1.5 } })
    expect(vespo).toContain('    loss_type="vespo",\n')
    expect(vespo).toContain('    vespo_k_pos=1.5,\n')
    expect(vespo).not.toContain('delta=')
    expect(() => scriptOf({ clip_ratio_c: 1.1 })).toThrow(/clip_ratio_c is 1.1: expected a number/)
    const summed = { loss_mode: 'vespo', loss_agg_mode: 'seq-mean-token-sum' }
    expect(() => scriptOf(summed)).toThrow(
      /loss_agg_mode is seq-mean-token-sum: expected token-mean/,
    )
    expect(() => filesOf(experimentOf({ phases: [RL], actor: { loss_mode: 'vespo' } }))).toThrow(
      /loss_mode is vespo/,
    )
  })

  test('a loss that is divided by the responses has its clip divided too', () => {
    const { text } = filesOf(preset('tiny-dr-grpo'))
    // 16 prompts with 4 responses each.
    expect(text.get('run_verl.sh')).toContain('  actor_rollout_ref.actor.grad_clip=0.015625\n')
    expect(text.get('train_trl.py')).toContain('    max_grad_norm=0.015625,\n')
    expect(filesOf(preset('tiny-grpo')).text.get('train_trl.py')).toContain(
      '    max_grad_norm=1,\n',
    )
  })

  test('one spread for the whole batch is TRL’s scale_rewards batch, and verl has none', () => {
    const experiment = experimentOf({ phases: [{ ...RL, adv_estimator: 'grpo_batch_std' }] })
    const { text } = filesOf(experiment, { target: 'trl' })
    expect([...text.values()].join('\n')).toMatch(/scale_rewards=.batch./)
    expect(() => filesOf(experiment)).toThrow(/adv_estimator is grpo_batch_std/)
  })

  test('the notes for each system say what it adds, decays and does not train in its own way', () => {
    const readmeOf = (settings: object) =>
      (filesOf(experimentOf({ phases: [RL], ...settings })).text.get('README.md') ?? '').split(
        '**TRL**',
      )
    const [verl, trl] = readmeOf({ actor: { optim: { weight_decay: 0.1 } } })
    expect(verl).not.toMatch(/norm_adv_epsilon|decay_norms/)
    expect(verl).toContain('- model.padding_idx (none): transformers hands pad_token_id')
    expect(trl).toContain('- algorithm.norm_adv_epsilon (0.000001): it adds 1e-4')
    expect(trl).toContain('- actor.optim.decay_norms (true): it decays no norms and no biases.')
    const asTrl = {
      actor: { optim: { weight_decay: 0.1, decay_norms: false } },
      algorithm: { norm_adv_epsilon: 1e-4 },
      model: { padding_idx: 0 },
    }
    const [told, untold] = readmeOf(asTrl)
    expect(untold).not.toMatch(/norm_adv_epsilon|decay_norms|padding_idx/)
    expect(told).toContain('- algorithm.norm_adv_epsilon (0.0001): it adds 1e-6')
    expect(told).toContain('- actor.optim.decay_norms (false): its AdamW decays every parameter.')
  })

  test('losses and sums of verl 0.9 have their keys, and 0.7 does not know them', () => {
    const actor = { loss_mode: 'dro', loss_agg_mode: 'token-sum' }
    const script = (own: object) =>
      filesOf(experimentOf({ phases: [RL], actor: own })).text.get('run_verl.sh') ?? ''
    expect(script(actor)).toContain('  actor_rollout_ref.actor.policy_loss.dro_beta=')
    expect(script(actor)).toContain('  actor_rollout_ref.actor.loss_agg_mode=token-sum\n')
    for (const loss_mode of ['dppo_tv', 'dppo_kl']) {
      const own = script({ loss_mode, clip_ratio_high: 0.3 })
      expect(own).toContain(`  actor_rollout_ref.actor.policy_loss.loss_mode=${loss_mode}\n`)
      expect(own).toContain('  actor_rollout_ref.actor.clip_ratio_high=0.3\n')
      expect(own).not.toContain('dro_beta')
    }
    expect(() => filesOf(experimentOf({ phases: [RL], actor }), { verl: '0.7' })).toThrow(
      /actor\.loss_mode is dro: .*actor\.loss_agg_mode is token-sum/,
    )
    expect(() => filesOf(experimentOf({ phases: [RL], actor }), { target: 'trl' })).toThrow(
      'actor.loss_mode is dro: expected vanilla, gspo, sapo',
    )
  })

  test('understory.json is the way back', () => {
    const experiment = preset('tiny')
    const spec = JSON.parse(filesOf(experiment).text.get('understory.json') ?? '{}')
    expect(experimentOf(spec.experiment)).toEqual(experiment)
    expect(spec.files).toContain('model/model.safetensors')
  })

  test('rows are the problems that a run draws next: a training set is written once', () => {
    const set = experimentOf({
      phases: [RL],
      data: { train_max_samples: 100 },
      rollout: { train_batch_size: 32 },
    })
    const { text } = filesOf(set)
    expect(text.get('run_verl.sh')).toContain('  trainer.total_epochs=2\n')
    expect(text.get('run_verl.sh')).toContain('  data.shuffle=True\n')
    expect(JSON.parse(text.get('understory.json') ?? '{}').check.rows.train).toBe(100)
    expect(text.get('data/train.parquet')?.slice(0, 4)).toBe('PAR1')
  })
})

describe('the score in Python', () => {
  test.for(TASKS.map(({ id }) => id))('exists for every task: %s', (id) => {
    const task = createTask(id)
    const own = rewardOf(task)
    expect(own).toMatch(
      /\ndef score\(prompt, response, ground_truth\):[\s\S]*\ndef compute_score\(/,
    )
    expect(own.includes('1.0 if response == ground_truth else 0.0\n\n\ndef compute')).toBe(
      task.exact_match,
    )
  })

  test('of a task that has none is named, and where it belongs', () => {
    expect(() => rewardOf({ id: 'rhymes', exact_match: false })).toThrow(
      'the task rhymes scores more than the exact answer, and its score does not exist in Python; add it to src/jobs/templates/scores',
    )
  })
})

describe('names in other systems’ words', () => {
  test.for<[unknown, string]>([
    ['vllm', 'vllm'],
    ['Tiny: sort', '"Tiny: sort"'],
    ['say "a"', '"say \\"a\\""'],
    ['a\\"b', '"a\\\\\\"b"'],
    ['end\\', '"end\\\\"'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of a shell or of OmegaConf.
    ['${x}', '"\\${x}"'],
    ['true', '"true"'],
    [['console', 'file'], '[console,file]'],
    [null, 'null'],
    [true, 'True'],
    [0.9, '0.9'],
  ])('Hydra reads %j', ([value, written]) => {
    expect(hydraValue(value)).toBe(written)
  })

  test('a shell and Python read them', () => {
    expect([shellQuoted('a=b'), shellQuoted("it's a $x")]).toEqual(['a=b', "'it'\\''s a $x'"])
    expect(pythonValue({ a: [1, true, null], b: 'ü"' })).toBe('{"a": [1, True, None], "b": "ü\\""}')
  })

  test('a script in a folder with spaces and letters of other languages passes on what it should', () => {
    const experiment = experimentOf({ name: 'O\'Brien "π" $HOME `ls`\\', phases: [RL] })
    const folder = join(mkdtempSync(join(tmpdir(), 'job-')), 'mein Ördner, (1)')
    mkdirSync(folder)
    const script = join(folder, 'run_verl.sh')
    writeFileSync(script, filesOf(experiment).text.get('run_verl.sh') ?? '')
    const lines = execFileSync('bash', [script, '--print'], { encoding: 'utf8' }).split('\n')
    expect(lines).toContain(`actor_rollout_ref.model.path="${folder}/model"`)
    expect(lines).toContain('trainer.experiment_name="O\'Brien \\"π\\" $HOME `ls`\\\\"')
    rmSync(join(folder, '..'), { recursive: true })
  })
})
