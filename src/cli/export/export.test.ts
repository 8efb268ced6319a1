import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { encodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import { EVERYTHING, madeCheckpoint, tinyExperiment } from '../../host/checkpoints/testing.ts'
import { readHfModel } from '../../model/hf/hf_model.ts'
import { readAdapter, withAdapter } from '../../model/hf/peft_adapter.ts'
import { adapterLayout, packAdapter } from '../../model/layout/adapter_layout.ts'
import { readGivenAdapter } from '../input/given_adapter.ts'
import { modelDirectory } from '../input/model_dir.ts'
import { exportCommand } from './export.ts'
import { readExportOptions } from './export_options.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-export-'))
afterAll(() => rmSync(root, { recursive: true }))
const out = () => mkdtempSync(join(root, 'out-'))
beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockImplementation(() => true)
  vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
})
afterEach(() => {
  vi.restoreAllMocks()
})

async function saved(checkpoint = madeCheckpoint(EVERYTHING, 8, 2)) {
  const file = join(out(), 'step_000008.safetensors')
  // A critic that has learned.
  const trainer = { ...checkpoint.run.trainer, critic_step: checkpoint.run.trainer.critic ? 1 : 0 }
  const run = { ...checkpoint.run, trainer }
  writeFileSync(file, await encodeCheckpoint({ ...checkpoint, run }))
  return { file, trainer }
}

describe('the command line', () => {
  test.for<[string[], string]>([
    [['tiny'], '--to: expected hf, peft, verl, bupo, trl, tensorboard, notebook, got nothing'],
    [
      ['tiny', 'x', '--to', 'tpu'],
      '--to: expected hf, peft, verl, bupo, trl, tensorboard, notebook, got tpu',
    ],
    [['tiny', '--to', 'hf'], 'export takes what to export and one folder, got 1 names'],
    [['tiny', 'a', 'b', '--to', 'hf'], 'got 3 names'],
    [['tiny', 'a', '--to', 'hf', '--verl', '0.5'], '--verl: expected 0.9 (or later) or 0.7'],
    [['tiny', 'a', '--to', 'hf', '--phase', '0'], '--phase: expected the number of a phase'],
    [['tiny', 'a', '--to', 'hf', '--val-data', 'x'], 'there is no --data'],
    [
      ['a', 'b', '--to', 'tensorboard', '--weights', 'c'],
      '--weights: has no effect on an event file',
    ],
    [['a', 'b', '--to', 'notebook', '--seed', '2'], '--seed: has no effect on a notebook'],
    [['tiny', 'a', '--to', 'hf', '--seed', 'x'], "--seed: expected a whole number, got 'x'"],
    [['tiny', 'a', '--to', 'verl', '--gpus', '8'], '--gpus: belongs to --model NAME'],
    [['tiny', 'a', '--to', 'verl', '--set', 'lr=1'], '--set: belongs to --model NAME'],
    [['tiny', 'a', '--to', 'trl', '--model', 'm'], 'only a job for verl or bupo'],
    [['tiny', 'a', '--to', 'verl', '--model', 'm', '--weights', 'w'], 'the job trains m'],
    [['tiny', 'a', '--to', 'verl', '--model', 'm', '--gpus', '-1'], '--gpus'],
    [['tiny', 'a', '--to', 'verl', '--model', 'm', '--set', 'lr'], '--set: expected key=number'],
    [['tiny', 'a', '--to', 'verl', '--model', 'm', '--set', 'lr=x'], "got 'lr=x'"],
    [['tiny', 'a', '--to', 'hf', '--what'], "unknown option '--what'"],
  ])('%j', ([args, said]) => {
    expect(() => readExportOptions(args)).toThrow(said)
  })
})

