// Computes what changes from step to step, as pure functions of the step.
import type { KlControllerConfig } from './algorithm.ts'
import type { Optim } from './optim.ts'
import type { Phase } from './phase.ts'

/** Shape of a schedule; `step` below is the number of training steps already taken (the scheduler's
 * calls). */
export interface Schedule {
  readonly num_warmup_steps: number
  /** Steps of the whole run, warm-up included. */
  readonly num_training_steps: number
  /** Floor, as a share of the peak, 0 … 1. */
  readonly min_lr_ratio?: number
  /** Waves of the decay; 0.5 falls once from the peak to the floor. */
  readonly num_cycles?: number
}

/** Linear warm-up from `from` at step 0 to 1; undefined once it is over. */
function warmup(step: number, num_warmup_steps: number, from = 0): number | undefined {
  if (step >= num_warmup_steps) return undefined
  return from + (1 - from) * (step / Math.max(1, num_warmup_steps))
}

function checkFloor(min_lr_ratio: number): void {
  if (!(min_lr_ratio >= 0 && min_lr_ratio <= 1))
    throw new RangeError(`min_lr_ratio: expected a share from 0 to 1, got ${min_lr_ratio}`)
}

/** Share of the peak rate: warm-up, then 1 (verl/utils/torch_functional.py
 * get_constant_schedule_with_warmup). */
export function constantMultiplier(
  step: number,
  { num_warmup_steps }: Pick<Schedule, 'num_warmup_steps'>,
): number {
  return warmup(step, num_warmup_steps) ?? 1
}

/** Share of the peak rate: warm-up from `init_lr_ratio`, then max(min, cos(2π num_cycles p) (1 -
 * min) / 2 + (1 + min) / 2) with p = 0 … 1 over the rest and beyond (verl/utils/torch_functional.py
 * get_cosine_schedule_with_warmup). */
export function cosineMultiplier(
  step: number,
  {
    num_warmup_steps,
    num_training_steps,
    min_lr_ratio = 0,
    num_cycles = 0.5,
    init_lr_ratio = 0,
  }: Schedule & { readonly init_lr_ratio?: number },
): number {
  checkFloor(min_lr_ratio)
  const rising = warmup(step, num_warmup_steps, init_lr_ratio)
  if (rising !== undefined) return rising
  const progress = (step - num_warmup_steps) / Math.max(1, num_training_steps - num_warmup_steps)
  const wave = Math.cos(Math.PI * num_cycles * 2 * progress)
  return Math.max(min_lr_ratio, (wave * (1 - min_lr_ratio)) / 2 + (1 + min_lr_ratio) / 2)
}

/** Share of the peak rate: warm-up, stable for floor(stable_ratio · the rest), cosine decay, then
 * the floor (verl/utils/torch_functional.py get_wsd_schedule_with_warmup). No phase selects it, nor
 * does any setting of verl: lr_scheduler_type is constant or cosine. `lab conform` holds it to
 * verl's. */
export function wsdMultiplier(
  step: number,
  {
    num_warmup_steps,
    num_training_steps,
    min_lr_ratio = 0,
    num_cycles = 0.5,
    stable_ratio = 0.9,
  }: Schedule & { readonly stable_ratio?: number },
): number {
  checkFloor(min_lr_ratio)
  const rising = warmup(step, num_warmup_steps)
  if (rising !== undefined) return rising
  const rest = Math.max(0, num_training_steps - num_warmup_steps)
  const stable = Math.floor(rest * stable_ratio)
  const decayStep = step - num_warmup_steps - stable
  if (decayStep < 0) return 1
  if (decayStep >= rest - stable) return min_lr_ratio
  const wave = Math.cos(Math.PI * num_cycles * 2 * (decayStep / (rest - stable)))
  return (1 - min_lr_ratio) * Math.max(0, 0.5 * (1 + wave)) + min_lr_ratio
}

/** verl's field that an experiment leaves out. */
export interface OptimExtras {
  readonly num_cycles?: number
}

/** Steps of warm-up: `lr_warmup_steps`, or without one the whole part of
 * `lr_warmup_steps_ratio` · total. */
export function warmupSteps(
  {
    lr_warmup_steps,
    lr_warmup_steps_ratio = 0,
  }: Pick<Optim, 'lr_warmup_steps' | 'lr_warmup_steps_ratio'>,
  totalSteps: number,
): number {
  return lr_warmup_steps ?? Math.trunc(lr_warmup_steps_ratio * totalSteps)
}

/** Learning rate at training step `step` (0-based) of `totalSteps`: linear warm-up from exactly 0,
 * then constant or cosine, once per training step as in verl. */
export function learningRate(
  optim: Omit<Optim, 'betas' | 'weight_decay'> & OptimExtras,
  step: number,
  totalSteps: number,
): number {
  const { lr, lr_scheduler_type, min_lr_ratio, num_cycles = 0.5 } = optim
  const num_warmup_steps = warmupSteps(optim, totalSteps)
  const schedule = { num_warmup_steps, num_training_steps: totalSteps, min_lr_ratio, num_cycles }
  return lr_scheduler_type === 'constant'
    ? lr * constantMultiplier(step, schedule)
    : lr * cosineMultiplier(step, schedule)
}

/** What stages are made of: the engine's phases, or those of a document. */
type Staged = { readonly kind: Phase['kind']; readonly reset_schedule?: boolean }

/** Whether a phase continues with the stage of the one before it. A stage is a run of phases of one
 * kind: one optimizer, one reference and one KL controller, and unless a phase says otherwise one
 * learning-rate schedule, as BuPO trains its two phases (no reset and no second warm-up at the
 * switch). Every reward model is a new one. */
export const continuesStage = (phases: readonly Staged[], phase: number): boolean =>
  phase > 0 &&
  phases[phase - 1].kind === phases[phase].kind &&
  phases[phase].kind !== 'reward_model'

/** Whether a phase continues with the learning-rate schedule of the one before it. */
export const continuesSchedule = (phases: readonly Staged[], phase: number): boolean =>
  continuesStage(phases, phase) && !phases[phase].reset_schedule

/** Steps that all phases of the schedule of `phase` are planned to take. */
export function scheduleSteps(phases: readonly Phase[], phase: number): number {
  const first = scheduleStart(phases, phase)
  let { steps } = phases[first]
  for (let i = first + 1; i < phases.length && continuesSchedule(phases, i); i++)
    steps += phases[i].steps
  return steps
}

/** The phase that began the schedule of `phase`. */
function scheduleStart(phases: readonly Staged[], phase: number): number {
  let first = phase
  while (continuesSchedule(phases, first)) first--
  return first
}

/** What the rate of a phase follows: the actor's settings, or with `of` the critic's. A schedule
 * has one warm-up, that of its first phase; all else is the phase's own. */
export function scheduledOptim(
  phases: readonly Phase[],
  phase: number,
  of: 'actor' | 'critic' = 'actor',
): Optim {
  const optimOf = (other: Phase) => (other.kind === 'rl' ? other[of].optim : other.optim)
  const { lr_warmup_steps } = optimOf(phases[scheduleStart(phases, phase)])
  return { ...optimOf(phases[phase]), lr_warmup_steps }
}

/** Settings of the KL controller after `phase`: of the last phase of its stage with a KL in the
 * reward; undefined before one. */
export function klSettings(
  phases: readonly Phase[],
  phase: number,
): KlControllerConfig | undefined {
  for (let i = phase; ; i--) {
    const present = phases[i]
    if (present.kind === 'rl' && present.algorithm.use_kl_in_reward)
      return present.algorithm.kl_ctrl
    if (!continuesStage(phases, i)) return undefined
  }
}
