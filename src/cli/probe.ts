// lab probe: what each layer of a Hugging Face model holds for given tokens, as JSON.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { firstNonfinite } from '../host/checkpoints/sound.ts'
import { idsOf } from '../host/worker/opened/opened_text.ts'
import { Gpu } from '../kernels/device/gpu.ts'
import { type Allocator, MemoryPlan } from '../kernels/device/tensor.ts'
import { type HfModel, readHfModel } from '../model/hf/hf_model.ts'
import { withAdapter } from '../model/hf/peft_adapter.ts'
import {
  type Internals,
  maskOf,
  QUANTITIES,
  type Quantity,
  REPORTED_NAMES,
  type ReportedQuantity,
  tokenMeans,
} from '../model/internals/internal_quantities.ts'
import { recordInternals } from '../model/internals/internals.ts'
import {
  createInternals,
  readInternals,
  uploadInternals,
} from '../model/internals/internals_tensors.ts'
import { createModel, uploadModel } from '../model/transformer/model.ts'
import { createWorkspace } from '../model/transformer/workspace.ts'
import {
  TOKENIZER_FILES,
  type TokenizerFiles,
} from '../tasks/tokenizers/hugging_face/tokenizer_files.ts'
import { loadTokenizer } from '../tasks/tokenizers/load_tokenizer.ts'
import { type Command, LabFailure, NO_ADAPTER_TEXT, UsageError } from './command.ts'
import { openDawn } from './dawn.ts'
import { readText } from './input/input_file.ts'
import { modelDirectory } from './input/model_dir.ts'
import { parseTokenRows, type TokenRows } from './input/token_rows.ts'
import { commandLine, flag, text } from './options/declare.ts'
import { readArguments } from './options/read.ts'
import { replaceFile } from './output/disk.ts'
import { tellSpecial } from './output/special_tokens.ts'
import { print } from './terminal.ts'
import { savedModel } from './train/weights.ts'

const LINE = commandLine({
  name: 'probe',
  takes: '<model dir>',
  summary: 'logits and every internal policy of a model on a text, as JSON',
  notes: ['The folder is a Hugging Face model, or what train --save kept.'],
  groups: {
    Options: {
      text: text('TEXT', "a text, through the folder's own tokenizer"),
      tokens: text('FILE', 'rows of token ids as JSON'),
      adapter: text('DIR', 'merges a LoRA adapter of PEFT into the model first'),
      'no-special-tokens': flag('the text without what the tokenizer adds, such as <s>'),
      out: text('FILE', 'writes the JSON there'),
    },
  },
  examples: [
    'probe models/qwen --text "2 + 2 =" --out probe.json',
    'probe models/qwen --tokens ids.json',
  ],
})

export const probe: Command = {
  line: LINE,
  run: async (args) => {
    const { folder, tokens, text: typed, adds, adapter, out } = readOptions(args)
    const base =
      savedModel(folder) ?? (await readHfModel(modelDirectory(folder), { head: 'lm_head' }))
    requireFinite(folder, base)
    const model = adapter === undefined ? base : await withAdapter(base, modelDirectory(adapter))
    if (adapter !== undefined) requireFinite(adapter, model)
    const rows =
      tokens === undefined ? await typedRows(folder, typed, adds, model) : readRows(tokens, model)
    const dawn = await openDawn()
    if (!dawn) throw new LabFailure(NO_ADAPTER_TEXT)
    const plan = new MemoryPlan()
    createProbe(plan, model, rows)
    const gpu = await Gpu.open({ gpu: dawn, largest: plan.largest })
    const text = reportText(await probeModel(gpu, model, rows).finally(() => gpu.destroy()))
    if (out === undefined) print(text)
    else {
      writeOut(out, text)
      print(`Wrote ${out}`)
    }
    return 0
  },
}

/** Throws UsageError. */
export function readOptions(args: readonly string[]) {
  const { values, positionals } = readArguments(LINE, args)
  if (positionals.length !== 1) throw new UsageError('probe takes one model directory')
  const { tokens, text = '', adapter, out } = values
  if ((tokens === undefined) === (values.text === undefined))
    throw new UsageError('probe needs --tokens ids.json, or --text TEXT')
  const adds = !values['no-special-tokens']
  return { folder: positionals[0], tokens, text, adds, adapter, out }
}

/** Nothing that a model computes from NaN or Inf says anything of it. Throws LabFailure naming the tensor. */
function requireFinite(folder: string, { layout, weights }: HfModel): void {
  const at = firstNonfinite(weights)
  if (at < 0) return
  const owner = layout.params.find(({ offset, size }) => at >= offset && at < offset + size)
  const where = owner ? `tensor ${owner.name}, element ${at - owner.offset}` : `weight ${at}`
  throw new LabFailure(`${folder}: ${where}: expected a finite number, found ${weights[at]}`)
}

function readRows(file: string, { config, pad_token_id = 0 }: HfModel): TokenRows {
  return parseTokenRows(readText(file), file, { vocab_size: config.vocab_size, pad_token_id })
}

