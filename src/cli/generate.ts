// lab generate: prints what a Hugging Face model writes after a text, or answers to a message,
// token by token.

import { idsOf, promptIds, readTokenizer, textOfIds } from '../host/worker/opened/opened_text.ts'
import { Gpu } from '../kernels/device/gpu.ts'
import { openFiles } from '../rl/look/opened_files.ts'
import { OpenedModel } from '../rl/look/opened_model.ts'
import { type Command, LabFailure, NO_ADAPTER_TEXT, UsageError } from './base/command.ts'
import { openDawn } from './base/dawn.ts'
import { commandLine, flag, text, usually } from './base/declare.ts'
import { print } from './base/terminal.ts'
import { modelDirectory, modelRanges } from './input/model_dir.ts'
import { readArguments } from './options/read.ts'
import { tellSpecial } from './output/special_tokens.ts'

const LINE = commandLine({
  name: 'generate',
  takes: '<model dir>',
  summary: 'what a Hugging Face model writes after a text, or answers to a message',
  groups: {
    Prompt: {
      text: text('TEXT', 'continues the text'),
      message: text('TEXT', 'answers the message, through the chat template of the folder'),
      'no-special-tokens': flag('the text without what the tokenizer adds, such as <s>'),
      adapter: text('DIR', 'merges a LoRA adapter of PEFT into the model first'),
    },
    Sampling: {
      temperature: usually('0', 'X', '0: always the likeliest token'),
      'top-p': usually('1', 'X', 'the likeliest tokens of so much probability together'),
      'top-k': usually('0', 'N', 'so many of the likeliest tokens; 0: all'),
      'max-tokens': usually('64', 'N', 'tokens at most, up to 512'),
      seed: usually('1', 'N', 'the seed of the samples'),
    },
    Steering: {
      toward: text(
        'TEXT',
        'adds the mean state of this text, less that of --away, while it writes',
      ),
      away: text('TEXT', 'the text that is steered away from'),
      layer: text('N', 'blocks applied where it is added; half of them where not given'),
      strength: usually('1', 'X', 'what the difference is multiplied by'),
    },
    Output: { json: flag('every token with its log-probability and the entropy of the policy') },
  },
  examples: [
    'generate models/qwen --message "What is 7 times 8?" --temperature 0.7',
    'generate models/qwen --text "It was" --toward glad --away sad --strength 4',
  ],
})

export const generate: Command = {
  line: LINE,
  run: async (args) => {
    const { folder, asked, adapter, settings, steering, is_json } = readOptions(args)
    const files = modelRanges(folder)
    const hf = await openFiles(files, adapter === undefined ? undefined : modelDirectory(adapter))
    const { tokenizer, why_ids } = await readTokenizer(files)
    if (!tokenizer) throw new LabFailure(`${folder}: ${why_ids}`)
    const ids = given(() => promptIds(asked, tokenizer))
    if ('text' in asked && asked.add_special_tokens) tellSpecial(tokenizer)
    const dawn = await openDawn()
    if (!dawn) throw new LabFailure(NO_ADAPTER_TEXT)
    const model = await OpenedModel.open(hf, ({ largest }) => Gpu.open({ gpu: dawn, largest }))
    try {
      if (steering) {
        const { toward, away, layer = Math.floor(hf.config.num_hidden_layers / 2) } = steering
        await model.direct([idsOf(toward, tokenizer, false), idsOf(away, tokenizer, false)])
        model.steer({ layer, strength: steering.strength })
      }
      const written = await model.generation.write(ids, settings, { onTokens: () => {} })
      const text = textOfIds(
        written.map(({ id }) => id),
        tokenizer,
      )
      print(is_json ? JSON.stringify({ prompt_ids: ids, text, tokens: written }) : text)
    } catch (error) {
      throw error instanceof RangeError ? new LabFailure(error.message) : error
    } finally {
      model.close()
    }
    return 0
  },
}

function given<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof RangeError ? new LabFailure(error.message) : error
  }
}

type Numeric = 'temperature' | 'top-p' | 'top-k' | 'max-tokens' | 'seed'

function readOptions(args: readonly string[]) {
  const { positionals, values } = readArguments(LINE, args)
  const { text, message, adapter } = values
  if (positionals.length !== 1) throw new UsageError('generate takes one model directory')
  if ((text === undefined) === (message === undefined))
    throw new UsageError('generate needs --text TEXT, or --message TEXT')
  const asked =
    message === undefined
      ? { text: text ?? '', add_special_tokens: !values['no-special-tokens'] }
      : { messages: [{ role: 'user', content: message } as const] }
  const number = (name: Numeric, least: number, most: number) => {
    const value = Number(values[name])
    if (value >= least && value <= most) return value
    throw new UsageError(
      `--${name}: expected a number from ${least} to ${most}, got ${values[name]}`,
    )
  }
  const settings = {
    temperature: number('temperature', 0, 100),
    top_p: number('top-p', Number.MIN_VALUE, 1),
    top_k: Math.round(number('top-k', 0, 2 ** 24)),
    max_tokens: Math.round(number('max-tokens', 1, 512)),
    seed: Math.round(number('seed', 0, 2 ** 32 - 1)),
  }
  const steering = steeringOf(values)
  return { folder: positionals[0], asked, adapter, settings, steering, is_json: values.json }
}

/** Undefined where nothing is steered. Throws UsageError. */
function steeringOf(given: {
  readonly toward: string | undefined
  readonly away: string | undefined
  readonly layer: string | undefined
  readonly strength: string
}) {
  const { toward, away } = given
  if ((toward === undefined) !== (away === undefined))
    throw new UsageError('--toward and --away: expected both texts or neither')
  if (toward === undefined || away === undefined) {
    if (given.layer !== undefined)
      throw new UsageError('--layer: expected --toward and --away beside it')
    return undefined
  }
  const strength = Number(given.strength)
  if (!Number.isFinite(strength))
    throw new UsageError(`--strength: expected a number, got ${given.strength}`)
  const layer = given.layer === undefined ? undefined : Number(given.layer)
  if (layer !== undefined && !(Number.isInteger(layer) && layer >= 0))
    throw new UsageError(`--layer: expected a whole number from 0, got ${given.layer}`)
  return { toward, away, strength, ...(layer !== undefined && { layer }) }
}
