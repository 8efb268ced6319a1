// What changes from step to step, as pure functions of the step.
import type { Optim, Phase } from './phase.ts'

/**
 * Learning rate at training step `step` (0-based) of `total_steps`: linear warm-up from exactly 0, then constant or
 * cosine (verl/utils/torch_functional.py get_constant_schedule_with_warmup, get_cosine_schedule_with_warmup with
 * num_cycles 0.5).
 */
export function learningRate(optim: Optim, step: number, total_steps: number): number {
  const { lr, lr_warmup_steps, lr_scheduler_type, min_lr_ratio } = optim
  if (step < lr_warmup_steps) return (lr * step) / Math.max(1, lr_warmup_steps)
  if (lr_scheduler_type === 'constant') return lr
  const progress = (step - lr_warmup_steps) / Math.max(1, total_steps - lr_warmup_steps)
  const half = (1 - min_lr_ratio) / 2
  return lr * Math.max(min_lr_ratio, Math.cos(Math.PI * progress) * half + (1 + min_lr_ratio) / 2)
}

/**
 * Steps that all phases of the stage of `phase` are planned to take. A stage is a run of phases of one kind: one optimizer
 * and one learning-rate schedule, as BuPO trains its two phases (no reset and no second warm-up at the switch).
 */
export function stageSteps(phases: readonly Phase[], phase: number): number {
  const { kind } = phases[phase]
  let first = phase
  while (first > 0 && phases[first - 1].kind === kind) first--
  let steps = 0
  for (let i = first; i < phases.length && phases[i].kind === kind; i++) steps += phases[i].steps
  return steps
}
