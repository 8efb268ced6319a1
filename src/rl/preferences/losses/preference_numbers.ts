// Declares the numbers of preference losses. Losses share them: each is declared once, under TRL's
// name.

/** A number of a preference loss: a field of an experiment. */
export interface PreferenceNumber {
  readonly label: string
  /** One sentence. */
  readonly help: string
  readonly default: number
  readonly min: number
  readonly max: number
  readonly step?: number
  readonly scale?: 'linear' | 'log'
}

export const PREFERENCE_NUMBERS = {
  beta: {
    label: 'Beta',
    help: 'How strongly the policy is held to its reference; a larger one changes it less.',
    default: 0.1,
    min: 1e-4,
    max: 100,
    scale: 'log',
  },
  label_smoothing: {
    label: 'Label smoothing',
    help: 'Share of pairs that are taken to be judged the wrong way round; 0 trusts every verdict (conservative DPO, robust DPO, EXO).',
    default: 0,
    min: 0,
    max: 0.499,
    step: 0.01,
  },
  discopop_tau: {
    label: 'DiscoPOP temperature',
    help: 'How sharply the loss changes from the logistic to the exponential one as the margin grows.',
    default: 0.05,
    min: 1e-3,
    max: 10,
    scale: 'log',
  },
  cpo_alpha: {
    label: 'CPO alpha',
    help: 'Weight of the cross-entropy of the better answers beside the preference loss; plain SimPO has 0.',
    default: 1,
    min: 0,
    max: 100,
    step: 0.1,
  },
  simpo_gamma: {
    label: 'SimPO margin',
    help: 'By how much the reward of the better answer should exceed that of the worse one.',
    default: 0.5,
    min: 0,
    max: 100,
    step: 0.1,
  },
  alpha: {
    label: 'AlphaPO alpha',
    help: 'Shape of the reward of an answer as a function of its log-prob: (1 − p^−α)/α; 0 is log p itself.',
    default: 0,
    min: -2,
    max: 2,
    step: 0.05,
  },
  desirable_weight: {
    label: 'Weight of desirable answers',
    help: 'What the loss of an answer that a person liked is multiplied by; raise it where there are few.',
    default: 1,
    min: 0,
    max: 100,
    step: 0.1,
  },
  undesirable_weight: {
    label: 'Weight of undesirable answers',
    help: 'What the loss of an answer that a person disliked is multiplied by; raise it where there are few.',
    default: 1,
    min: 0,
    max: 100,
    step: 0.1,
  },
} as const satisfies Readonly<Record<string, PreferenceNumber>>

export type PreferenceNumberName = keyof typeof PREFERENCE_NUMBERS
/** Values of all of them. */
export type PreferenceValues = { readonly [K in PreferenceNumberName]: number }
