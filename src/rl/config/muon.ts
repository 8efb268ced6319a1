// Declares Muon's settings, and how long a step of a matrix is.
import { boolean, integer, number, select, type Tree } from '../fields/field.ts'

/** Muon's own settings, under torch.optim.Muon's names. */
export interface Muon {
  readonly momentum: number
  readonly nesterov: boolean
  /** Newton–Schulz steps. */
  readonly ns_steps: number
  /** torch's ns_coefficients, a tuple there. */
  readonly ns_coefficients: { readonly a: number; readonly b: number; readonly c: number }
  /** The least norm that a matrix is divided by. */
  readonly eps: number
  readonly adjust_lr_fn: 'match_rms_adamw' | 'original'
}

const coefficient = (letter: string, power: string, value: number) =>
  number({
    label: `Newton–Schulz factor ${letter}`,
    live: true,
    help: `The factor of ${power} in one Newton–Schulz step.`,
    default: value,
    min: -10,
    max: 10,
    step: 0.1,
  })

/** With torch's defaults, except for the length of a step. */
export const MUON: Tree<Muon> = {
  momentum: number({
    label: 'Momentum',
    live: true,
    help: 'How long Muon remembers past gradients of a matrix.',
    default: 0.95,
    min: 0,
    max: 0.9999,
    step: 0.01,
  }),
  nesterov: boolean({
    label: 'Nesterov',
    help: 'Whether a step looks ahead: it mixes the gradient of now into the momentum once more.',
    default: true,
  }),
  ns_steps: integer({
    label: 'Newton–Schulz steps',
    help: 'How many steps make the momentum of a matrix orthogonal; more come nearer, and cost three matrix products each.',
    default: 5,
    min: 1,
    max: 20,
    unit: 'steps',
  }),
  ns_coefficients: {
    a: coefficient('a', 'x', 3.4445),
    b: coefficient('b', 'x xᵀ x', -4.775),
    c: coefficient('c', '(x xᵀ)² x', 2.0315),
  },
  eps: number({
    label: 'Least norm',
    live: true,
    help: 'The smallest norm that the momentum of a matrix is divided by.',
    default: 1e-7,
    min: 1e-12,
    max: 1,
    scale: 'log',
  }),
  adjust_lr_fn: select(
    {
      label: 'Length of a step',
      help: 'How the learning rate follows the shape of a matrix: as long a step as AdamW would take, so that one rate serves both, or the square root of rows over columns, which is torch’s own default and wants about ten times the rate.',
    },
    { match_rms_adamw: 'as long as AdamW’s', original: 'by rows over columns' },
  ),
}

/** What the learning rate is multiplied by for a step of a matrix, and not for its decay. Source:
 * torch.optim._muon._adjust_lr. */
export const muonLrRatio = (
  adjustLrFn: Muon['adjust_lr_fn'],
  rows: number,
  columns: number,
): number =>
  adjustLrFn === 'original'
    ? Math.sqrt(Math.max(1, rows / columns))
    : 0.2 * Math.sqrt(Math.max(rows, columns))
