import { expect, test } from 'vitest'
import { presetOf } from '../../document/presets/presets.ts'
import { checkJob } from '../job_files.ts'
import type { Target } from '../settings/setting.ts'
import { experimentOf, filesOf, sourceOf } from '../testing.ts'
import bupo from '../verl_names/bupo_d3a85c6.json'
import verl_0_7 from '../verl_names/verl_v0.7.1.json'
import verl_0_9 from '../verl_names/verl_v0.9.0.json'
import { parametersOf } from './known_models.ts'
import { type Cluster, proposals, type ScaleValues, scaleValues } from './scale.ts'

const preset = (id: string) => presetOf(id)?.experiment ?? experimentOf({})
const QWEN: Cluster = { model: 'Qwen/Qwen3-4B', gpus: 8, nodes: 1 }

function scaled(
  id: string,
  cluster: Cluster,
  own: Partial<ScaleValues> = {},
  target: Target = 'verl',
) {
  const experiment = preset(id)
  const { chosen } = checkJob(sourceOf(experiment), { target, verl: '0.9' })
  if (!chosen) throw new Error('no phase of reinforcement')
  const proposed = proposals(chosen, experiment.model.num_hidden_layers, cluster)
  return { experiment, proposed, scale: { ...cluster, values: scaleValues(proposed, own) } }
}

function job(...[id, cluster, own, target = 'verl']: Parameters<typeof scaled>) {
  const { experiment, scale } = scaled(id, cluster, own, target)
  return filesOf(experiment, { target, scale })
}

test('the size of a model is in the table or in its name', () => {
  expect(
    ['qwen/qwen3-8b', 'me/Model-7B-Instruct', 'SmolLM2-135M', 'gpt2'].map(parametersOf),
  ).toEqual([8.2, 7, 0.135, undefined])
})

test('a job for 8 GPUs names the model and holds none', () => {
  const { text, warnings } = job('tiny-grpo', QWEN)
  const script = text.get('run_verl.sh') ?? ''
  for (const line of [
    `'actor_rollout_ref.model.path="Qwen/Qwen3-4B"'`,
    'trainer.n_gpus_per_node=8',
    'trainer.nnodes=1',
    'data.train_batch_size=128',
    'data.max_response_length=1024',
    'actor_rollout_ref.actor.optim.lr=0.000001',
    'actor_rollout_ref.actor.fsdp_config.param_offload=False',
    'actor_rollout_ref.rollout.tensor_model_parallel_size=1',
  ])
    expect(script).toContain(`  ${line}\n`)
  expect(script).not.toMatch(/\$JOB\/model|attn_implementation/)
  expect([...text.keys()].filter((path) => /^(model|check\.py|train_trl)/.test(path))).toEqual([])
  expect(text.get('sky.yaml')).toContain('"H100:8"')
  expect(text.get('slurm.sh')).toContain('--gpus=8')
  expect(text.get('README.md')).toContain('No model: the scripts name `Qwen/Qwen3-4B`')
  expect(text.get('README.md')).not.toContain('check.py')
  expect(warnings.join(' ')).toContain('only the exact answer scores')
  expect(JSON.parse(text.get('understory.json') ?? '').check.rows.train).toBe(100 * 128)
})

test('several nodes are one Ray cluster', () => {
  const { text } = job('tiny-grpo', { ...QWEN, nodes: 2 })
  expect(text.get('run_verl.sh')).toContain('  trainer.nnodes=2\n')
  expect([...text.keys()]).not.toContain('slurm.sh')
  expect(text.get('README.md')).toContain('2 nodes with 8 GPUs each')
  expect(text.get('README.md')).not.toContain('sbatch')
})

test('a model that does not fit stays outside while it samples', () => {
  const values = (model: string, gpus: number) =>
    scaled('tiny-grpo', { model, gpus, nodes: 1 }).scale.values
  // 16 bytes a parameter: 64 GB on one GPU, 8 GB on each of 8.
  expect(values('Qwen/Qwen3-4B', 1)).toMatchObject({ offload: 1, gpu_memory_utilization: 0.6 })
  expect(values('Qwen/Qwen3-4B', 8)).toMatchObject({ offload: 0, gpu_memory_utilization: 0.5 })
  expect(values('Qwen/Qwen3-14B', 8)).toMatchObject({ tensor_model_parallel_size: 2 })
  expect(values('my/model', 8)).toMatchObject({ offload: 1 })
})

test('an inner layer is carried over as a share of the depth', () => {
  const { proposed } = scaled('two-skills-bupo', QWEN, {}, 'bupo')
  // Layer 5 of 6, and 36 layers.
  const layers = preset('two-skills-bupo').model.num_hidden_layers
  expect(proposed.at(-1)).toMatchObject({
    key: 'target_layer',
    value: Math.round((5 / layers) * 36),
  })
  const { text } = job('two-skills-bupo', QWEN, { target_layer: 6 }, 'bupo')
  expect(text.get('run_bupo.sh')).toContain('  actor_rollout_ref.actor.internal_layer=5\n')
  expect(text.get('run_bupo.sh')).toContain(
    '  actor_rollout_ref.model.override_config.internal_layer=5\n',
  )
})

test.for<[string, Cluster, Partial<ScaleValues>, Target, string]>([
  ['no name', { ...QWEN, model: ' ' }, {}, 'verl', 'model: expected a name'],
  ['no GPU', { ...QWEN, gpus: 0 }, {}, 'verl', 'GPUs: expected whole numbers from 1'],
  ['a batch that does not divide', QWEN, { train_batch_size: 129 }, 'verl', 'divide by 8 GPUs'],
  ['a large mini-batch', QWEN, { ppo_mini_batch_size: 256 }, 'verl', 'expected at most the 128'],
  ['an odd micro-batch', QWEN, { ppo_micro_batch_size_per_gpu: 7 }, 'verl', 'expected a divisor'],
  [
    'no number',
    QWEN,
    { max_prompt_length: Number.NaN },
    'verl',
    'max_prompt_length: expected a whole',
  ],
  ['TRL', QWEN, {}, 'trl', 'not for TRL'],
])('%s is refused', ([, cluster, own, target, said]) => {
  expect(() => job('tiny-grpo', cluster, own, target)).toThrow(said)
})

test.for([
  ['tiny-ppo', 'verl', '0.9', verl_0_9],
  ['tiny-ppo', 'verl', '0.7', verl_0_7],
  ['two-skills-bupo', 'bupo', '0.7', bupo],
] as const)('every argument is a name of its system: %s, %s %s', ([id, target, verl, names]) => {
  const { experiment, scale } = scaled(id, QWEN, {}, target)
  const script = filesOf(experiment, { target, verl, scale }).text.get(`run_${target}.sh`) ?? ''
  const listed = JSON.stringify(names)
  const keys = [...script.matchAll(/^ {2}["']?([a-z][\w.]+)=/gm)].map(([, key]) => key)
  expect(keys.length).toBeGreaterThan(40)
  expect(keys.filter((key) => key.includes('.') && !listed.includes(`"${key}"`))).toEqual([])
  expect(new Set(keys).size).toBe(keys.length)
})
