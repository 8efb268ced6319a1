// Finds the part of a model that learned what another checkpoint knows, by the held-out accuracy of
// a host with parts of a donor, mixture by mixture.
import { mixtures, transplant } from '../../../model/interventions/transplant.ts'
import type { ParamLayout } from '../../../model/layout/params.ts'
import { pairedDifference } from '../../math/estimate.ts'

/** A checkpoint's model: an adapter is merged into its base. */
export interface ExchangeSource {
  readonly name: string
  readonly step: number
  readonly layout: ParamLayout
  readonly weights: Float32Array
}

/** Accuracies of the host with parts of the donor. */
export interface Exchange {
  readonly host: string
  readonly donor: string
  readonly problems: number
  readonly accuracy: { readonly host: number; readonly donor: number }
  /** `change` is from the host's accuracy; the problems say it up to `interval`, 95 % both ways. */
  readonly mixtures: readonly {
    readonly name: string
    readonly accuracy: number
    readonly change: number
    readonly interval: number
  }[]
}

const share = (right: readonly boolean[]) => right.filter(Boolean).length / right.length

/** `right`: whether weights answer each problem right. `onDone` is called after each mixture. */
export async function exchanged(
  host: ExchangeSource,
  donor: ExchangeSource,
  right: (weights: Float32Array) => Promise<readonly boolean[]>,
  onDone: () => void = () => {},
): Promise<Exchange> {
  const own = await right(host.weights)
  const other = await right(donor.weights)
  const found: Exchange['mixtures'][number][] = []
  for (const { name, taken } of mixtures(host.layout.shape)) {
    const after = await right(transplant(host.layout, host.weights, donor.weights, taken))
    const { mean: change, interval } = pairedDifference(own.map(Number), after.map(Number))
    found.push({ name, accuracy: share(after), change, interval })
    onDone()
  }
  const titled = ({ name, step }: ExchangeSource) => `${name} (step ${step})`
  return {
    host: titled(host),
    donor: titled(donor),
    problems: own.length,
    accuracy: { host: share(own), donor: share(other) },
    mixtures: found,
  }
}
