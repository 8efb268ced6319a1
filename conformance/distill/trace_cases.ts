// Runs of TRL's DistillationTrainer, replayed update by update, with the recommended tolerances.
import type { Context } from '../base/fixture.ts'
import type { Check, Output, Place } from '../base/report.ts'
import { sliceOf } from '../trl/trl_trace.ts'
import { type DistillCase, type DistillUpdate, openDistillCase } from './trace_file.ts'
import { gpuMachine, type ReplayedUpdate, refMachine, replayed } from './trace_replay.ts'

const atol = (size: number) => ({ rtol: 0, atol: size })
const TOLERANCES = {
  loss: atol(2e-5),
  entropy_sum: atol(2e-3),
  grad_norm: { rtol: 2e-4, atol: 0 },
  params: atol(2e-5),
  param_norms: { rtol: 5e-6, atol: 0 },
} as const

/** The checks of one folder. */
export async function* distillTraceCase(
  folder: string,
  { gpu, ...pinned }: Context,
): AsyncGenerator<Check> {
  const c = await openDistillCase(folder, pinned)
  for (const run of c.runs) {
    const places = [
      ['reference', () => refMachine(c, run)],
      ...(gpu ? [['gpu', () => gpuMachine(c, run, gpu)] as const] : []),
    ] as const
    for (const [on, machine] of places) {
      let number = 0
      for await (const [update, found] of replayed(run, await machine())) {
        number++
        yield* updateChecks(c, `${c.name}/${run.name}/update ${number}`, on, update, found)
      }
    }
  }
}

function* updateChecks(
  c: DistillCase,
  at: string,
  on: Place,
  { micro_batches, expected }: DistillUpdate,
  found: ReplayedUpdate,
): Generator<Check> {
  for (const [i, { batch, expected: told }] of micro_batches.entries()) {
    const name = micro_batches.length > 1 ? `${at}.${i + 1}` : at
    const { loss, entropy_sum } = found.micro_batches[i]
    const tokens = batch.response_mask.reduce((sum, m) => sum + m, 0)
    const compared = (what: 'loss' | 'entropy_sum', actual: number): Output => ({
      actual,
      expected: told.number(what),
      tolerance: TOLERANCES[what],
    })
    const outputs = {
      loss: compared('loss', loss),
      entropy_sum: compared('entropy_sum', entropy_sum),
      tokens: { actual: tokens, expected: told.number('tokens'), tolerance: 'exact' as const },
    }
    yield { case: `${name}/loss`, on, outputs }
  }
  const outputs: Record<string, Output> = {
    grad_norm: {
      actual: found.grad_norm,
      expected: expected.number('grad_norm'),
      tolerance: TOLERANCES.grad_norm,
    },
  }
  for (const [name, norm] of Object.entries(expected.record('param_norms'))) {
    const actual = Math.hypot(...Array.from(found.weights[name] ?? []))
    outputs[`norm of ${name}`] = { actual, expected: norm, tolerance: TOLERANCES.param_norms }
  }
  const slices = expected.fields('params')
  for (const name of slices.names())
    outputs[name] = {
      actual: sliceOf(c.student, found.weights, name),
      expected: slices.raw(name),
      tolerance: TOLERANCES.params,
    }
  yield { case: `${at}/weights`, on, outputs }
}
