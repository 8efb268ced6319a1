// Lists the policy losses, and what follows from all of them together: their names, and the
// settings that hold their numbers.
import type { LossAggMode } from '../../kernels/policy_loss/aggregations/aggregations.ts'
import { cispo } from './cispo.ts'
import { clip_cov } from './clip_cov.ts'
import { dppo_kl, dppo_tv } from './dppo.ts'
import { dro } from './dro.ts'
import { geo_mean } from './geo_mean.ts'
import { gpg } from './gpg.ts'
import { gspo } from './gspo.ts'
import { kl_cov } from './kl_cov.ts'
import type { LossNumber, PolicyLoss } from './policy_loss.ts'
import { reinforce } from './reinforce.ts'
import { sapo } from './sapo.ts'
import { vanilla } from './vanilla.ts'
import { vespo } from './vespo.ts'

/** Every policy loss, in the order of the menu; the first is the default. */
const LOSSES = [
  vanilla,
  gspo,
  sapo,
  gpg,
  clip_cov,
  kl_cov,
  geo_mean,
  cispo,
  reinforce,
  dppo_tv,
  dppo_kl,
  dro,
  vespo,
] as const

type Declared = (typeof LOSSES)[number]
type NamesIn<S, L = Declared> = L extends { readonly numbers: infer N }
  ? { [K in keyof N]: N[K] extends { readonly section: S } ? K : never }[keyof N] & string
  : never
type KernelNames<L = Declared> = L extends { readonly numbers: infer N }
  ? { [K in keyof N]: N[K] extends { readonly isShare: true } ? never : K }[keyof N] & string
  : never

/** verl's names of the policy losses (actor.policy_loss.loss_mode); `reinforce` is what its
 * bypass_mode can choose. */
export type LossMode = Declared['name']

/** Numbers of losses that verl has in `actor` itself. */
export type ActorNumbers = { readonly [K in NamesIn<'actor'>]: number }
/** verl's block `actor.policy_loss`: further numbers of losses. */
export type PolicyLossNumbers = { readonly [K in NamesIn<'policy_loss'>]: number }

/** The numbers of all losses, where an actor's settings have them. */
export interface LossSettings extends ActorNumbers {
  readonly policy_loss: PolicyLossNumbers
}

/** A number that kernels of losses read. */
export type KernelNumber = KernelNames

export const POLICY_LOSSES: readonly PolicyLoss<LossMode>[] = LOSSES
export const LOSS_MODES: readonly LossMode[] = POLICY_LOSSES.map(({ name }) => name)

const BY_NAME = new Map<string, PolicyLoss<LossMode>>(
  POLICY_LOSSES.map((loss) => [loss.name, loss]),
)

/** The loss of this name. Throws RangeError for a name that is none. */
export function policyLossOf(lossMode: LossMode): PolicyLoss<LossMode> {
  const loss = BY_NAME.get(lossMode)
  if (!loss)
    throw new RangeError(`loss_mode: expected one of ${LOSS_MODES.join(', ')}, got ${lossMode}`)
  return loss
}

/** The numbers of all losses, each once, in the order of the losses. */
export const LOSS_NUMBERS: ReadonlyMap<string, LossNumber> = new Map(
  POLICY_LOSSES.flatMap(({ numbers }) => Object.entries(numbers)),
)

/** The names of those that kernels read. */
export const KERNEL_NUMBERS = [...LOSS_NUMBERS]
  .filter(([, { isShare }]) => !isShare)
  .map(([name]) => name) as readonly KernelNumber[]

/** The names of those that lie in this section, with what `make` makes of each. */
const inSection = <T>(
  section: LossNumber['section'],
  make: (number: LossNumber, name: string) => T,
) =>
  Object.fromEntries(
    [...LOSS_NUMBERS].flatMap(([name, number]) =>
      number.section === section ? [[name, make(number, name)]] : [],
    ),
  )

/** Something made of every number, where an actor's settings have the number. */
export const numbersAsSettings = <T>(make: (number: LossNumber, name: string) => T) =>
  ({
    ...inSection('actor', make),
    policy_loss: inSection('policy_loss', make),
  }) as { readonly [K in keyof ActorNumbers]: T } & {
    readonly policy_loss: { readonly [K in keyof PolicyLossNumbers]: T }
  }

/** Settings of which some may be missing. */
export type SomeLossSettings = Partial<ActorNumbers> & {
  readonly policy_loss?: Partial<PolicyLossNumbers>
}

/** The numbers of a loss by name, from an actor's settings; what those lack has its default. */
export function numbersOf(
  { numbers }: Pick<PolicyLoss, 'numbers'>,
  settings: SomeLossSettings,
): Readonly<Record<string, number>> {
  const { policy_loss = {}, ...actor }: Record<string, unknown> = { ...settings }
  const sections = { actor, policy_loss } as Record<string, Readonly<Record<string, number>>>
  return Object.fromEntries(
    Object.entries(numbers).map(([name, number]) => [
      name,
      sections[number.section][name] ?? number.default,
    ]),
  )
}

/** The numbers that kernels of losses read, from an actor's settings. */
export function kernelNumbers(settings: SomeLossSettings): Readonly<Record<KernelNumber, number>> {
  const all = numbersOf({ numbers: Object.fromEntries(LOSS_NUMBERS) }, settings)
  return Object.fromEntries(KERNEL_NUMBERS.map((name) => [name, all[name]])) as Record<
    KernelNumber,
    number
  >
}

/** The path of a loss's number in an experiment. Throws RangeError for a name that is none. */
export function numberPath(name: string): string {
  const section = LOSS_NUMBERS.get(name)?.section
  if (!section) throw new RangeError(`loss number: expected a declared name, got ${name}`)
  return section === 'actor' ? `actor.${name}` : `actor.${section}.${name}`
}

/** How the policy loss itself is averaged: some losses have a mean of their own. */
export function pgAggMode(lossMode: LossMode, lossAggMode: LossAggMode): LossAggMode {
  const { ownMean = lossAggMode } = policyLossOf(lossMode)
  // Such a loss does not read the weights of tokens.
  return ownMean === 'responses' ? lossAggMode : ownMean
}
