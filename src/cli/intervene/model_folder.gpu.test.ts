// The commands that change a model, on a Hugging Face folder that no run has left.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { modelFiles } from '../../model/hf/write_model.ts'
import { TINY, testWeights } from '../../model/testing.ts'
import { arithmetic } from '../../tasks/tokenizers/arithmetic.ts'
import { writeFolder } from '../output/file_folder.ts'
import { probe } from '../probe.ts'
import { train } from '../train/train.ts'
import { lensCommand } from './lens.ts'
import { linearProbeCommand } from './linear_probe.ts'
import { patchCommand } from './patch.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-model-folder-'))
afterAll(() => rmSync(root, { recursive: true }))
afterEach(() => vi.restoreAllMocks())

const folder = join(root, 'model')
const rows = join(root, 'rows.jsonl')
const { rope_scaling: _, ...plain } = TINY
const config = { ...plain, vocab_size: arithmetic.vocab_size }
const { layout, flat: weights } = testWeights(config, 5)
writeFolder(
  folder,
  modelFiles({ config, layout, weights, vocabulary: arithmetic, max_position_embeddings: 64 }),
)
writeFileSync(
  rows,
  Array.from({ length: 120 }, (_, i) => `{"prompt":"${i}+${i}=","answer":"${2 * i}"}\n`).join(''),
)

/** What a command prints. */
async function printed(command: typeof lensCommand, ...args: readonly string[]): Promise<string> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  vi.spyOn(console, 'error').mockImplementation(() => {})
  expect(await command.run(args)).toBe(0)
  const said = log.mock.calls.flat().join('\n')
  log.mockRestore()
  return said
}

test('lenses are fitted on what it writes to given rows, and probe reads it through them', async () => {
  const out = join(root, 'lenses')
  const settings = ['--texts', '8', '--held-out', '4', '--steps', '10', '--out', out]
  const said = await printed(lensCommand, folder, '--data', rows, ...settings)
  expect(said).toMatch(/step 0: fitted on \d+ tokens/)
  const files = ['tuned', 'jacobian'].map((name) => join(out, `${name}.safetensors`))
  const report = JSON.parse(
    await printed(probe, folder, '--text', '3+4=', '--lens', files.join(',')),
  )
  expect(report.ent_layer_tuned).toHaveLength(config.num_hidden_layers)
  expect(report.kl_final_layer_jacobian[0][0]).toHaveLength(4)
  const again = ['--texts', '8', '--held-out', '4', '--lens', files[0]]
  expect(await printed(lensCommand, folder, '--data', rows, ...again)).toMatch(/step 0: fitted/)

  // A run that begins with the folder reads a layer through them, named by their hashes.
  const run = join(root, 'run')
  const given = [folder, '--data', rows, '--lens', files.join(',')]
  expect(await trained(run, '--model', ...given)).toBe(0)
  const { model } = JSON.parse(readFileSync(join(run, 'experiment.json'), 'utf8'))
  expect(model.lenses.tuned).toMatchObject({
    source: expect.stringMatching(/^sha256-/),
    source_name: 'tuned.safetensors',
  })
  const [first] = readFileSync(join(run, 'metrics.jsonl'), 'utf8').match(/"lens\/kl_after"/g) ?? []
  expect(first).toBeDefined()
  // Asked for parts, it writes what else there is to see too.
  const observed = readFileSync(join(run, 'observations.jsonl'), 'utf8')
  expect(observed).toContain('"lenses":')
  // Through the file of the run, so no step is named that it was fitted after.
  expect(observed).toContain('"readings":[{"readout":"tuned","entropy":')
  await expect(trained(join(root, 'other'), '--data', rows, '--lens', files[0])).rejects.toThrow(
    'expected a lens of this model',
  )
})

/** A short run that reads layer 1 through a tuned lens. */
async function trained(out: string, ...args: readonly string[]): Promise<number> {
  vi.spyOn(console, 'log').mockImplementation(() => {})
  vi.spyOn(console, 'error').mockImplementation(() => {})
  vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
  const { hidden_size, num_hidden_layers, num_attention_heads, num_key_value_heads } = config
  const sizes = { hidden_size, num_hidden_layers, num_attention_heads, num_key_value_heads }
  const file = join(root, 'experiment.json')
  const experiment = {
    version: 1,
    model: { ...sizes, head_dim: config.head_dim, intermediate_size: config.intermediate_size },
    phases: [{ kind: 'rl', steps: 1, target_layer: 1, target_readout: 'tuned' }],
    rollout: { train_batch_size: 4, n: 2 },
    actor: { ppo_mini_batch_size: 4 },
    validation: { prompts: 4, n: 1 },
  }
  writeFileSync(file, JSON.stringify(experiment))
  return train.run([file, '--out', out, '--observe-parts', '--observe-lens', 'tuned', ...args])
}

test('probes are fitted on its rows, and two typed texts need none', async () => {
  const probes = await printed(linearProbeCommand, folder, '--data', rows)
  expect(probes).toContain('the next token of the right answer')
  // With random weights it is the last token that decides.
  const texts = ['--clean', '3+4=', '--corrupted', '3+45']
  expect(await printed(patchCommand, folder, ...texts)).toContain('clean "3+4="')
})

test('a folder without problems, without a tokenizer or without weights is refused', async () => {
  await expect(lensCommand.run([folder])).rejects.toThrow(
    'give a file of rows or texts with --data',
  )
  await expect(
    patchCommand.run([folder, '--clean', '3+4=', '--corrupted', '3+45=']),
  ).rejects.toThrow('Expected two texts of as many tokens, got 4')
  const bare = join(root, 'bare')
  mkdirSync(bare)
  await expect(lensCommand.run([bare, '--data', rows])).rejects.toThrow('no checkpoints')
  writeFileSync(join(bare, 'config.json'), '{}')
  await expect(lensCommand.run([bare, '--data', rows])).rejects.toThrow('tokenizer.json')
})
