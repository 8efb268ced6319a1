// Makes, for tests, a trace of other settings than those that were recorded, with the numbers that
// the float64 replay computes.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { aggLossRef } from '../../src/kernels/policy_loss/loss_weights.ref.ts'
import { sliceOf } from '../trl/trl_trace.ts'
import { replayRef } from './bupo_replay.ts'
import { type BupoCase, openBupoCase, type TracedStep } from './bupo_trace.ts'

export const FORK_FIXTURE = fileURLToPath(new URL('../fixtures/bupo_fork', import.meta.url))
const SLICES = ['model.embed_tokens.weight[5]', 'model.norm.weight']

/** Fields of a trace, beside its steps. */
export type TraceHead = Readonly<Record<string, unknown>>

/** Rows of a step that tests keep, and of each of its two updates. */
const [ROWS, MINI] = [16, 8]

/** The first rows of the recorded batches of the last inner step and the first of the whole
 * model. */
export function recorded(
  head: TraceHead,
  lr = 0.002,
): TraceHead & { readonly steps: Record<string, unknown>[] } {
  const { source, format, steps } = JSON.parse(
    readFileSync(join(FORK_FIXTURE, 'trace_fsdp2.json'), 'utf8'),
  )
  const kept = steps.slice(2, 4).map((step: Readonly<Record<string, unknown>>) => ({
    ...Object.fromEntries(
      Object.entries(step).map(([name, x]) => [name, Array.isArray(x) ? x.slice(0, ROWS) : x]),
    ),
    logged: {},
    updates: [0, MINI].map((first) => ({ lr, rows: [first, first + MINI] })),
  }))
  return { source, format, internal_layer: 1, iterative_steps: 3, ...head, steps: kept }
}

/** A trace with its job's model beside it, in a new folder that the caller removes. */
export function writeTrace(trace: object): { readonly folder: string; readonly file: string } {
  const folder = mkdtempSync(join(tmpdir(), 'understory-trace-'))
  mkdirSync(join(folder, 'job'))
  for (const part of ['model', 'run_bupo.sh'])
    symlinkSync(join(FORK_FIXTURE, 'job', part), join(folder, 'job', part))
  const file = join(folder, 'trace.json')
  writeFileSync(file, JSON.stringify(trace))
  return { folder, file }
}

const rowsOf = (values: ArrayLike<number>, columns: number): number[][] =>
  Array.from({ length: values.length / columns }, (_, row) =>
    Array.from({ length: columns }, (_, i) => values[row * columns + i]),
  )

/** Fills in what the fork would have computed. */
export async function filledTrace(head: TraceHead, lr?: number): Promise<object> {
  const trace = recorded(head, lr)
  const { folder, file } = writeTrace(trace)
  const c = await openBupoCase(file)
  rmSync(folder, { recursive: true })
  const replay = replayRef(c)
  for (const [i, step] of c.steps.entries())
    Object.assign(trace.steps[i], await filledStep(c, step, replay))
  return trace
}

async function filledStep(
  c: BupoCase,
  step: TracedStep,
  replay: ReturnType<typeof replayRef>,
): Promise<object> {
  const scored = await replay.score(step)
  const { response_mask: mask, response_length: R } = step.batch
  const entropies = Float64Array.from(mask, (m, i) => m * scored.entropies[i])
  const { loss } = aggLossRef(entropies, mask, R, step.phase.actor)
  const seen = { ...step, old_log_probs: Float64Array.from(scored.old_log_probs) }
  const updates: object[] = []
  for (const update of step.updates) {
    const { metrics, grad_norm, weights } = await replay.update(seen, update)
    const norms = c.model.layout.params.map(({ name }) => [
      name,
      Math.hypot(...Array.from(weights[name])),
    ])
    updates.push({
      rows: [update.rows[0], update.rows[0] + update.rows.length],
      lr: update.lr,
      grad_norm,
      pg_loss: metrics['actor/pg_loss'],
      ppo_kl: metrics['actor/ppo_kl'],
      ...(step.phase.actor.use_kl_loss && { kl_loss: metrics['actor/kl_loss'] }),
      param_norms: Object.fromEntries(norms),
      slices: Object.fromEntries(
        SLICES.map((name) => [name, [...sliceOf(c.model, weights, name)]]),
      ),
    })
  }
  const old_log_probs = rowsOf(scored.old_log_probs, R)
  return { old_log_probs, updates, logged: { 'actor/entropy': loss } }
}
