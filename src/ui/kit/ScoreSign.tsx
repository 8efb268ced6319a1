// Draws the sign beside a task's score: right, partly right, wrong.
import { type Verdict, verdictOf } from '../../host/protocol/verdict.ts'

const SIGNS: Readonly<Record<Verdict, string>> = { right: '✓', partly: '◐', wrong: '✗' }

/** Drawn for the eye alone: the number or the words beside it say the same. */
export const ScoreSign = ({ score }: { readonly score: number }) => (
  <span aria-hidden="true">{SIGNS[verdictOf(score)]}</span>
)