describe('a run leaves', () => {
  test('as models that are read back: the policy, its critic and its reward model', async () => {
    const { file, trainer } = await saved()
    const folder = join(out(), 'hf')
    expect(await exportCommand.run([file, '--to', 'hf', folder])).toBe(0)
    for (const [below, head, state] of [
      ['', 'lm_head', trainer.actor],
      ['critic', 'value_head', trainer.critic],
      ['reward_model', 'reward_head', trainer.reward_model],
    ] as const) {
      const model = await readHfModel(modelDirectory(join(folder, below)), { head })
      expect(String(model.weights)).toBe(String(state?.weights))
    }
  })

  test('as a job with the weights and the critic of the checkpoint', async () => {
    // verl takes every row in turn.
    const data = { ...EVERYTHING.data, admission: tinyExperiment({}).data.admission }
    const { file, trainer } = await saved(madeCheckpoint({ ...EVERYTHING, data }, 8, 2))
    const folder = join(out(), 'job')
    expect(await exportCommand.run([file, '--to', 'verl', folder])).toBe(0)
    const model = await readHfModel(modelDirectory(join(folder, 'model')))
    expect(String(model.weights)).toBe(String(trainer.actor.weights))
    const script = readFileSync(join(folder, 'run_verl.sh'), 'utf8')
    expect(script).toContain('critic.model.path=\\"$JOB/critic\\"')
    expect(statSync(join(folder, 'run_verl.sh')).mode & 0o111).not.toBe(0)
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toMatch(
      /after step 8 of a run[\s\S]*Phase 1 \(warm start, 3 steps\): done in the lab, the weights come from after it\./,
    )
  })

  test('as an adapter that is read back, and merged into the model', async () => {
    const lora = { r: 2, lora_alpha: 3, use_rslora: true, target_modules: 'q_proj,down_proj' }
    const { model } = tinyExperiment({})
    const { file, trainer } = await saved(
      madeCheckpoint(
        tinyExperiment({ model: { ...model, lora }, phases: [{ kind: 'rl', steps: 9 }] }),
      ),
    )
    const [adapter, merged] = [join(out(), 'peft'), join(out(), 'hf')]
    expect(await exportCommand.run([file, '--to', 'peft', adapter])).toBe(0)
    expect(await exportCommand.run([file, '--to', 'hf', merged])).toBe(0)
    const base = await readHfModel(modelDirectory(join(adapter, 'base')))
    expect(String(base.weights)).toBe(String(trainer.actor.weights))
    const read = await readAdapter(modelDirectory(adapter), base.layout)
    expect(read.lora).toEqual({
      ...lora,
      target_modules: ['q_proj', 'down_proj'],
      layers_to_transform: null,
    })
    const layout = adapterLayout(base.layout.shape, read.lora)
    expect(String(packAdapter(layout, read.factors))).toBe(String(trainer.actor.adapter))
    const own = (await withAdapter(base, modelDirectory(adapter))).weights
    expect(String((await readHfModel(modelDirectory(merged))).weights)).toBe(String(own))
    // A run can begin with it, whatever adapter its own experiment had.
    const begun = await readGivenAdapter(adapter, tinyExperiment({}))
    expect(begun.experiment.model.lora).toEqual({
      ...lora,
      layers_to_transform: null,
      source: null,
      source_name: null,
    })
    expect(String(begun.factors)).toBe(String(trainer.actor.adapter))
    const wider = tinyExperiment({ model: { ...model, hidden_size: model.hidden_size + 8 } })
    await expect(readGivenAdapter(adapter, wider)).rejects.toThrow(
      'adapter_model.safetensors: tensor',
    )
    await expect(
      exportCommand.run([(await saved()).file, '--to', 'peft', join(out(), 'x')]),
    ).rejects.toThrow('there is no adapter: model.lora.r is 0')
  })

  test('as a job with its adapter, from which verl and TRL continue', async () => {
    const { model } = tinyExperiment({})
    const { file } = await saved(
      madeCheckpoint(
        tinyExperiment({ model: { ...model, lora: { r: 2 } }, phases: [{ kind: 'rl', steps: 9 }] }),
      ),
    )
    const folder = join(out(), 'job')
    expect(await exportCommand.run([file, '--to', 'verl', folder])).toBe(0)
    const script = readFileSync(join(folder, 'run_verl.sh'), 'utf8')
    for (const line of ['lora_rank=2', 'lora_alpha=16', 'target_modules=all-linear'])
      expect(script).toContain(`actor_rollout_ref.model.${line}`)
    expect(script).toMatch(/model\.lora_adapter_path=.*\$JOB\/adapter/)
    expect(existsSync(join(folder, 'adapter/adapter_model.safetensors'))).toBe(true)
    await expect(exportCommand.run([file, '--to', 'bupo', join(out(), 'x')])).rejects.toThrow()
  })

  test('not with steering vectors, which no weight of such a model can hold', async () => {
    const { model } = tinyExperiment({})
    const steering_vectors = { trainable: true }
    const { file } = await saved(
      madeCheckpoint(
        tinyExperiment({
          model: { ...model, steering_vectors },
          phases: [{ kind: 'rl', steps: 9 }],
        }),
      ),
    )
    const folder = join(out(), 'x')
    const exported = (to: string) => exportCommand.run([file, '--to', to, folder])
    await expect(exported('hf')).rejects.toThrow(
      'model.steering_vectors: no weight of a Hugging Face model can hold a vector',
    )
    await expect(exported('peft')).rejects.toThrow('there is no adapter: model.lora.r is 0')
    for (const to of ['verl', 'trl'])
      await expect(exported(to)).rejects.toThrow(
        'model.steering_vectors.trainable is true: it trains no steering vectors',
      )
    expect(existsSync(folder)).toBe(false)
  })

  test('not where a weight is no number', async () => {
    const made = madeCheckpoint(tinyExperiment({ phases: [{ kind: 'rl', steps: 9 }] }))
    const weights = made.run.trainer.actor.weights.slice()
    weights[3] = Number.NaN
    const trainer = { ...made.run.trainer, actor: { ...made.run.trainer.actor, weights } }
    const { file } = await saved({ ...made, run: { ...made.run, trainer } })
    const folder = join(out(), 'x')
    await expect(exportCommand.run([file, '--to', 'hf', folder])).rejects.toThrow(
      /policy: expected finite weights, found NaN|expected/,
    )
    expect(existsSync(folder)).toBe(false)
  })
})

