// Reads one case of PEFT training: a model, the adapter that training began with, and what PEFT
// made of it.
import { readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { modelDirectory } from '../../src/cli/input/model_dir.ts'
import { readSafetensors, type SafeTensor } from '../../src/formats/safetensors.ts'
import type { MatmulChoice } from '../../src/kernels/matmul/matmul_variants.ts'
import type { HfModel } from '../../src/model/hf/hf_model.ts'
import { type PeftAdapter, readAdapter } from '../../src/model/hf/peft_adapter.ts'
import { type AdapterLayout, adapterLayout } from '../../src/model/layout/adapter_layout.ts'
import type { RefArrays } from '../../src/model/transformer/operations.ref.ts'
import type { RlPhase } from '../../src/rl/config/phase.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import { CaseError, Fields } from '../base/fields.ts'
import type { Pinned } from '../base/fixture.ts'
import { goldenPhase } from './golden_actor.ts'
import { paramsOf, readCaseModel } from './model_case.ts'

/** Rows of an optimizer step of reinforcement: the goldens cut a batch of 8 rows in two. */
const MINI_ROWS = 4

export interface PeftCase {
  readonly name: string
  readonly folder: string
  readonly model: HfModel
  /** The base's weights in float64. */
  readonly params: RefArrays
  /** What training began with. */
  readonly adapter: PeftAdapter
  readonly layout: AdapterLayout
  readonly json: Fields
  readonly tensors: ReadonlyMap<string, SafeTensor>
  /** Reinforcement with the case's optimizer and loss. */
  readonly phase: RlPhase
  readonly grad_clip: number
  readonly matmul: MatmulChoice | undefined
}

/** Where the first update of each optimizer step begins in a batch: both halves, twice. */
export const FIRST_ROWS = [0, MINI_ROWS, 0, MINI_ROWS] as const

/** Reads a folder. Throws ModelFileError or CaseError for what is not as it should be. */
export async function openPeftCase(folder: string, pinned: Pinned = {}): Promise<PeftCase> {
  const json = new Fields(
    JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')),
    'expected.json',
  )
  const base = join(folder, '..', json.optionalText('model') ?? '')
  const model = await readCaseModel(base, 'lm_head', pinned)
  const adapter = await readAdapter(modelDirectory(join(folder, 'adapter_init')), model.layout)
  const file = join(folder, 'expected.safetensors')
  const { tensors } = readSafetensors(new Uint8Array(readFileSync(file)), file)
  const optimizer = json.fields('optimizer')
  const grad_clip = optimizer.number('max_grad_norm')
  const [beta1, beta2] = optimizer.vector('betas')
  const grpo = json.fields('grpo')
  const clip = grpo.number('clip_ratio')
  const kl_loss_coef = grpo.number('kl_loss_coef')
  const rows = tensors.get('data.input_ids')?.shape[1] ?? 0
  const phase = goldenPhase(
    model.config.num_hidden_layers,
    { batch: rows, mini: MINI_ROWS },
    {
      clip_ratio_low: clip,
      clip_ratio_high: clip,
      grad_clip,
      kl_loss_coef,
      clip_ratio_c: grpo.number('clip_ratio_c'),
      // With a coefficient of 0 the KL is in the series all the same.
      use_kl_loss: true,
      kl_loss_type: grpo.choice('kl_loss_type', ['low_var_kl']),
      loss_agg_mode: grpo.choice('loss_agg_mode', ['token-mean']),
      optim: {
        lr: optimizer.number('lr'),
        lr_warmup_steps: 0,
        lr_scheduler_type: 'constant',
        min_lr_ratio: 0,
        betas: [beta1, beta2],
        weight_decay: optimizer.number('weight_decay'),
      },
    },
  )
  return {
    name: basename(resolve(folder)),
    folder,
    model,
    adapter,
    json,
    tensors,
    phase,
    grad_clip,
    params: paramsOf(model),
    layout: adapterLayout(model.layout.shape, adapter.lora),
    matmul: pinned.matmul,
  }
}

/** A golden array. Throws CaseError where there is none of that name. */
export function goldenOf({ tensors }: PeftCase, name: string): SafeTensor {
  const tensor = tensors.get(name)
  if (!tensor) throw new CaseError(`expected.safetensors: there is no ${name}`)
  return tensor
}

/** Row `index` of a golden array's first dimension. */
export function goldenRow(c: PeftCase, name: string, index: number): Float64Array {
  const { data, shape } = goldenOf(c, name)
  const count = data.length / shape[0]
  return Float64Array.from(data.subarray(index * count, (index + 1) * count))
}

/** Batches of a case. */
export const batchCount = (c: PeftCase): number => goldenOf(c, 'data.input_ids').shape[0]

/** Batch i: its position ids and responses follow from ids and masks. */
export function peftBatch(c: PeftCase, i: number): RolloutBatch {
  const [, rows, width] = goldenOf(c, 'data.input_ids').shape
  const [, , R] = goldenOf(c, 'data.response_mask').shape
  const input_ids = Uint32Array.from(goldenRow(c, 'data.input_ids', i))
  const attention_mask = Uint32Array.from(goldenRow(c, 'data.attention_mask', i))
  const response_mask = Float32Array.from(goldenRow(c, 'data.response_mask', i))
  const position_ids = new Uint32Array(rows * width)
  for (let b = 0; b < rows; b++)
    for (let t = 0, seen = 0; t < width; t++) {
      seen += attention_mask[b * width + t]
      position_ids[b * width + t] = Math.max(0, seen - 1)
    }
  const rowsOf = Array.from({ length: rows }, (_, b) => b)
  return {
    rows,
    prompt_length: width - R,
    response_length: R,
    input_ids,
    attention_mask,
    position_ids,
    response_mask,
    response_ids: Uint32Array.from(
      rowsOf.flatMap((b) => [...input_ids.subarray((b + 1) * width - R, (b + 1) * width)]),
    ),
    response_lengths: Uint32Array.from(
      rowsOf.map((b) => response_mask.subarray(b * R, (b + 1) * R).reduce((n, m) => n + m, 0)),
    ),
    is_ended: rowsOf.map(() => true),
  }
}
