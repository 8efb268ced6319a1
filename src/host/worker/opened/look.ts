// Looks into a kept state of a run that is over: on a device of its own, at the weights as they are
// and at the step that follows.
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import type { Checkpoint, SteeredState } from '../../checkpoints/file/checkpoint.ts'
import type { LookCommand, Looked } from '../../protocol/look.ts'
import { NO_OBSERVATION } from '../../protocol/observation.ts'
import type { RunHost, RunTrainer } from '../base/session_host.ts'
import { chooseRunKernels } from '../kernels/run_kernels.ts'
import { takeContents } from '../start/run_start.ts'

/** No run has this number, so what is posted for it is dropped. */
const NO_RUN = -1

/** What is looked into: a state of a run of this document, or its beginning. */
export interface LookedInto {
  readonly document: Experiment
  /** The kernels that the state was made with, as text. */
  readonly made_with: string | undefined
  /** Absent at the beginning, which is made from the document. */
  readonly state?: SteeredState
}

export const keptState = ({ run, made_on }: Checkpoint): LookedInto => ({
  document: run.document,
  made_with: made_on.kernels,
  state: withNextStep(run),
})

/** The run before its first step; nothing is evaluated there. */
export const beginningOf = (document: Experiment): LookedInto => ({
  document: { ...document, validation: { ...document.validation, test_freq: null } },
  made_with: undefined,
})

/** Opens a state, looks into it as far as is asked for, and frees everything. Throws what ends a
 * run's start. */
export async function lookInto(
  host: Pick<RunHost, 'prepare' | 'version'>,
  { document, made_with, state }: LookedInto,
  { request, contents, is_state_only }: Pick<LookCommand, 'request' | 'contents' | 'is_state_only'>,
): Promise<Looked> {
  await takeContents(document, contents ?? [])
  const device = await host.prepare(document)
  let isDone = false
  try {
    const { version } = host
    const sources = { run: NO_RUN, kernel_cache: undefined, version, post: () => {} }
    const { matmul } = chooseRunKernels(device, { made_with, document }, sources)
    const { trainer } = await device.start(matmul, () => {}, state)
    trainer.observe(request)
    const observation = await trainer.observeNow()
    const { step } = trainer
    const tokens = is_state_only ? NO_TOKENS : await nextTokens(trainer, request)
    const looked = { step, observation, ...tokens }
    isDone = true
    return looked
  } finally {
    await device.free(isDone)
  }
}

const NO_TOKENS = { next: undefined, why_no_tokens: '' }

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
  const next = async () => (await trainer.queue()).result
  let taken = await next()
  // A run takes step 0 before its first one.
  if (taken.step === 0) taken = await next()
  const { step, trace } = taken
  if (!trace) return none('The next step is none of reinforcement, so it samples no tokens.')
  return { next: { step, table: trace }, why_no_tokens: '' }
}
