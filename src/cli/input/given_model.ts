// Opens a Hugging Face model directory that a run begins with: --model DIR.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ModelFields } from '../../document/experiment/fields/model_fields.ts'
import { ModelFileError } from '../../formats/errors.ts'
import { firstNonfinite } from '../../host/checkpoints/sound.ts'
import { readHfModel } from '../../model/hf/hf_model.ts'
import type { ModelConfig } from '../../model/layout/config.ts'
import { readVocabulary } from '../../tasks/data/vocabulary.ts'
import { loadTokenizer } from '../../tasks/tokenizers/load_tokenizer.ts'
import type { Tokenizer } from '../../tasks/tokenizers/tokenizer.ts'
import { LabFailure } from '../base/command.ts'
import { noTokenizer, tokenizerFiles } from './given_tokenizer.ts'
import { readText } from './input_file.ts'
import { modelDirectory } from './model_dir.ts'

/** Fields that a model's files say. */
type ReadFields = Omit<
  Pick<ModelFields, keyof ModelFields & keyof ModelConfig>,
  'activations_dtype' | 'lora' | 'steering_vectors' | 'dtype'
>

/** The model section of an experiment that trains it, and its weights in the flat layout. */
export interface GivenModel {
  readonly model: ReadFields
  readonly weights: Float32Array
}

/** The model in the folder of an option, which every error names. */
async function readModelOf(option: string, folder: string) {
  try {
    return await readHfModel(modelDirectory(folder), { head: 'lm_head' })
  } catch (error) {
    if (!(error instanceof ModelFileError)) throw error
    const isPlaced = error.file.startsWith(folder)
    throw new LabFailure(`${option}: ${isPlaced ? '' : `${folder}: `}${error.message}`)
  }
}

/** Throws LabFailure for a directory that the lab cannot train: none at all, another architecture
 * or another vocabulary. */
export async function readGivenModel(
  folder: string,
  tokenizer: Tokenizer,
  option: '--model' | '--teacher' = '--model',
): Promise<GivenModel> {
  const place = `${option}: ${folder}`
  const { config, weights, eos_token_ids, pad_token_id } = await readModelOf(option, folder)
  const { vocab_size, rope_scaling, padding_idx = null, dtype: _, lora: __, ...rest } = config
  const { steering_vectors: ___, ...sizes } = rest
  await requireTokenizer(option, folder, tokenizer, { vocab_size, eos_token_ids, pad_token_id })
  if (rope_scaling)
    throw new LabFailure(
      `${place}: expected a model with plain rotary positions, found one with rope_scaling`,
    )
  const at = firstNonfinite(weights)
  if (at >= 0) throw new LabFailure(`${place}: expected finite weights, found ${weights[at]}`)
  return { model: { ...sizes, vocab_size, padding_idx }, weights }
}

/** What a model says of its tokens. */
interface ModelTokens {
  readonly vocab_size: number
  readonly eos_token_ids: readonly number[]
  readonly pad_token_id: number | undefined
}

/** The model's vocabulary must give every token of the task's the same id. Throws LabFailure with
 * both sizes, or the first token that differs. */
async function requireTokenizer(
  option: string,
  folder: string,
  task: Tokenizer,
  model: ModelTokens,
): Promise<void> {
  const file = join(folder, 'tokenizer.json')
  if (!existsSync(file)) throw new LabFailure(noTokenizer(option, folder))
  // The embedding of a model from elsewhere may be rounded up.
  const hasRoom = task.files !== undefined && model.vocab_size > task.vocab_size
  if (model.vocab_size !== task.vocab_size && !hasRoom)
    throw new LabFailure(
      `${option}: ${folder}: expected a model of ${task.vocab_size} tokens, as the tokenizer of the task has, found one of ${model.vocab_size}; give the rows the model's own tokenizer with --tokenizer ${folder}`,
    )
  if (task.files) await requireSameFiles(`${option}: ${folder}`, folder, task, model)
  else requireSameCharacters(`${option}: ${folder}`, file, task, model)
}

/** A tokenizer of files has the same token under every id, special ones too, and ends with one that
 * ends the model's texts. */
async function requireSameFiles(
  place: string,
  folder: string,
  { tokens: own, eos_token_id }: Tokenizer,
  { eos_token_ids }: ModelTokens,
): Promise<void> {
  const { tokens } = await loadTokenizer(tokenizerFiles(folder))
  const differs = own.findIndex((text, id) => tokens[id] !== text)
  if (tokens.length !== own.length || differs >= 0)
    throw new LabFailure(
      `${place}: tokenizer.json: expected the task's ${own.length} tokens, found ${tokens.length}${differing(own, tokens, differs)}`,
    )
  if (!eos_token_ids.includes(eos_token_id))
    throw new LabFailure(
      `${place}: expected end token ${eos_token_id} ('${own[eos_token_id]}'), found ${eos_token_ids}`,
    )
}

const differing = (own: readonly string[], tokens: readonly string[], at: number): string =>
  at < 0 ? '' : ` with '${tokens[at]}' for id ${at} ('${own[at]}')`

/** Every character has the same id; the special tokens' names may differ. */
function requireSameCharacters(
  place: string,
  file: string,
  { tokens: own, pad_token_id: pad, eos_token_id: eos }: Tokenizer,
  { eos_token_ids, pad_token_id }: ModelTokens,
): void {
  const { tokens } = readVocabulary(readText(file), file)
  const differs = own.findIndex((text, id) => id !== pad && id !== eos && tokens[id] !== text)
  if (tokens.length !== own.length || differs >= 0)
    throw new LabFailure(
      `${place}: tokenizer.json: expected the task's ${own.length} tokens, found ${tokens.length}${differing(own, tokens, differs)}`,
    )
  if (!eos_token_ids.includes(eos) || eos_token_ids.length > 1 || (pad_token_id ?? pad) !== pad)
    throw new LabFailure(
      `${place}: expected end token ${eos} and padding ${pad}, found ${eos_token_ids} and ${pad_token_id}`,
    )
}
