// A Hugging Face model directory that a run begins with: --model DIR.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { firstNonfinite } from '../../lab/checkpoints/sound.ts'
import type { ModelFields } from '../../lab/experiment/fields/model_fields.ts'
import { readHfModel } from '../../model/hf/hf_model.ts'
import { readVocabulary } from '../../tasks/data/vocabulary.ts'
import type { Tokenizer } from '../../tasks/task.ts'
import { LabFailure } from '../command.ts'
import { readText } from './input_file.ts'
import { modelDirectory } from './model_dir.ts'

/** The model section of an experiment that trains it, and its weights in the flat layout. */
export interface GivenModel {
  readonly model: Omit<ModelFields, 'enable_gradient_checkpointing' | 'lora'>
  readonly weights: Float32Array
}

/** Throws LabFailure or ModelFileError for a directory that the lab cannot train: another architecture or another vocabulary. */
export async function readGivenModel(folder: string, tokenizer: Tokenizer): Promise<GivenModel> {
  const { config, weights, eos_token_ids, pad_token_id } = await readHfModel(
    modelDirectory(folder),
    { head: 'lm_head' },
  )
  requireTokenizer(folder, tokenizer, eos_token_ids, pad_token_id)
  const { vocab_size, rope_scaling, padding_idx = -1, dtype: _, lora: __, ...sizes } = config
  if (rope_scaling)
    throw new LabFailure(
      `--model: ${folder}: expected a model with plain rotary positions, found one with rope_scaling`,
    )
  const at = firstNonfinite(weights)
  if (at >= 0)
    throw new LabFailure(`--model: ${folder}: expected finite weights, found ${weights[at]}`)
  const begin = { source: '', source_name: '' }
  return { model: { ...sizes, ...begin, vocab_size, padding_idx }, weights }
}

/** The model's vocabulary must give every character of the task's the same id. The special tokens' names may differ. */
function requireTokenizer(
  folder: string,
  { tokens: own, pad_token_id: pad, eos_token_id: eos }: Tokenizer,
  eos_token_ids: readonly number[],
  pad_token_id: number | undefined,
): void {
  const file = join(folder, 'tokenizer.json')
  if (!existsSync(file)) throw new LabFailure(`--model: ${file}: expected a file, found none`)
  const { tokens } = readVocabulary(readText(file), file)
  const differs = own.findIndex((text, id) => id !== pad && id !== eos && tokens[id] !== text)
  if (tokens.length !== own.length || differs >= 0)
    throw new LabFailure(
      `--model: ${file}: expected the task's ${own.length} tokens, found ${tokens.length}` +
        (differs >= 0 ? ` with '${tokens[differs]}' for id ${differs} ('${own[differs]}')` : ''),
    )
  if (!eos_token_ids.includes(eos) || eos_token_ids.length > 1 || (pad_token_id ?? pad) !== pad)
    throw new LabFailure(
      `--model: ${folder}: expected end token ${eos} and padding ${pad}, found ${eos_token_ids} and ${pad_token_id}`,
    )
}
