// What BuPO's fork was told when it recorded a trace: the trace's own fields, and beside them the arguments of its job.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LOSS_AGG_MODES } from '../../src/kernels/policy_loss/aggregations/aggregations.ts'
import { ACTOR_DEFAULTS } from '../../src/rl/config/actor.ts'
import type { RlPhase } from '../../src/rl/config/phase.ts'
import { CaseError } from '../fields.ts'
import { goldenPhase } from '../hf/golden_actor.ts'

/** verl's own names, with their place behind a dot where the last part alone would be ambiguous. */
export class TraceSettings {
  readonly #sources: readonly ReadonlyMap<string, unknown>[]
  readonly #note: string

  /** `trace`: its parsed JSON; `job`: the folder that it was recorded from, if there is one. */
  constructor(trace: Readonly<Record<string, unknown>>, job: string | undefined) {
    const { steps, note, ...own } = trace
    this.#note = typeof note === 'string' ? note : ''
    const script = job && join(job, 'run_bupo.sh')
    const told = script && existsSync(script) ? readFileSync(script, 'utf8') : ''
    this.#sources = [flattened(own), new Map([...argumentsOf(told), ...reported(steps)])]
  }

  /** The value of a name like `actor.clip_ratio_c`: the trace's, else what its note says of it, else the job's. */
  find(name: string): unknown {
    const [own, job] = this.#sources
    return settingIn(own, name) ?? this.#noted(name) ?? settingIn(job, name)
  }

  number(name: string, fallback?: number): number {
    const value = this.find(name) ?? fallback
    if (typeof value !== 'number') throw new CaseError(`${name}: expected a number, got ${value}`)
    return value
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.find(name) ?? fallback
    if (typeof value !== 'boolean')
      throw new CaseError(`${name}: expected true or false, got ${value}`)
    return value
  }

  choice<const T extends string>(name: string, options: readonly T[], fallback: T): T {
    const value = this.find(name) ?? fallback
    if (!options.includes(value as T))
      throw new CaseError(`${name}: expected one of ${options.join(', ')}, got ${value}`)
    return value as T
  }

