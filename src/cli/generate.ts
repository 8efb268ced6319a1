// lab generate: what a Hugging Face model writes after a text, or answers to a message, token by token.
import { parseArgs } from 'node:util'
import { Gpu } from '../kernels/device/gpu.ts'
import { promptIds, readTokenizer, textOfIds } from '../lab/worker/opened/opened_text.ts'
import { openFiles } from '../rl/look/opened_files.ts'
import { OpenedModel } from '../rl/look/opened_model.ts'
import { type Command, LabFailure, NO_ADAPTER_TEXT, UsageError } from './command.ts'
import { openDawn } from './dawn.ts'
import { modelDirectory, modelRanges } from './input/model_dir.ts'
import { print } from './terminal.ts'

export const generate: Command = {
  usage:
    '<model dir> --text TEXT | --message TEXT [--adapter DIR] [--temperature 0] [--top-p 1] [--top-k 0] [--max-tokens 64] [--seed 1] [--json]',
  summary:
    'what a Hugging Face model writes after a text, or answers to a message through its chat template; --json: every token with its log-probability and the entropy of the policy, nats',
  run: async (args) => {
    const { folder, asked, adapter, settings, is_json } = readOptions(args)
    const files = modelRanges(folder)
    const hf = await openFiles(files, adapter === undefined ? undefined : modelDirectory(adapter))
    const { tokenizer, why_ids } = await readTokenizer(files)
    if (!tokenizer) throw new LabFailure(`${folder}: ${why_ids}`)
    const ids = given(() => promptIds(asked, tokenizer))
    const dawn = await openDawn()
    if (!dawn) throw new LabFailure(NO_ADAPTER_TEXT)
    const model = await OpenedModel.open(hf, ({ largest }) => Gpu.open({ gpu: dawn, largest }))
    try {
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

function readOptions(args: readonly string[]) {
  const { positionals, values } = parse(args)
  const { text, message, adapter } = values
  if (positionals.length !== 1) throw new UsageError('generate takes one model directory')
  if ((text === undefined) === (message === undefined))
    throw new UsageError('generate needs --text TEXT, or --message TEXT')
  const asked =
    message === undefined
      ? { text: text ?? '' }
      : { messages: [{ role: 'user', content: message } as const] }
  const number = (name: keyof typeof values, usual: number, least: number, most: number) => {
    const value = values[name] === undefined ? usual : Number(values[name])
    if (value >= least && value <= most) return value
    throw new UsageError(
      `--${name}: expected a number from ${least} to ${most}, got ${values[name]}`,
    )
  }
  const settings = {
    temperature: number('temperature', 0, 0, 100),
    top_p: number('top-p', 1, Number.MIN_VALUE, 1),
    top_k: Math.round(number('top-k', 0, 0, 2 ** 24)),
    max_tokens: Math.round(number('max-tokens', 64, 1, 512)),
    seed: Math.round(number('seed', 1, 0, 2 ** 32 - 1)),
  }
  return { folder: positionals[0], asked, adapter, settings, is_json: values.json === true }
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const
  const options = {
    ...{ text, message: text, adapter: text, temperature: text, 'top-p': text, 'top-k': text },
    ...{ 'max-tokens': text, seed: text, json: { type: 'boolean' } as const },
  }
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : `${error}`)
  }
}
