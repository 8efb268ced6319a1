// lab probe: prints what each layer of a Hugging Face model holds for given tokens, as JSON.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { firstNonfinite } from '../host/checkpoints/sound.ts'
import { idsOf } from '../host/worker/opened/opened_text.ts'
import { ShapeError } from '../kernels/device/base/errors.ts'
import { type Allocator, MemoryPlan } from '../kernels/device/base/tensor.ts'
import { Gpu } from '../kernels/device/gpu.ts'
import { type HfModel, readHfModel } from '../model/hf/hf_model.ts'
import { withAdapter } from '../model/hf/peft_adapter.ts'
import { REPORTED_NAMES } from '../model/internals/internal_quantities.ts'
import { recordInternals } from '../model/internals/internals.ts'
import {
  createInternals,
  readInternals,
  uploadInternals,
} from '../model/internals/internals_tensors.ts'
import {
  type GivenIntervention,
  resolveInterventions,
  roomFor,
} from '../model/internals/resolve.ts'
import {
  createInterventions,
  writeInterventions,
} from '../model/interventions/intervention_tensors.ts'
import type { Lens } from '../model/layout/translators.ts'
import { createModel, type Model, uploadModel } from '../model/transformer/model.ts'
import { createWorkspace } from '../model/transformer/workspace.ts'
import {
  TOKENIZER_FILES,
  type TokenizerFiles,
} from '../tasks/tokenizers/hugging_face/tokenizer_files.ts'
import { loadTokenizer } from '../tasks/tokenizers/load_tokenizer.ts'
import { type Command, LabFailure, NO_ADAPTER_TEXT, UsageError } from './base/command.ts'
import { openDawn } from './base/dawn.ts'
import { commandLine, flag, text } from './base/declare.ts'
import { replaceFile } from './base/disk.ts'
import { print } from './base/terminal.ts'
import { readText } from './input/input_file.ts'
import { modelDirectory } from './input/model_dir.ts'
import { parseTokenRows, type TokenRows } from './input/token_rows.ts'
import { givenInterventions } from './intervene/given_interventions.ts'
import { givenLenses, lensReport, planLenses } from './intervene/given_lens.ts'
import { readArguments } from './options/read.ts'
import {
  forwardMeans,
  klUntouched,
  type ProbeReport,
  perPosition,
  reportText,
} from './output/probe_report.ts'
import { tellSpecial } from './output/special_tokens.ts'
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
      intervene: text(
        'FILE|JSON',
        'changes parts of the pass: a list of {where, layer, head, positions, what, …} (docs/interventions.md)',
      ),
      lens: text(
        'FILES',
        'reads every layer through lenses of this model too, with commas between files (lab lens)',
      ),
      out: text('FILE', 'writes the JSON there'),
    },
  },
  examples: [
    'probe models/qwen --text "2 + 2 =" --out probe.json',
    'probe models/qwen --tokens ids.json',
    'probe models/qwen --text "2 + 2 =" --intervene changes.json',
    'probe saved --text "2+2=" --lens lenses/tuned.safetensors',
  ],
})

export const probe: Command = {
  line: LINE,
  run: async (args) => {
    const { folder, tokens, text: typed, adds, adapter, intervene, lens, out } = readOptions(args)
    const base =
      savedModel(folder) ?? (await readHfModel(modelDirectory(folder), { head: 'lm_head' }))
    requireFinite(folder, base)
    const model = adapter === undefined ? base : await withAdapter(base, modelDirectory(adapter))
    if (adapter !== undefined) requireFinite(adapter, model)
    const rows =
      tokens === undefined ? await typedRows(folder, typed, adds, model) : readRows(tokens, model)
    const encode = async (other: string) =>
      (await typedRows(folder, other, adds, model)).input_ids[0]
    const widest = rows.input_ids[0].length
    const list =
      intervene === undefined ? [] : await givenInterventions(intervene, model, widest, encode)
    const lenses = lens === undefined ? [] : givenLenses(lens, model)
    const dawn = await openDawn()
    if (!dawn) throw new LabFailure(NO_ADAPTER_TEXT)
    const plan = new MemoryPlan()
    createProbe(plan, model, rows, list)
    planLenses(plan, model, rows, lenses)
    const gpu = await Gpu.open({ gpu: dawn, largest: plan.largest })
    const report = probeModel(gpu, model, rows, list, lenses).finally(() => gpu.destroy())
    const text = reportText(await report)
    if (out === undefined) print(text)
    else {
      writeOut(out, text)
      print(`Wrote ${out}`)
    }
    return 0
  },
}

