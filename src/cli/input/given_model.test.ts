// A model directory that a run begins with, against tokenizers of files: the same tokens under the same ids, or a refusal with both sizes.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { modelFiles } from '../../model/hf/write_model.ts'
import { type ModelConfig, modelShape } from '../../model/params/config.ts'
import { initialWeights, paramLayout } from '../../model/params/params.ts'
import type { Tokenizer } from '../../tasks/task.ts'
import { arithmetic } from '../../tasks/tokenizers/arithmetic.ts'
import { loadTokenizer } from '../../tasks/tokenizers/load_tokenizer.ts'
import { trainBpe } from '../../tasks/tokenizers/train_bpe.ts'
import { writeFolder } from '../output/file_folder.ts'
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
    ...{ model_type: 'qwen3', vocab_size: vocabulary.vocab_size, hidden_size: 16 },
    ...{ intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 1 },
    ...{ num_key_value_heads: 1, head_dim: 16, rms_norm_eps: 1e-6, rope_theta: 10000 },
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
