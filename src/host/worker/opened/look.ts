// Looks into a kept state of a run that is over: on a device of its own, at the weights as they are
// and at the step that follows.
import type { Checkpoint, SteeredState } from '../../checkpoints/file/checkpoint.ts'
import type { LookCommand, Looked } from '../../protocol/look.ts'
import { NO_OBSERVATION } from '../../protocol/observation.ts'
import type { RunHost, RunTrainer } from '../base/session_host.ts'
import { chooseRunKernels } from '../kernels/run_kernels.ts'
import { takeContents } from '../start/run_start.ts'

/** No run has this number, so what is posted for it is dropped. */
const NO_RUN = -1

/** Opens the state of a checkpoint, looks into it as far as is asked for, and frees everything.
 * Throws what ends a run's start. */
export async function lookInto(
  host: Pick<RunHost, 'prepare' | 'version'>,
  { run, made_on }: Pick<Checkpoint, 'run' | 'made_on'>,
  { request, contents }: Pick<LookCommand, 'request' | 'contents'>,
): Promise<Looked> {
  await takeContents(run.document, contents ?? [])
  const device = await host.prepare(run.document)
  let isDone = false
  try {
    const of = { made_with: made_on.kernels, document: run.document }
    const { version } = host
    const sources = { run: NO_RUN, kernel_cache: undefined, version, post: () => {} }
    const { matmul } = chooseRunKernels(device, of, sources)
    const { trainer } = await device.start(matmul, () => {}, withNextStep(run))
    trainer.observe(request)
    const observation = await trainer.observeNow()
    const looked = { step: trainer.step, observation, ...(await nextTokens(trainer, request)) }
    isDone = true
    return looked
  } finally {
    await device.free(isDone)
  }
}

/** The same state in a run that takes one more step where its last phase is over. Such a step is
 * not evaluated. */
export function withNextStep(state: SteeredState): SteeredState {
  const { trainer, experiment } = state
  const { phase, phase_step, ends } = trainer
  const { phases } = experiment
  const validation = { ...experiment.validation, test_freq: null }
  const isOver = phase === phases.length - 1 && (phase_step >= phases[phase].steps || ends)
  if (!isOver) return { ...state, experiment: { ...experiment, validation } }
  const last = { ...phases[phase], steps: phase_step + 1 }
  return {
    ...state,
    trainer: { ...trainer, ends: null },
    experiment: { ...experiment, validation, phases: phases.with(phase, last) },
  }
}

/** Takes the next step for its token table, where it has one. */
async function nextTokens(
  trainer: RunTrainer,
  { token_layers }: LookCommand['request'],
): Promise<Pick<Looked, 'next' | 'why_no_tokens'>> {
  const none = (why_no_tokens: string) => ({ next: undefined, why_no_tokens })
  await trainer.obey()
  if (trainer.isFinished) return none('No step follows this state.')
  if (!(await trainer.ready())) return none('The next step waits for a person’s verdicts.')
  trainer.observe({ ...NO_OBSERVATION, token_layers })
  trainer.traceNext()
  const { step, trace } = await (await trainer.queue()).result
  if (!trace) return none('The next step is none of reinforcement, so it samples no tokens.')
  return { next: { step, table: trace }, why_no_tokens: '' }
}