const JOB = 'conformance/fixtures/trl/repeat_digit'

test('rows of a file leave as the rows of a job', async () => {
  const data = ['--data', `${JOB}/data/train.jsonl`, '--val-data', `${JOB}/data/val.jsonl`]
  const folder = join(out(), 'job')
  expect(await exportCommand.run(['tiny-grpo', '--to', 'trl', folder, ...data])).toBe(0)
  const { experiment, check } = JSON.parse(readFileSync(join(folder, 'understory.json'), 'utf8'))
  expect(experiment.task).toMatchObject({ id: 'dataset', name: 'train.jsonl' })
  expect(check.rows.val).toBe(10)
  expect(check.scores[0]).toMatchObject({ score: 1, response: check.scores[0].ground_truth })
  const file = join(root, 'on_rows.json')
  const task = { ...experiment.task, data: `sha256-${'0'.repeat(64)}` }
  writeFileSync(file, JSON.stringify({ ...experiment, task }))
  await expect(exportCommand.run([file, '--to', 'trl', join(out(), 'x')])).rejects.toThrow(
    /uses train\.jsonl \(sha256-0+\), which is not on this machine: give it with --data FILE/,
  )
  const run = await saved()
  await expect(
    exportCommand.run([run.file, '--to', 'hf', join(out(), 'x'), ...data]),
  ).rejects.toThrow(/was not trained on the rows of train\.jsonl/)
})

describe('a job for another model', () => {
  const QWEN = ['--to', 'verl', '--model', 'Qwen/Qwen3-4B']

  test('prints what is proposed, and what was given wins', async () => {
    const folder = join(out(), 'job')
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    const given = ['--gpus', '4', '--set', 'lr=2e-6', '--set', 'offload=true']
    expect(await exportCommand.run(['tiny-grpo', folder, ...QWEN, ...given])).toBe(0)
    const script = readFileSync(join(folder, 'run_verl.sh'), 'utf8')
    for (const line of [
      'trainer.n_gpus_per_node=4',
      'actor_rollout_ref.actor.optim.lr=0.000002',
      'actor_rollout_ref.actor.fsdp_config.param_offload=True',
      'data.train_batch_size=128',
    ])
      expect(script).toContain(`  ${line}\n`)
    expect(existsSync(join(folder, 'model'))).toBe(false)
    const said = log.mock.calls.join('\n')
    expect(said).toContain('train_batch_size=128: About 128, as BuPO trains Qwen3')
    expect(said).toContain('lr=0.000002: given with --set; 0.000001 was proposed.')
    expect(said).not.toContain('check.py')
  })

  test.for([
    ['no=1', '--set: expected one of train_batch_size, ppo_mini_batch_size'],
    ['train_batch_size=129', 'train_batch_size: expected that 129 prompts'],
    // There is no inner phase.
    ['target_layer=3', 'got target_layer'],
  ])('--set %s is refused, and nothing is left', async ([set, said]) => {
    const folder = join(out(), 'job')
    await expect(exportCommand.run(['tiny-grpo', folder, ...QWEN, '--set', set])).rejects.toThrow(
      said,
    )
    expect(existsSync(folder)).toBe(false)
  })
})

test('another seed is another stream of problems, and a run keeps its own', async () => {
  const problems = async (seed: string) => {
    const folder = join(out(), 'job')
    await exportCommand.run(['tiny-grpo', folder, '--to', 'trl', '--seed', seed])
    expect(readFileSync(join(folder, 'train_trl.py'), 'utf8')).toContain(`    seed=${seed},\n`)
    return readFileSync(join(folder, 'data/train.parquet'), 'base64')
  }
  expect(await problems('2')).not.toBe(await problems('3'))
  const { file } = await saved()
  await expect(
    exportCommand.run([file, '--to', 'trl', join(out(), 'x'), '--seed', '2']),
  ).rejects.toThrow('--seed: a run has a seed of its own')
})

describe('what cannot leave', () => {
  test.for<[string[], string]>([
    [['no-such', '--to', 'verl', 'x'], 'no such file, and no preset of that name'],
    [['rlhf-tiny', '--to', 'verl', 'x'], 'the phase’s reward_model.enable is true'],
    [['tiny-ppo', '--to', 'trl', 'x'], 'the phase’s adv_estimator is gae'],
    [['tiny-grpo', '--to', 'bupo', 'x'], 'export for verl (--to verl)'],
    [['tiny', '--to', 'verl', 'x', '--weights', 'nowhere'], 'no weights.json'],
  ])('%j', async ([args, said]) => {
    const folder = out()
    const own = args.map((arg) => (arg === 'x' ? join(folder, 'x') : arg))
    await expect(exportCommand.run(own)).rejects.toThrow(said)
    expect(readdirSync(folder)).toEqual([])
  })
})
