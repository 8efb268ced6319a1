// Reads the token table of a step: what the step computed of every token, read back after its
// updates.

import {
  type TokenTable,
  type TraceInput,
  tokenTable,
  tracedRows,
  withLayers,
} from '../../look/token_table.ts'
import {
  isOfUpdate,
  type TraceColumn,
  traceColumns,
  traceTensor,
} from '../../look/trace_columns.ts'
import { type RowOrder, unshuffled } from '../../math/shuffle.ts'
import type { Tracing } from './taken_step.ts'
import type { Training } from './training.ts'

/** What a table shows of a step. */
export type TracedStep = Pick<TraceInput, 'phase' | 'drawn' | 'experience' | 'trained' | 'rows'> & {
  /** The order of the rows in every epoch, where they were shuffled. */
  readonly order: RowOrder | undefined
}

/** Scores the batch once more, after the update, and reads back what the step computed of every
 * token. */
export function traceTokens(training: Training, step: TracedStep): Tracing {
  const { gpu, parts, config } = training
  const { actor, critic } = parts
  const { phase, rows, drawn } = step
  gpu.stage('trace')
  actor.endTrace(phase, rows)
  const { updates } = actor.trainable
  const names = traceColumns(phase)
  const shape = [rows.batch, actor.size.response_length]
  const tensors = names.map((name) => {
    const tensor = traceTensor(name, actor.tensors, critic?.tensors)
    return gpu.view(tensor, tensor.label, 0, shape)
  })
  const { tokens } = config.task.tokenizer
  // The columns of the updates have the row order of the last epoch.
  const order = step.order?.(phase.actor.ppo_epochs - 1)
  const table = gpu.read(...tensors).then((arrays) => {
    const back = (name: TraceColumn, values: Float32Array) =>
      order && isOfUpdate(name) ? unshuffled(values, order, shape[1]) : values
    const read = Object.fromEntries(
      names.map((name, i) => [name, back(name, arrays[i] as Float32Array)]),
    )
    return tokenTable({ ...step, order, updates, read, tokens })
  })
  return { table, batch: drawn.batch, order: drawn.order }
}

/** The table with the entropies of every layer after the step, where the observer is asked for
 * them. */
export async function traceLayers(
  { observer }: Training,
  { table, batch, order }: Tracing,
): Promise<{ readonly table: Promise<TokenTable> }> {
  const traced = await observer.traceLayers(batch, tracedRows(order))
  if (!traced) return { table }
  const whole = Promise.all([table, traced.reading]).then(([shown, layers]) =>
    withLayers(shown, layers),
  )
  whole.catch(() => {}) // its reader may come late
  return { table: whole }
}