/** One row: the ids that the folder's own tokenizer gives a text, with what it `adds` around one. Throws LabFailure. */
async function typedRows(
  folder: string,
  text: string,
  adds: boolean,
  model: HfModel,
): Promise<TokenRows> {
  const files = TOKENIZER_FILES.flatMap((name) => {
    const file = join(folder, name)
    return existsSync(file) ? [[name, readText(file)]] : []
  })
  const texts: Partial<TokenizerFiles> = Object.fromEntries(files)
  const json = texts['tokenizer.json']
  if (json === undefined)
    throw new LabFailure(`--text: ${folder} has no tokenizer.json; give ids with --tokens`)
  try {
    const tokenizer = await loadTokenizer({ ...texts, 'tokenizer.json': json })
    const ids = idsOf(text, tokenizer, adds)
    if (adds) tellSpecial(tokenizer)
    const { config, pad_token_id = 0 } = model
    const vocabulary = { vocab_size: config.vocab_size, pad_token_id }
    return parseTokenRows(JSON.stringify(ids), '--text', vocabulary)
  } catch (error) {
    if (error instanceof LabFailure) throw error
    throw new LabFailure(`--text: ${error instanceof Error ? error.message : error}`)
  }
}

function writeOut(file: string, text: string): void {
  try {
    replaceFile(file, `${text}\n`)
  } catch (error) {
    throw new LabFailure(`--out: ${error instanceof Error ? error.message : error}`)
  }
}

/** Everything on the device, or in a plan. */
function createProbe(alloc: Allocator, { layout }: HfModel, batch: TokenRows) {
  const { shape } = layout
  const model = createModel(alloc, layout)
  const rows = batch.input_ids.length
  const width = batch.input_ids[0].length
  const size = { rows, width, response_length: 0, trains: false }
  const ws = createWorkspace(alloc, shape, size)
  const internals = createInternals(alloc, shape, ws, {
    quantities: REPORTED_NAMES,
    positions: 'all',
  })
  return { model, internals }
}

/** What the command prints, by name: numbers of padding are null, or left out for logits' last axis. */
export type ProbeReport = Readonly<Record<string, unknown>>

/**
 * Runs the model on `batch` and names every result as Hugging Face's arrays are named in QUANTITIES: per row and position, and
 * `forward_means`, where every token of every row weighs the same. Nats.
 */
async function probeModel(gpu: Gpu, hf: HfModel, batch: TokenRows): Promise<ProbeReport> {
  const { model, internals } = createProbe(gpu, hf, batch)
  uploadModel(gpu, model, hf.weights)
  uploadInternals(gpu, internals, {
    input_ids: Uint32Array.from(batch.input_ids.flat()),
    attention_mask: Uint32Array.from(batch.attention_mask.flat()),
    position_ids: Uint32Array.from(batch.position_ids.flat()),
    response_ids: new Uint32Array(),
    response_mask: new Float32Array(),
  })
  gpu.replay(await gpu.record('probe', [], (r) => recordInternals(r, model, internals)))
  const result = await readInternals(gpu, internals)
  const { config, layout, eos_token_ids, pad_token_id, dtype } = hf
  const { num_parameters } = layout
  return {
    adapter: gpu.facts.description,
    model: { ...config, num_parameters, dtype, eos_token_ids, pad_token_id },
    ...batch,
    ...perPosition(result),
    forward_means: forwardMeans(result),
  }
}

function perPosition(result: Internals<ReportedQuantity>): ProbeReport {
  const { rows, columns } = result
  const named = Object.entries(result.values).map(([name, values]) => {
    const kind = QUANTITIES[name as Quantity]
    const mask = maskOf(result, name as Quantity)
    const each = values.length / (rows * columns)
    if (kind === 'logits') {
      const row = (i: number) => rounded(values.subarray(i * each, (i + 1) * each))
      return [name, grid(rows, columns, (i) => (mask[i] ? row(i) : null))]
    }
    // A log-probability belongs to a column that has a next one.
    const shown = mask === result.next_mask ? columns - 1 : columns
    const entries = Array.from({ length: each }, (_, entry) => {
      const at = rounded(values.subarray(entry * rows * columns, (entry + 1) * rows * columns))
      return grid(rows, columns, (i) => (mask[i] ? at[i] : null), shown)
    })
    return [name, kind === 'pairs' ? square(entries) : entries]
  })
  const all: Record<string, unknown> = Object.fromEntries(named)
  const { logits, ...others } = all
  const final = (all.logp_next_layer_norm as unknown[]).at(-1)
  return { logits, logp_next: final, ...others }
}

function forwardMeans(result: Internals<ReportedQuantity>): ProbeReport {
  const means = tokenMeans(result)
  const log_prob = means.logp_next_layer_norm?.at(-1)
  const named = Object.entries(means).map(([name, mean]) => {
    const isPairs = QUANTITIES[name as Quantity] === 'pairs'
    return [name, { mean_all: isPairs ? square([...mean]) : [...mean] }]
  })
  return {
    ...Object.fromEntries(named),
    // A single token predicts nothing that is known.
    ...(log_prob === undefined ? {} : { perplexity_all: Math.exp(-log_prob) }),
  }
}

/** [rows][shown], from the values of [rows][columns]. */
const grid = <T>(rows: number, columns: number, value: (i: number) => T, shown = columns): T[][] =>
  Array.from({ length: rows }, (_, row) =>
    Array.from({ length: shown }, (_, column) => value(row * columns + column)),
  )

/** [n²] to [n][n]. */
function square<T>(list: readonly T[]): T[][] {
  const n = Math.sqrt(list.length)
  return Array.from({ length: n }, (_, i) => list.slice(i * n, (i + 1) * n))
}

/** The shortest decimals that are still the same float32. */
const rounded = (x: Float32Array): number[] =>
  Array.from(x, (value) => Number(value.toPrecision(9)))

/** JSON with one line per name, so that a person finds their way. */
function reportText(report: ProbeReport): string {
  const lines = Object.entries(report).map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`,
  )
  return `{\n${lines.join(',\n')}\n}`
}
