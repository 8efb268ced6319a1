// Declares a finding: the numbers that it rests on, what they mean, and the settings that are
// likely to help.

/** A setting that is likely to help. */
export interface Advice {
  /** The field that decides it, in the document as it is: `phases.1.actor.optim.lr` only where the
   * phase sets its own. */
  readonly path: string
  /** What to do with it, and why. */
  readonly text: string
}

/** What a rule says when it holds. */
export interface Finding {
  /** Strong ones spoil the run; others are worth a look. */
  readonly is_severe: boolean
  /** How far beyond its threshold, as a share of that threshold; from 0. Grows as things get
   * worse. */
  readonly excess: number
  readonly title: string
  /** The numbers that it was found by. */
  readonly evidence: string
  /** What it means. */
  readonly meaning: string
  readonly advice: readonly [Advice, Advice]
  /** The step that the numbers end with. */
  readonly step: number
}