  /** Layers and steps of the inner phase. A note may count both: "phase 1 (…, internal_layer 1) is steps 1-3". */
  inner(): { readonly layer: number; readonly steps: number } {
    const noted = /internal_layer (\d+)\)? is steps \d+\s*[-–]\s*(\d+)/.exec(this.#note)
    const own = settingIn(this.#sources[0], 'iterative_steps')
    const steps = own ?? (noted ? Number(noted[2]) : this.number('actor.iterative_steps'))
    const layer = noted ? Number(noted[1]) : this.number('internal_layer')
    return { layer: layer + 1, steps: Number(steps) }
  }

  #noted(name: string): unknown {
    const last = name.slice(name.lastIndexOf('.') + 1)
    // After an equals sign or a colon, or a number or a mean right behind the name.
    const value = '\\s*[=:]\\s*([^\\s,;()]+)|\\s+(-?[\\d.]+(?:e-?\\d+)?|(?:token|seq)-[\\w-]+)\\b'
    const found = new RegExp(`\\b${last}\\b(?:${value})`, 'i').exec(this.#note)
    return found ? scalarOf(found[1] ?? found[2]) : undefined
  }
}

/** What the metrics of the first step say of the settings. */
function reported(steps: unknown): Map<string, unknown> {
  const [first] = Array.isArray(steps) ? steps : []
  const coef = first?.logged?.['actor/kl_coef']
  return new Map(
    typeof coef === 'number' ? Object.entries({ use_kl_loss: true, kl_loss_coef: coef }) : [],
  )
}

/** Nested records as dotted names; a list of `name=value` as what it says. */
function flattened(value: unknown, at = ''): Map<string, unknown> {
  const found = new Map<string, unknown>()
  if (typeof value === 'string' && value.includes('=')) return argumentsOf(value)
  const is_told =
    Array.isArray(value) && value.some((x) => typeof x === 'string' && x.includes('='))
  if (is_told) return argumentsOf(value.join('\n'))
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return at ? found.set(at, value) : found
  for (const [name, x] of Object.entries(value))
    for (const [path, one] of flattened(x, at ? `${at}.${name}` : name)) found.set(path, one)
  return found
}

/** Arguments of Hydra, as they stand in a script. */
function argumentsOf(text: string): Map<string, unknown> {
  const found = new Map<string, unknown>()
  for (const [, name, value] of text.matchAll(/^\s*['"]?\+{0,2}([a-z_][\w.]*)=(.*?)['"]?\s*$/gm))
    found.set(name, scalarOf(value))
  return found
}

function scalarOf(text: string): unknown {
  const plain = text.replace(/^\\?["']|\\?["']$/g, '')
  if (/^(true|false)$/i.test(plain)) return plain.toLowerCase() === 'true'
  if (/^(null|none)$/i.test(plain)) return null
  if (/^\[.*\]$/.test(plain))
    return plain
      .slice(1, -1)
      .split(',')
      .map((x) => scalarOf(x.trim()))
  return plain !== '' && Number.isFinite(Number(plain)) ? Number(plain) : plain
}

/** By the whole name, by its end, or by its last part alone where nothing else ends so. */
function settingIn(values: ReadonlyMap<string, unknown>, name: string): unknown {
  const last = name.slice(name.lastIndexOf('.') + 1)
  for (const wanted of [name, last]) {
    const ends = [...values].filter(([path]) => path === wanted || path.endsWith(`.${wanted}`))
    const actor = ends.filter(([path]) => !/(^|\.)(critic|ref|rollout)\./.test(path))
    const [first] = actor.length > 0 ? actor : ends
    if (first) return first[1]
  }
  return undefined
}

/** How the fork aggregates, but for its learning rates, which a trace holds for each update. */
export interface TracePlan {
  /** Blocks that the inner phase reads through, and its steps. */
  readonly inner: { readonly layer: number; readonly steps: number }
  readonly ranks: number
  /** Whether the final norm has a gradient of 0 in the inner phase: FSDP 1 on several ranks. */
  readonly decays_final_norm: boolean
  readonly temperature: number
  readonly actor: Partial<RlPhase['actor']>
}

/** Reads what an update depends on. Throws CaseError for what the lab does not follow. */
export function readPlan(settings: TraceSettings): TracePlan {
  const ranks = settings.number('ranks', 1)
  const strategy = settings.choice('strategy', ['fsdp', 'fsdp2'], 'fsdp2')
  const clip = settings.number('actor.clip_ratio', 0.2)
  const [beta1, beta2] = [settings.find('actor.optim.betas') ?? [0.9, 0.999]].flat() as number[]
  const norm = settings.find('actor.loss_scale_factor')
  return {
    inner: settings.inner(),
    ranks,
    decays_final_norm: strategy === 'fsdp' && ranks > 1,
    temperature: settings.number('rollout.temperature', 1),
    actor: {
      use_legacy_worker_impl: 'enable',
      clip_ratio_low: settings.number('actor.clip_ratio_low', clip),
      clip_ratio_high: settings.number('actor.clip_ratio_high', clip),
      clip_ratio_c: settings.number('actor.clip_ratio_c', 3),
      loss_agg_mode: settings.choice('actor.loss_agg_mode', LOSS_AGG_MODES, 'token-mean'),
      loss_scale_factor: typeof norm === 'number' ? norm : null,
      entropy_coeff: settings.number('actor.entropy_coeff', 0),
      entropy_of: 'final',
      use_kl_loss: settings.flag('actor.use_kl_loss', false),
      kl_loss_coef: settings.number('actor.kl_loss_coef', ACTOR_DEFAULTS.kl_loss_coef),
      kl_loss_type: settings.choice(
        'actor.kl_loss_type',
        ['k1', 'kl', 'abs', 'mse', 'k2', 'low_var_kl', 'k3'],
        'low_var_kl',
      ),
      grad_clip: settings.number('actor.grad_clip', 1),
      optim: {
        lr: settings.number('actor.optim.lr', 1e-6),
        lr_warmup_steps: 0,
        lr_scheduler_type: 'constant',
        min_lr_ratio: 0,
        betas: [beta1, beta2],
        weight_decay: settings.number('actor.optim.weight_decay', 0.01),
      },
    },
  }
}

/** The phase of a step, whose mini-batches are of so many rows of `columns` response tokens; `blocks` = L. */
export function phaseOfStep(
  plan: TracePlan,
  step: number,
  rows: { readonly batch: number; readonly mini: number; readonly columns: number },
  blocks: number,
): RlPhase {
  const is_inner = step <= plan.inner.steps
  const phase = goldenPhase(is_inner ? plan.inner.layer : blocks, rows, plan.actor)
  return {
    ...phase,
    decay_final_norm: plan.decays_final_norm,
    rollout: {
      ...phase.rollout,
      temperature: plan.temperature,
      max_response_length: rows.columns,
    },
    actor: { ...phase.actor, ppo_micro_batch_size_per_gpu: rows.mini / plan.ranks },
  }
}
