// A model directory that a run begins with, against tokenizers of files: the same tokens under the
// same ids, or a refusal with both sizes.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { taskOf } from '../../document/experiment/fields/task_fields.ts'
import { modelFiles } from '../../model/hf/write_model.ts'
import { type ModelConfig, modelShape } from '../../model/layout/config.ts'
import { initialWeights, paramLayout } from '../../model/layout/params.ts'
import { arithmetic } from '../../tasks/tokenizers/arithmetic.ts'
import { loadTokenizer } from '../../tasks/tokenizers/load_tokenizer.ts'
import type { Tokenizer } from '../../tasks/tokenizers/tokenizer.ts'
import { trainBpe } from '../../tasks/tokenizers/train_bpe.ts'
import { writeFolder } from '../output/file_folder.ts'
import { readOptions } from '../train/train_options.ts'
import { loadNamedFiles } from './data_set.ts'
import { readGivenModel } from './given_model.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-given-model-'))
afterAll(() => rmSync(root, { recursive: true }))

async function tokenizerOf(text: string, vocab_size: number): Promise<Tokenizer> {
  const files = trainBpe([text], { vocab_size })
  if (!files) throw new Error('expected files')
  return loadTokenizer(files)
}

/** A tiny model with this tokenizer, as a folder. */
function modelWith(name: string, vocabulary: Tokenizer): string {
  const config: ModelConfig = {
    model_type: 'qwen3',
    vocab_size: vocabulary.vocab_size,
    hidden_size: 16,
    intermediate_size: 32,
    num_hidden_layers: 1,
    num_attention_heads: 1,
    num_key_value_heads: 1,
    head_dim: 16,
    rms_norm_eps: 1e-6,
    rope_theta: 10000,
    tie_word_embeddings: true,
  }
  const layout = paramLayout(modelShape(config))
  const weights = initialWeights(layout, 1)
  const folder = join(root, name)
  writeFolder(
    folder,
    modelFiles({ config, layout, weights, vocabulary, max_position_embeddings: 64 }),
  )
  return folder
}

test('a model fits the byte-pair encoding that it was written with, and no other', async () => {
  const own = await tokenizerOf('abab abab cdcd', 262)
  const folder = modelWith('own', own)
  const { model } = await readGivenModel(folder, own)
  expect(model).toMatchObject({ hidden_size: 16, model_type: 'qwen3' })
  const larger = await tokenizerOf('abab abab cdcd', 264)
  await expect(readGivenModel(folder, larger)).rejects.toThrow(
    /expected a model of 264 tokens, as the tokenizer of the task has, found one of 262; give the rows the model's own tokenizer with --tokenizer/,
  )
  const other = await tokenizerOf('xyxy xyxy zwzw', 262)
  await expect(readGivenModel(folder, other)).rejects.toThrow(
    /expected the task's 262 tokens, found 262 with '.*' for id 258 \('.*'\)/,
  )
  await expect(readGivenModel(folder, arithmetic)).rejects.toThrow(/a model of 26 tokens/)
})

describe('rows are read with the tokenizer of the model that is trained on them', () => {
  const rows = join(root, 'rows.jsonl')
  const words = ['abab', 'cdcd', 'abcd', 'dcba', 'aabb']
  writeFileSync(rows, words.map((word) => `{"prompt":"${word}","answer":"${word}"}\n`).join(''))
  const taskOn = async (...args: readonly string[]) => {
    const { run, data } = await readOptions(['tiny', '--data', rows, ...args])
    if ('resume' in run) throw new Error('expected a new run')
    await loadNamedFiles(run.experiment, data, () => {})
    return { task: run.experiment.task, tokenizer: taskOf(run.experiment.task).tokenizer }
  }

  test('by its files, which the experiment then names; the model fits them', async () => {
    const folder = modelWith('reads', await tokenizerOf('abab abab cdcd', 262))
    const { task, tokenizer } = await taskOn('--model', folder)
    expect(task).toMatchObject({ tokenizer: 'file', vocab_size: 262, tokenizer_name: 'reads' })
    expect(tokenizer.decode(tokenizer.encode('abab'))).toBe('abab')
    await expect(readGivenModel(folder, tokenizer)).resolves.toBeDefined()
  })

  test('unless another is named', async () => {
    const folder = modelWith('named', await tokenizerOf('abab abab cdcd', 262))
    const { task } = await taskOn('--model', folder, '--tokenizer', 'characters')
    expect(task).toMatchObject({ tokenizer: 'characters', tokenizer_data: null })
  })

  test('a vocabulary of the lab keeps its name', async () => {
    const folder = modelWith('sums', arithmetic)
    const file = join(root, 'sums.jsonl')
    writeFileSync(
      file,
      [1, 2, 3, 4, 5, 6].map((n) => `{"prompt":"${n}+${n}=","answer":"${2 * n}"}\n`).join(''),
    )
    const { run } = await readOptions(['tiny', '--data', file, '--model', folder])
    expect(run).toMatchObject({ experiment: { task: { tokenizer: 'arithmetic', vocab_size: 26 } } })
  })

  test('a folder without one is refused, and says what is there', async () => {
    const folder = modelWith('silent', await tokenizerOf('abab abab cdcd', 262))
    renameSync(join(folder, 'tokenizer.json'), join(folder, 'tokenizer.model'))
    await expect(taskOn('--model', folder)).rejects.toThrow(
      /silent: expected the tokenizer of the model, tokenizer\.json, found only tokenizer\.model; write one with transformers/,
    )
    rmSync(join(folder, 'tokenizer.model'))
    await expect(taskOn('--model', folder)).rejects.toThrow(
      /tokenizer\.json, found none; put tokenizer\.json and tokenizer_config\.json of the model there/,
    )
    writeFileSync(join(folder, 'tokenizer.json'), 'version https://git-lfs.github.com/spec/v1\n')
    await expect(taskOn('--model', folder)).rejects.toThrow(
      /found a Git LFS pointer .*git lfs pull/,
    )
    await expect(taskOn('--model', join(root, 'nowhere'))).rejects.toThrow(
      /nowhere: expected a model directory, found nothing/,
    )
  })
})
