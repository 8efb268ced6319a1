// Declares an aggregation: how the losses of single tokens become one number. Each is declared in
// one file of this folder; the kernel of the weights, its reference and the menu are made from that
// declaration (aggregations.ts lists them).

/** What the weight of a token may depend on. */
export interface AggregationCounts {
  /** Tokens of its row. */
  readonly row_tokens: number
  /** Tokens, and rows with a token, of the whole mini-batch, over the ranks. */
  readonly tokens: number
  readonly sequences: number
  /** Data-parallel ranks whose gradients are averaged afterwards. */
  readonly ranks: number
  /** R */
  readonly response_length: number
  /** null = R. */
  readonly loss_scale_factor: number | null
}

/** A way of averaging. */
export interface LossAggregation<Name extends string = string> {
  /** verl's actor.loss_agg_mode. */
  readonly name: Name
  /** What forms call it. */
  readonly label: string
  /** WGSL: returns the weight of a token from `row_tokens`, `counts.tokens`, `counts.sequences` and
   * `params`, times params.scale. Counts are those of the mini-batch divided by the ranks. */
  readonly weight_of: string
  /** Whether the setting loss_scale_factor has an effect. */
  readonly usesScaleFactor?: true
  /** The count of the mini-batch that it divides by, which several ranks must be given; absent =
   * none. */
  readonly dividesBy?: 'tokens' | 'sequences'
  /** The same in float64, with verl's own eps; without params.scale. */
  weight(counts: AggregationCounts): number
}

/** Declares an aggregation and infers its name. */
export const aggregation = <const Name extends string>(
  declared: LossAggregation<Name>,
): LossAggregation<Name> => declared