/** A list that does not fit the texts is said as what it is. */
async function refused<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ShapeError) throw new LabFailure(`--intervene: ${error.message}`)
    throw error
  }
}

/** Throws UsageError. */
export function readOptions(args: readonly string[]) {
  const { values, positionals } = readArguments(LINE, args)
  if (positionals.length !== 1) throw new UsageError('probe takes one model directory')
  const { tokens, text = '', adapter, intervene, lens, out } = values
  if ((tokens === undefined) === (values.text === undefined))
    throw new UsageError('probe needs --tokens ids.json, or --text TEXT')
  const adds = !values['no-special-tokens']
  return { folder: positionals[0], tokens, text, adds, adapter, intervene, lens, out }
}

/** Nothing that a model computes from NaN or Inf says anything of it. Throws LabFailure naming the
 * tensor. */
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

/** One row: the ids that the folder's own tokenizer gives a text, with what it `adds` around one.
 * Throws LabFailure. */
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
function createProbe(
  alloc: Allocator,
  { layout }: HfModel,
  batch: TokenRows,
  list: readonly GivenIntervention[],
) {
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
  if (list.length === 0) return { model, ws, internals }
  const room = roomFor(list, shape, rows * width)
  return { model, ws, internals, interventions: createInterventions(alloc, shape, room) }
}

/** Runs the model on `batch` and names every result as Hugging Face's arrays are named in
 * QUANTITIES: per row and position, and `forward_means`, where every token of every row weighs the
 * same. Nats. With interventions all of it is of the changed model; beside it is what they
 * changed. */
async function probeModel(
  gpu: Gpu,
  hf: HfModel,
  batch: TokenRows,
  list: readonly GivenIntervention[],
  lenses: readonly Lens[],
): Promise<ProbeReport> {
  const { model, ws, internals, interventions } = createProbe(gpu, hf, batch, list)
  uploadModel(gpu, model, hf.weights)
  const rows = {
    input_ids: Uint32Array.from(batch.input_ids.flat()),
    attention_mask: Uint32Array.from(batch.attention_mask.flat()),
    position_ids: Uint32Array.from(batch.position_ids.flat()),
    response_ids: new Uint32Array(),
    response_mask: new Float32Array(),
  }
  uploadInternals(gpu, internals, rows)
  const run = async (of: Model) => {
    gpu.replay(await gpu.record('probe', [], (r) => recordInternals(r, of, internals)))
    return readInternals(gpu, internals)
  }
  const untouched = await run(model)
  const { config, layout, eos_token_ids, pad_token_id, dtype } = hf
  const { num_parameters } = layout
  const about = {
    adapter: gpu.facts.description,
    model: { ...config, num_parameters, dtype, eos_token_ids, pad_token_id },
    ...batch,
  }
  const means = forwardMeans(untouched)
  const through = (of: Model) => (lenses.length > 0 ? lensReport(gpu, of, batch, lenses) : {})
  if (!interventions) {
    const read = await through(model)
    return { ...about, ...perPosition(untouched), ...read, forward_means: means }
  }
  const changes = await refused(resolveInterventions(gpu, model, ws, rows, list))
  writeInterventions(gpu, interventions, layout.shape, changes)
  const changed = await run({ ...model, interventions })
  return {
    ...about,
    interventions: list,
    ...perPosition(changed),
    ...(await through({ ...model, interventions })),
    kl_untouched: klUntouched(untouched, changed),
    forward_means: forwardMeans(changed),
    untouched_forward_means: means,
  }
}
